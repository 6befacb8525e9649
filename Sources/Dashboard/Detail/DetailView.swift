// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the detail screen of one operation.
struct DetailView {
  let dashboard: Dashboard
  let layout: Layout
  let detail: DetailState

  func draw(on canvas: inout Canvas) {
    let rows = DetailRows(
      of: detail.id, in: dashboard, columns: canvas.columns.count, glyphs: canvas.glyphs
    ).rows
    let top = max(0, min(detail.top, rows.count - layout.bodyHeight))
    let shown = rows.dropFirst(top).prefix(layout.bodyHeight)
    drawTitle(shown: shown.indices, of: rows.count, on: &canvas)
    let trees = trees(of: rows, on: canvas)
    for (row, content) in zip(layout.body, shown) {
      draw(content, trees, row: row, on: &canvas)
    }
  }

  private func drawTitle(shown: Range<Int>, of count: Int, on canvas: inout Canvas) {
    let row = layout.headings
    let report = dashboard.shown.operations[detail.id]
    canvas.fill(canvas.glyphs.horizontal, row: row, columns: canvas.columns, style: Style(.dim))
    let state = report.map { $0.state }
    let moment = dashboard.shown.moment(for: detail.id, at: dashboard.shownTime)
    let age = report?.timeText(at: moment).map { " \($0)" } ?? ""
    var right = state.map { [Span(" \($0.rawValue)\(age) ", $0.role, isBold: true)] } ?? []
    if shown.count < count, canvas.columns.count >= DetailRows.halvesThreshold {
      let range = " \(shown.lowerBound + 1)-\(shown.upperBound) of \(count), j k "
      right.insert(Span(range, .dim), at: 0)
    }
    let width = right.reduce(0) { $0 + canvas.glyphs.width(of: $1.text) }
    let rightColumns = max(0, canvas.columns.upperBound - width - 1)..<canvas.columns.upperBound
    canvas.write(
      [Span(" \(detail.id) ", .strong, isBold: true), Span("\(report?.title ?? "") ", .strong)],
      row: row, columns: 1..<max(2, rightColumns.lowerBound))
    canvas.write(right, row: row, columns: rightColumns)
  }

  /// The views of the rows of the trees.
  private typealias Trees = (first: TreeRowView, second: TreeRowView)

  /// Returns the columns of the screen without its edges, and the left and the right half of them.
  private func parts(of canvas: Canvas) -> (inner: Range<Int>, left: Range<Int>, right: Range<Int>)
  {
    let inner = canvas.columns.dropFirst().dropLast()
    let middle = canvas.columns.count / 2
    return (inner, inner.lowerBound..<middle - 1, middle + 1..<inner.upperBound)
  }

  private func draw(
    _ content: DetailRows.Row, _ trees: Trees, row: Int, on canvas: inout Canvas
  ) {
    let (inner, left, right) = parts(of: canvas)
    let middle = canvas.columns.count / 2
    switch content {
    case .line(let spans):
      canvas.write(spans, row: row, columns: inner)
    case .wrapped(let mark, let line):
      canvas.write([mark], row: row, columns: inner)
      canvas.write(line, row: row, column: inner.lowerBound + DetailRows.textIndent)
    case .halves(let first, let second):
      canvas.write(first, row: row, columns: left)
      canvas.write(second, row: row, columns: right)
    case .rule(let title, let second):
      canvas.rule(row: row, title: [Span(" \(title) ", .dim, isBold: true)])
      guard let second else { return }
      canvas.put(canvas.glyphs.teeDown, row: row, column: middle - 1, style: Style(.dim))
      canvas.write(
        " \(second) ", row: row, columns: middle + 1..<canvas.columns.upperBound,
        style: Style(.dim, isBold: true))
    case .trees(let first, let second):
      if let first { trees.first.draw(first, row: row, on: &canvas) }
      guard canvas.columns.count >= DetailRows.halvesThreshold else { return }
      canvas.put(canvas.glyphs.vertical, row: row, column: middle - 1, style: Style(.dim))
      if let second { trees.second.draw(second, row: row, on: &canvas) }
    }
  }

  /// Returns the views of the rows of both trees. The states of a tree stand next to its widest row, even if that
  /// row is not on the screen, so that they do not move if the user scrolls.
  private func trees(of rows: [DetailRows.Row], on canvas: Canvas) -> Trees {
    let (inner, left, right) = parts(of: canvas)
    let hasHalves = canvas.columns.count >= DetailRows.halvesThreshold
    func view(_ treeRows: [DependencyTree.Row], _ columns: Range<Int>) -> TreeRowView {
      var view = TreeRowView(
        monitored: dashboard.shown, now: dashboard.shownTime, columns: columns, form: .pane)
      view.textWidth = view.widestText(of: treeRows, glyphs: canvas.glyphs)
      return view
    }
    let first = rows.compactMap { if case .trees(let row, _) = $0 { row } else { nil } }
    let second = rows.compactMap { if case .trees(_, let row) = $0 { row } else { nil } }
    return (view(first, hasHalves ? left : inner), view(second, right))
  }
}

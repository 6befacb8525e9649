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
    for (row, content) in zip(layout.body, shown) { draw(content, row: row, on: &canvas) }
  }

  private func drawTitle(shown: Range<Int>, of count: Int, on canvas: inout Canvas) {
    let row = layout.headings
    let report = dashboard.shown.operations[detail.id]
    canvas.fill(canvas.glyphs.horizontal, row: row, columns: canvas.columns, style: Style(.dim))
    let state = report.map { $0.state }
    let moment = dashboard.shown.moment(for: detail.id, at: dashboard.shownTime)
    let age = report?.time(at: moment).map { " \(TimeText.duration($0))" } ?? ""
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

  private func draw(_ content: DetailRows.Row, row: Int, on canvas: inout Canvas) {
    let inner = canvas.columns.dropFirst().dropLast()
    let middle = canvas.columns.count / 2
    let left = inner.lowerBound..<middle - 1
    let right = middle + 1..<inner.upperBound
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
      guard canvas.columns.count >= DetailRows.halvesThreshold else {
        draw(first, columns: inner, row: row, on: &canvas)
        return
      }
      canvas.put(canvas.glyphs.vertical, row: row, column: middle - 1, style: Style(.dim))
      draw(first, columns: left, row: row, on: &canvas)
      draw(second, columns: right, row: row, on: &canvas)
    }
  }

  private func draw(
    _ treeRow: DependencyTree.Row?, columns: Range<Int>, row: Int, on canvas: inout Canvas
  ) {
    guard let treeRow else { return }
    TreeRowView(
      monitored: dashboard.shown, now: dashboard.shownTime, columns: columns, form: .pane
    ).draw(treeRow, row: row, on: &canvas)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws rows of a dependency tree. In the tree view, the rows have columns for the state, the dependencies
/// and the time of the operations. In the pane, the only column is the state.
struct TreeRowView {
  let monitored: MonitoredState
  let now: MonitorTime
  let columns: Range<Int>
  /// Whether rows have columns for dependencies and time.
  let showsColumns: Bool

  private static let stateWidth = 10
  private static let columnWidths = (dependencies: 7, time: 7)

  /// The screen column at which the operation's state begins.
  private var stateColumn: Int {
    let rest = showsColumns ? Self.columnWidths.dependencies + Self.columnWidths.time : 0
    return columns.upperBound - rest - Self.stateWidth - 1
  }

  func drawHeadings(_ title: [Span], row: Int, on canvas: inout Canvas) {
    canvas.write(title, row: row, columns: columns.lowerBound..<stateColumn - 1)
    let style = Style(.dim)
    canvas.write("STATE", row: row, columns: stateColumn..<columns.upperBound, style: style)
    guard showsColumns else { return }
    canvas.writeRight("DEPS", row: row, columns: dependencyColumns, style: style)
    canvas.writeRight("TIME", row: row, columns: timeColumns, style: style)
  }

  func draw(_ treeRow: DependencyTree.Row, row: Int, on canvas: inout Canvas) {
    let room = columns.lowerBound..<stateColumn - 1
    let prefix = prefix(of: treeRow, room: room.count, glyphs: canvas.glyphs)
    let start = canvas.write(
      prefix, row: row, columns: room, style: Style(treeRow.isCritical ? .accent : .dim))
    switch treeRow.id {
    case .node(let id):
      drawTitle(id, mark: nil, row: row, columns: start..<room.upperBound, on: &canvas)
      drawFacts(id, row: row, on: &canvas)
    case .reference(let id, _):
      let mark = treeRow.note == .closesCycle ? "^cycle" : "^seen"
      drawTitle(id, mark: mark, row: row, columns: start..<room.upperBound, on: &canvas)
      drawState(monitored.operations[id]?.state, row: row, on: &canvas)
    case .group(let group):
      drawGroup(treeRow, group, row: row, columns: start..<columns.upperBound, on: &canvas)
    case .queue(let id):
      drawQueue(treeRow, id, row: row, columns: start..<columns.upperBound, on: &canvas)
    case .folded:
      guard case .folded(let count) = treeRow.note else { return }
      canvas.write(
        "+ \(CountText.text(count)) folded", row: row, columns: start..<room.upperBound,
        style: Style(.dim))
    case .unknown:
      guard case .unknown(let count, let unmetCount) = treeRow.note else { return }
      let words =
        unmetCount == 0
        ? "+ \(count) finished, details no longer stored"
        : "+ \(count) unknown, \(unmetCount) unfinished"
      canvas.write(
        words, row: row, columns: start..<room.upperBound,
        style: Style(unmetCount == 0 ? .dim : .warning))
    case .cut:
      canvas.write(
        "+ more", row: row, columns: start..<room.upperBound, style: Style(.dim))
    }
  }

  private func drawTitle(
    _ id: OperationReport.ID, mark: String?, row: Int, columns: Range<Int>,
    on canvas: inout Canvas
  ) {
    var columns = columns
    if let mark, columns.count > mark.utf8.count {
      canvas.writeRight(mark, row: row, columns: columns, style: Style(.dim))
      columns = columns.lowerBound..<columns.upperBound - mark.utf8.count - 1
    }
    let report = monitored.operations[id]
    let isQuiet = mark != nil || report?.state.isOver != false
    var title = [Span("\(id) ", isQuiet ? .dim : .strong)]
    if let report {
      title.append(
        report.name.isEmpty
          ? Span("(\(report.className))", .dim) : Span(report.name, isQuiet ? .dim : .text))
    } else {
      title.append(Span("no longer stored", .dim))
    }
    canvas.write(title, row: row, columns: columns)
  }

  private func drawFacts(_ id: OperationReport.ID, row: Int, on canvas: inout Canvas) {
    guard let report = monitored.operations[id] else { return }
    drawState(report.state, row: row, on: &canvas)
    guard showsColumns else { return }
    let style = Style(report.state.isOver ? .dim : .text)
    canvas.writeRight(
      DependencyText.met(report), row: row, columns: dependencyColumns, style: style)
    canvas.writeRight(
      report.time(at: monitored.moment(for: id, at: now)).map(TimeText.duration)
        ?? canvas.glyphs.unknown, row: row, columns: timeColumns, style: style)
  }

  private func drawState(_ state: OperationState?, row: Int, on canvas: inout Canvas) {
    guard let state else { return }
    canvas.write(
      state.rawValue, row: row, columns: stateColumn..<columns.upperBound,
      style: Style(state.role))
  }

  private func drawGroup(
    _ treeRow: DependencyTree.Row, _ group: DependencyTree.Group, row: Int, columns: Range<Int>,
    on canvas: inout Canvas
  ) {
    guard case .group(let count, let first, let last) = treeRow.note else { return }
    let firstName = monitored.operations[first]?.title ?? "\(first)"
    let lastName = monitored.operations[last]?.title ?? "\(last)"
    let range = NameRange.text(from: firstName, to: lastName, ellipsis: canvas.glyphs.ellipsis)
    canvas.write(
      [Span("+ \(count) \(group.state.rawValue)", group.state.role), Span(": \(range)", .dim)],
      row: row,
      columns: columns)
  }

  private func drawQueue(
    _ treeRow: DependencyTree.Row, _ id: QueueReport.ID, row: Int, columns: Range<Int>,
    on canvas: inout Canvas
  ) {
    guard case .queue(let count, let unfinishedCount, let isFolded) = treeRow.note else { return }
    let name = monitored.queue(id)?.name ?? canvas.glyphs.unknown
    let rest =
      unfinishedCount == 0 ? "all finished" : "\(CountText.text(unfinishedCount)) unfinished"
    canvas.write(
      [
        Span(isFolded ? "+ " : "- ", .dim), Span(name.clipped(to: 24), .strong),
        Span("  \(CountText.text(count)) roots, \(rest)", .dim),
      ], row: row, columns: columns)
  }

  private func prefix(of row: DependencyTree.Row, room: Int, glyphs: Glyphs) -> String {
    guard row.depth > 0 else { return "" }
    let width = glyphs.isUnicode ? 3 : 4
    // A deep row leaves out the tree lines of its farthest ancestors, so that the operation's name has room.
    let levels = min(row.depth, 64, max(2, (room - 14) / width))
    var prefix = row.depth > levels ? glyphs.ellipsis + " " : ""
    for level in stride(from: levels - 2, through: 0, by: -1) {
      prefix += row.trunks >> UInt64(level) & 1 == 1 ? glyphs.trunk : glyphs.noTrunk
    }
    if row.isCritical { return prefix + glyphs.criticalBranch(isLast: row.isLast) }
    return prefix + (row.isLast ? glyphs.lastBranch : glyphs.branch)
  }

  private var dependencyColumns: Range<Int> {
    let end = columns.upperBound - Self.columnWidths.time
    return end - Self.columnWidths.dependencies..<end
  }

  private var timeColumns: Range<Int> {
    columns.upperBound - Self.columnWidths.time..<columns.upperBound
  }
}

/// Abbreviates two similar names to a range that contains their common beginning only once.
enum NameRange {
  /// The maximum number of characters of the names that are compared.
  private static let limit = 200

  /// Returns `shard 14 … 31` for the names `shard 14` and `shard 31`. If the first words differ, returns both
  /// names in full.
  static func text(from first: String, to last: String, ellipsis: String) -> String {
    let first = Array(first.unicodeScalars.prefix(limit))
    let last = Array(last.unicodeScalars.prefix(limit))
    guard first != last else { return string(first) }
    let sharedCount = zip(first, last).prefix { $0 == $1 }.count
    let wordStart = last.prefix(sharedCount).lastIndex(of: " ").map { $0 + 1 } ?? 0
    return "\(string(first)) \(ellipsis) \(string(Array(last[wordStart...])))"
  }

  private static func string(_ scalars: [Unicode.Scalar]) -> String {
    String(String.UnicodeScalarView(scalars))
  }
}

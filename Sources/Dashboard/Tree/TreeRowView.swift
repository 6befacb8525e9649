// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws rows of a dependency tree, with columns beside the tree.
struct TreeRowView {
  /// The columns beside the tree.
  enum Form {
    /// The state to the right of the tree.
    case pane
    /// The state, the dependencies and the time to the right of the tree.
    case report
    /// The time, the dependencies, the number of unfinished operations below, and the state, to the left of the
    /// tree. Without room, there is only the state.
    case table(below: DescendantCounts)
  }

  let monitored: MonitoredState
  let now: MonitorTime
  let columns: Range<Int>
  let form: Form
  var focus = TreeFocus()
  /// The maximum width of the texts in the rows of a pane, so that the states stand next to the texts; `nil` if
  /// the states are at the right edge of the pane.
  var textWidth: Int?

  /// Returns the width of the widest row of a tree in these columns, without the state and the columns beside it.
  func widestText(of rows: some Sequence<DependencyTree.Row>, glyphs: Glyphs) -> Int {
    let room = treeColumns.count
    return rows.reduce(0) { widest, row in
      guard widest < room else { return widest }
      let id: OperationReport.ID
      switch row.id {
      case .node(let node): id = node
      case .reference(let node, _): id = node
      // The text of the other rows may extend below the states.
      case .group, .queue, .folded, .unknown, .attempt, .cut: return widest
      }
      let mark = mark(of: row).map { $0.utf8.count + 1 } ?? 0
      let prefix = prefix(of: row, room: room, glyphs: glyphs)
      let title = title(of: id, isQuiet: false).reduce(0) {
        $0 + glyphs.width(of: $1.text, limit: room)
      }
      return max(widest, min(room, glyphs.width(of: prefix) + title + mark))
    }
  }

  func drawHeadings(_ title: [Span], row: Int, on canvas: inout Canvas) {
    let places = places
    canvas.write(title, row: row, columns: places.tree)
    let style = Style(.dim)
    canvas.write("STATE", row: row, columns: places.state, style: style)
    for (heading, range) in [
      ("DEPS", places.dependencies), ("TIME", places.time), ("BELOW", places.below),
    ] {
      if let range { canvas.writeRight(heading, row: row, columns: range, style: style) }
    }
  }

  func draw(_ treeRow: DependencyTree.Row, row: Int, on canvas: inout Canvas) {
    let room = treeColumns
    let prefix = prefix(of: treeRow, room: room.count, glyphs: canvas.glyphs)
    let start = canvas.write(
      prefix, row: row, columns: room, style: Style(treeRow.isCritical ? .accent : .dim))
    let rest = start..<max(start, places.tree.upperBound)
    let restWithoutState = start..<max(start, textEnd)
    switch treeRow.id {
    case .node(let id):
      let columns = drawProgress(of: id, row: row, columns: rest, on: &canvas)
      drawTitle(id, mark: nil, row: row, columns: columns, on: &canvas)
      drawFacts(id, row: row, on: &canvas)
    case .reference(let id, _):
      drawTitle(id, mark: mark(of: treeRow), row: row, columns: rest, on: &canvas)
      drawState(monitored.operations.state(of: id), row: row, on: &canvas)
    case .group(let group):
      drawGroup(treeRow, group, row: row, columns: restWithoutState, on: &canvas)
    case .queue(let id):
      drawQueue(treeRow, id, row: row, columns: start..<columns.upperBound, on: &canvas)
    case .folded(let id):
      guard case .folded(let count, let attemptCount) = treeRow.note else { return }
      var words = [Span(Self.wordsAboutFolded(count, attemptCount), .dim)]
      if case .table(let below) = form, below.failedCount(below: id) > 0 {
        let failed = CountText.text(below.failedCount(below: id))
        words.append(Span("  \(failed) failed below", .failed))
      }
      canvas.write(words, row: row, columns: restWithoutState)
    case .attempt(let number, let id):
      drawAttempt(number, of: id, row: row, columns: rest, on: &canvas)
    case .unknown:
      guard case .unknown(let count, let unmetCount) = treeRow.note else { return }
      let words = Self.wordsAboutUnknown(count, unmetCount, room: restWithoutState.count)
      canvas.write(
        words, row: row, columns: restWithoutState,
        style: Style((unmetCount ?? 0) == 0 ? .dim : .warning))
    case .cut:
      canvas.write("+ more", row: row, columns: rest, style: Style(.dim))
    }
  }

  /// Returns words about the rows below a folded operation.
  private static func wordsAboutFolded(_ count: Int, _ attemptCount: Int) -> String {
    let attempts = attemptCount == 0 ? "" : "\(attemptCount) attempt\(attemptCount == 1 ? "" : "s")"
    guard count > 0 else { return "+ \(attempts) folded" }
    let operations = "+ \(CountText.text(count)) folded"
    return attempts.isEmpty ? operations : "\(operations), \(attempts)"
  }

  private func drawAttempt(
    _ number: Int, of id: OperationReport.ID, row: Int, columns: Range<Int>,
    on canvas: inout Canvas
  ) {
    let attempts = monitored.operations[id]?.attempts?.attempts ?? []
    guard let attempt = attempts.first(where: { $0.number == number }) else { return }
    let isOver = attempt.state.isOver
    let name = attempt.name.isEmpty ? "(\(attempt.kind))" : attempt.name
    canvas.write(
      [Span("attempt \(number) \(attempt.id) ", .dim), Span(name, isOver ? .dim : .text)], row: row,
      columns: columns)
    drawState(attempt.state, row: row, on: &canvas)
    guard let range = places.time else { return }
    let time = TimeText.duration(attempt.duration(at: monitored.moment(for: id, at: now)))
    canvas.writeRight(time, row: row, columns: range, style: Style(isOver ? .dim : .text))
  }

  /// Returns words about the dependencies or dependents of an operation that have no details. `unmetCount` is the
  /// number of unfinished ones; `nil` if their states are not known.
  private static func wordsAboutUnknown(_ count: Int, _ unmetCount: Int?, room: Int) -> String {
    let start = "+ \(CountText.text(count))"
    guard let unmetCount else { return "\(start) without details" }
    guard unmetCount > 0 else { return "\(start) finished, details no longer stored" }
    let unfinished = CountText.text(unmetCount)
    let words = "\(start) without details, \(unfinished) of them unfinished"
    return words.utf8.count <= room ? words : "\(start) without details, \(unfinished) unfinished"
  }

  /// The columns of the tree, without the columns beside it.
  var treeColumns: Range<Int> { Places(form, within: columns).tree }

  /// The columns of the tree and beside it, if no text of the tree is wider than ``textWidth``.
  private var places: Places { Places(form, within: columns, textWidth: textWidth) }

  /// The mark of a row that refers to another row; `nil` for other rows.
  private func mark(of row: DependencyTree.Row) -> String? {
    guard case .reference = row.id else { return nil }
    return row.note == .closesCycle ? "^cycle" : "^seen"
  }

  private func title(of id: OperationReport.ID, isQuiet: Bool) -> [Span] {
    let number = Span("\(id) ", isQuiet ? .dim : .strong)
    guard let report = monitored.operations[id] else {
      return [number, Span("no longer stored", .dim)]
    }
    return [
      number,
      report.name.isEmpty
        ? Span("(\(report.kind))", .dim) : Span(report.name, isQuiet ? .dim : .text),
    ]
  }

  /// The column after the last one for the text of a row without a state. In a pane, one column remains free,
  /// because the border of another pane may follow.
  private var textEnd: Int {
    if case .pane = form { columns.upperBound - 1 } else { columns.upperBound }
  }

  private func drawTitle(
    _ id: OperationReport.ID, mark: String?, row: Int, columns: Range<Int>,
    on canvas: inout Canvas
  ) {
    let state = monitored.operations.state(of: id)
    let title = title(
      of: id, isQuiet: mark != nil || state?.isOver != false || !focus.isMatch(id))
    guard let mark, columns.count > mark.utf8.count else {
      canvas.write(title, row: row, columns: columns)
      return
    }
    let room = columns.lowerBound..<columns.upperBound - mark.utf8.count - 1
    let end = canvas.write(title, row: row, columns: room)
    if case .table = form {
      canvas.write(mark, row: row, columns: end + 1..<columns.upperBound, style: Style(.dim))
    } else {
      canvas.writeRight(mark, row: row, columns: columns, style: Style(.dim))
    }
  }

  /// Draws the progress of an unfinished operation at the end of its row, if the tree has a table beside it.
  /// Returns the columns before it.
  private func drawProgress(
    of id: OperationReport.ID, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) -> Range<Int> {
    guard case .table = form, let report = monitored.operations[id], !report.state.isOver,
      let text = ProgressText(report, in: monitored, at: now, includesDependencies: true)
    else { return columns }
    let (spans, width) = text.rowSpans(room: columns.count, glyphs: canvas.glyphs)
    guard width > 0 else { return columns }
    canvas.write(spans, row: row, columns: columns.upperBound - width..<columns.upperBound)
    return columns.lowerBound..<columns.upperBound - width - 1
  }

  private func drawFacts(_ id: OperationReport.ID, row: Int, on canvas: inout Canvas) {
    guard let report = monitored.operations[id] else { return }
    drawState(report.state, row: row, on: &canvas)
    let places = places
    let style = Style(report.state.isOver ? .dim : .text)
    if let range = places.dependencies {
      canvas.writeRight(DependencyText.met(report), row: row, columns: range, style: style)
    }
    if let range = places.time {
      let time = report.timeText(at: monitored.moment(for: id, at: now))
      canvas.writeRight(
        time ?? canvas.glyphs.unknown, row: row, columns: range, style: style)
    }
    if let range = places.below, case .table(let below) = form,
      let text = below.text(id, cells: range.count)
    {
      canvas.writeRight(text, row: row, columns: range, style: style)
    }
  }

  private func drawState(_ state: OperationState?, row: Int, on canvas: inout Canvas) {
    guard let state else { return }
    canvas.write(
      state.rawValue, row: row, columns: places.state,
      style: Style(state.role))
  }

  private func drawGroup(
    _ treeRow: DependencyTree.Row, _ group: DependencyTree.Group, row: Int, columns: Range<Int>,
    on canvas: inout Canvas
  ) {
    guard case .group(let count, let first, let last) = treeRow.note else { return }
    let firstName = monitored.operations[first]?.title ?? "\(first)"
    let lastName = monitored.operations[last]?.title ?? "\(last)"
    let glyphs = canvas.glyphs
    let start = canvas.write(
      "+ \(CountText.text(count)) \(group.state.rawValue)", row: row, columns: columns,
      style: Style(group.state.role))
    let rest = min(start, columns.upperBound)..<columns.upperBound
    var range = ": " + NameRange.text(from: firstName, to: lastName, ellipsis: glyphs.ellipsis)
    // Without room for both names, the text ends after the first name.
    if glyphs.width(of: range) > rest.count {
      range = ": \(firstName.clipped(from: 0, toFill: rest.count)) \(glyphs.ellipsis)"
    }
    canvas.write(range, row: row, columns: rest, style: Style(.dim))
  }

  private func drawQueue(
    _ treeRow: DependencyTree.Row, _ id: QueueReport.ID, row: Int, columns: Range<Int>,
    on canvas: inout Canvas
  ) {
    guard case .queue(let count, let isFolded) = treeRow.note else { return }
    let name = monitored.queue(id)?.name ?? canvas.glyphs.unknown
    canvas.write(
      [
        Span(isFolded ? "+ " : "- ", .dim), Span(name.clipped(to: 24), .strong),
        Span("  \(CountText.text(count, "root"))", .dim),
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
}

/// The screen columns of a tree and of the columns beside the tree.
private struct Places {
  let tree: Range<Int>
  let state: Range<Int>
  private(set) var dependencies: Range<Int>?
  private(set) var time: Range<Int>?
  private(set) var below: Range<Int>?

  private static let widths = (state: 10, dependencies: 7, time: 7, below: 6)
  /// The minimum width of the tree beside all columns, and beside the columns without dependencies.
  private static let narrowest = (withAll: 44, withoutDependencies: 32)

  init(_ form: TreeRowView.Form, within columns: Range<Int>, textWidth: Int? = nil) {
    let widths = Self.widths
    switch form {
    case .pane, .report:
      var end = columns.upperBound
      if case .report = form {
        time = end - widths.time..<end
        dependencies = end - widths.time - widths.dependencies..<end - widths.time
        end -= widths.time + widths.dependencies
      }
      var start = end - widths.state - 1
      if let textWidth { start = min(start, columns.lowerBound + textWidth + 2) }
      state = start..<columns.upperBound
      tree = columns.lowerBound..<max(columns.lowerBound, start - 1)
    case .table:
      var start = columns.lowerBound
      let room = columns.count - widths.state - 1 - widths.time - widths.below
      if room >= Self.narrowest.withoutDependencies {
        time = start..<start + widths.time - 1
        start += widths.time
        if room - widths.dependencies >= Self.narrowest.withAll {
          dependencies = start..<start + widths.dependencies - 1
          start += widths.dependencies
        }
        below = start..<start + widths.below - 1
        start += widths.below
      }
      state = start..<start + widths.state
      tree = min(start + widths.state + 1, columns.upperBound)..<columns.upperBound
    }
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

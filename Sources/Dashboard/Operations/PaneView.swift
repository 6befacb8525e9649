// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the pane beside the list: the known facts of the selected operation, and its dependencies and
/// dependents.
struct PaneView {
  let dashboard: Dashboard
  let layout: Layout
  let pane: Range<Int>

  func draw(on canvas: inout Canvas) {
    drawRules(on: &canvas)
    guard let id = dashboard.selected, let report = monitored.operations[id] else { return }
    var row = layout.headings
    for (label, fact) in facts(of: report, glyphs: canvas.glyphs) {
      canvas.write([Span(label.padded(to: 9), .dim)] + fact, row: row, columns: inner)
      row += 1
    }
    guard let trees = dashboard.screen.pane else { return }
    if dashboard.screen.view == .tree, let scan = dashboard.tree?.tree.scan {
      let view = LevelsView(scan: scan, columns: inner)
      let room = layout.body.upperBound - row - 1
      row = view.draw(row: row + 1, room: min(room, layout.bodyHeight / 2), on: &canvas)
    }
    row = drawCancellation(of: report, row: row, on: &canvas)
    row = drawObstacle(to: report, row: row, on: &canvas)
    // Each heading of the pane takes one row and has a blank row above it. Below the heading, there is a row
    // about a critical path that is not known.
    let drawn = [trees.waitsFor, trees.blocks].compactMap { $0 }
    let room =
      layout.body.upperBound - row - 2 * drawn.count - drawn.count(where: \.scan.isPathUnknown)
    guard room > 0 else { return }
    let waitsForCount = max(0, (trees.waitsFor?.rows.count ?? 1) - 1)
    let blocksCount = max(0, (trees.blocks?.rows.count ?? 1) - 1)
    let waitsForRoom = min(waitsForCount, max(room / 2, room - blocksCount))
    if let tree = trees.waitsFor {
      row = draw(
        tree, of: report.dependencies.count, heading: waitsForHeading(report), key: "d",
        row: row + 1, room: waitsForRoom, on: &canvas)
    }
    if let tree = trees.blocks {
      let heading = "BLOCKS \(CountText.text(report.dependentCount))"
      _ = draw(
        tree, of: report.dependentCount, heading: [Span(heading, .dim)], key: "D",
        row: row + 1, room: room - waitsForRoom, on: &canvas)
    }
  }

  private var monitored: MonitoredState { dashboard.shown }
  private var inner: Range<Int> { pane.dropFirst().dropLast() }

  private func drawRules(on canvas: inout Canvas) {
    let divider = pane.lowerBound - 1
    let style = Style(.dim)
    for row in layout.headings..<layout.body.upperBound {
      canvas.put(canvas.glyphs.vertical, row: row, column: divider, style: style)
    }
    if let row = layout.topRule {
      canvas.fill(canvas.glyphs.horizontal, row: row, columns: canvas.columns, style: style)
      canvas.put(canvas.glyphs.teeDown, row: row, column: divider, style: style)
      drawListTitle(row, on: &canvas)
      if let id = dashboard.selected, let report = monitored.operations[id] {
        canvas.write(
          [Span(" \(id) ", .strong, isBold: true), Span("\(report.title) ", .strong)], row: row,
          columns: inner)
      }
    }
    if let row = layout.bottomRule {
      canvas.fill(canvas.glyphs.horizontal, row: row, columns: canvas.columns, style: style)
      // The vertical line left of the pane ends at the horizontal rule below the rows. If the window with the
      // whole name is open, it ends at the rule of that window.
      if layout.name == nil {
        canvas.put(canvas.glyphs.teeUp, row: row, column: divider, style: style)
      }
    }
  }

  private func drawListTitle(_ row: Int, on canvas: inout Canvas) {
    let title: [Span]
    if dashboard.screen.view == .tree, let root = dashboard.tree?.tree.root {
      title = [Span(" dependency tree of "), Span("\(root) ", .strong)]
    } else if dashboard.screen.view == .tree {
      title = [Span(" all unfinished operations ")]
    } else {
      title = listTitle(canvas.glyphs)
    }
    canvas.write(title, row: row, columns: layout.table.dropFirst())
  }

  private func listTitle(_ glyphs: Glyphs) -> [Span] {
    let shownCount = min(ListRows.limit, dashboard.matchCount)
    var title = [Span(" operations "), Span(CountText.text(shownCount), .strong)]
    if dashboard.matchCount > shownCount {
      title.append(Span(" of \(CountText.text(dashboard.matchCount))", .dim))
    }
    let listing = dashboard.list.listing
    let filter = listing.filter.map { "filter: \($0.text)" } ?? "filter: none"
    let over = listing.hidesOver ? " \(glyphs.horizontal) finished hidden" : ""
    if listing.showsWarnedOnly {
      title += [Span(" \(glyphs.horizontal)", .dim), Span(" warnings only", .warning)]
    }
    title.append(
      Span(
        " \(glyphs.horizontal) \(filter)\(over) \(glyphs.horizontal) sort: "
          + "\(listing.order.words) ", .dim))
    return title
  }

  private func facts(of report: OperationReport, glyphs: Glyphs) -> [(String, [Span])] {
    let queue = monitored.queue(report.queue)?.name ?? glyphs.unknown
    let now = monitored.moment(for: report.id, at: dashboard.shownTime)
    let age = report.timeText(at: now) ?? glyphs.unknown
    let process = monitored.process(of: report.id).map { [("process", [Span($0.title)])] } ?? []
    return process + [
      (
        "state",
        [
          Span(report.state.rawValue, report.state.role),
          Span(report.state.isOver ? ", ran \(age)" : " \(age)"), Span(" on "), Span(queue),
        ]
      )
    ] + position(of: report) + [report.kindFact] + usualTime(of: report, glyphs: glyphs)
      + attempts(of: report) + delay(of: report)
      + progress(of: report, glyphs: glyphs) + [
        ("priority", [Span(report.priority.word)]),
        ("added", [Span(moment(report.added, glyphs))]),
        ("ready", [Span(offset(report.becameReady, from: report.added, glyphs))]),
        ("started", [Span(offset(report.started, from: report.added, glyphs))]),
      ]
  }

  /// Returns the position of a ready operation in the run order of its queue; empty if it has none.
  private func position(of report: OperationReport) -> [(String, [Span])] {
    guard let text = PositionText(report, in: monitored) else { return [] }
    let queue = monitored.queue(report.queue)?.name.clipped(to: 40) ?? ""
    return [("position", [Span("\(text.ordinal) in \(queue)")])]
  }

  /// Returns the run times of recent operations of the same kind; empty if no run times are known.
  private func usualTime(of report: OperationReport, glyphs: Glyphs) -> [(String, [Span])] {
    guard let run = monitored.kindTimes[report.kind]?.run else { return [] }
    let p50 = TimeText.fine(run.p50, glyphs)
    let p99 = TimeText.fine(run.p99, glyphs)
    let count = Span(" (n=\(CountText.text(run.count)))", .dim)
    return [("kind run time ", [Span("p50 \(p50) p99 \(p99)"), count])]
  }

  /// Returns the number of attempts of a retry; empty for other operations.
  private func attempts(of report: OperationReport) -> [(String, [Span])] {
    let now = monitored.moment(for: report.id, at: dashboard.shownTime)
    guard let text = AttemptText(report, at: now) else { return [] }
    return [("attempts", [Span(text.numbers), Span(text.pause.map { ", \($0)" } ?? "", .dim)])]
  }

  /// Returns the time left of a delay; empty if the operation waits for none.
  private func delay(of report: OperationReport) -> [(String, [Span])] {
    let now = monitored.moment(for: report.id, at: dashboard.shownTime)
    return DelayText(report, at: now).map { [("delay", [Span($0.left)])] } ?? []
  }

  /// Returns the progress and the status of an operation; empty if it has neither.
  private func progress(of report: OperationReport, glyphs: Glyphs) -> [(String, [Span])] {
    var facts: [(String, [Span])] = []
    if let text = ProgressText(report, in: monitored, at: dashboard.shownTime) {
      let bar = text.bar(cells: 8, glyphs: glyphs)
      let words = [text.percent ?? text.counts, text.timeLeft].compactMap { $0 }
      let end = (bar.isEmpty ? "" : " ") + words.joined(separator: ", ")
      facts.append(("progress", bar + [Span(end)]))
    }
    if let status = report.statusText { facts.append(("status", [Span(status)])) }
    return facts
  }

  private func moment(_ moment: MonitorTime?, _ glyphs: Glyphs) -> String {
    guard let moment, let hello = monitored.hello else { return glyphs.unknown }
    return TimeText.timeOfDay(moment, of: hello)
  }

  /// Returns a text for the moment `later`: the time between `moment` and `later` or, if `moment` is unknown,
  /// the time of day of `later`.
  private func offset(_ later: MonitorTime?, from moment: MonitorTime?, _ glyphs: Glyphs) -> String
  {
    guard let later else { return glyphs.unknown }
    guard let moment else { return self.moment(later, glyphs) }
    return "+\(TimeText.duration(later - moment))"
  }

  /// Draws what cancelled an operation, in at most a third of the pane and five rows. Returns the first screen
  /// row below the drawn rows.
  private func drawCancellation(
    of report: OperationReport, row: Int, on canvas: inout Canvas
  ) -> Int {
    guard let words = monitored.cancellationWords(about: report, canvas.glyphs) else { return row }
    let room = (layout.body.upperBound - row) / 3 - 2
    let text = WrappedText(
      words, columns: inner.count - 2, lineLimit: min(4, room), isUnicode: canvas.glyphs.isUnicode)
    guard !text.lines.isEmpty else { return row }
    canvas.write([Span("CANCELLED", .cancelled)], row: row + 1, columns: inner)
    for (index, line) in text.lines.enumerated() {
      canvas.write(line, row: row + 2 + index, column: inner.lowerBound + 2)
    }
    return row + 2 + text.lines.count
  }

  /// Draws the operations or the queue that keep an operation from starting or finishing, in at most a third of
  /// the pane. The list of the dependencies already shows unmet dependencies. Returns the first screen row below
  /// the drawn rows.
  private func drawObstacle(to report: OperationReport, row: Int, on canvas: inout Canvas) -> Int {
    let room = (layout.body.upperBound - row) / 3 - 2
    guard let obstacle = monitored.obstacle(to: report), obstacle.kind != .dependencies, room > 0
    else { return row }
    canvas.write(
      [Span(obstacle.heading, .warning), Span("  b", .accent)], row: row + 1, columns: inner)
    var next = row + 2
    if let queue = obstacle.queue {
      let name = monitored.queue(queue)?.label ?? canvas.glyphs.unknown
      canvas.write("queue \(name)", row: next, columns: inner.dropFirst(2))
      return next + 1
    }
    let count = obstacle.operations.count
    let drawn = obstacle.operations.prefix(count > room ? max(1, room - 1) : room)
    for id in drawn {
      let state = monitored.operations.state(of: id)
      let title = monitored.operations[id]?.title ?? ""
      let end = canvas.glyphs.width(of: state?.rawValue ?? "")
      canvas.write(
        [Span("\(id) ", .strong), Span(title)], row: next,
        columns: inner.dropFirst(2).dropLast(end == 0 ? 0 : end + 1))
      canvas.writeRight(
        state?.rawValue ?? "", row: next, columns: inner, style: Style(state?.role ?? .text))
      next += 1
    }
    if count > drawn.count, next < row + 2 + room {
      canvas.write(
        "and \(CountText.text(count - drawn.count)) more", row: next, columns: inner.dropFirst(2),
        style: Style(.dim))
      next += 1
    }
    return next
  }

  private func waitsForHeading(_ report: OperationReport) -> [Span] {
    let total = report.dependencies.count
    var heading = [Span("DEPENDS ON \(CountText.text(total))", .dim)]
    if total > 0 {
      heading.append(
        Span(
          report.unmetDependencyCount == 0
            ? "  all met" : "  \(CountText.text(report.unmetDependencyCount)) unmet", .dim))
    }
    return heading
  }

  /// Draws a heading, and below the heading as many rows as have room. Returns the first screen row that is
  /// still free. The number of operations directly below the root of the tree is `total`. The key opens the
  /// tree with all rows.
  private func draw(
    _ tree: DependencyTree, of total: Int, heading: [Span], key: String, row: Int, room: Int,
    on canvas: inout Canvas
  ) -> Int {
    canvas.write(heading, row: row, columns: inner)
    let view = TreeRowView(
      monitored: monitored, now: dashboard.shownTime, columns: inner, form: .pane)
    var next = row + 1
    if tree.scan.isPathUnknown {
      canvas.write(TreeTitle.pathUnknown, row: next, columns: inner, style: Style(.dim))
      next += 1
    }
    let rows = tree.rows.dropFirst()
    let drawn = rows.prefix(rows.count > room ? max(0, room - 1) : room)
    for treeRow in drawn {
      view.draw(treeRow, row: next, on: &canvas)
      next += 1
    }
    if rows.count > room, room > 0 {
      let moreCount = total - drawn.reduce(0) { $0 + directCount($1) }
      let count = moreCount > 0 ? "\(CountText.text(moreCount)) " : ""
      canvas.write("and \(count)more; press \(key)", row: next, columns: inner, style: Style(.dim))
      next += 1
    }
    return next
  }

  /// Returns how many of the operations directly below the tree's root a row represents.
  private func directCount(_ row: DependencyTree.Row) -> Int {
    guard row.depth == 1 else { return 0 }
    return switch row.note {
    case .group(let count, _, _), .unknown(let count, _): count
    case .none, .closesCycle, .queue, .folded: 1
    }
  }
}

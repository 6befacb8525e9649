// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws a row for each slot of each queue, with the present and the past runs in the slot.
struct TimelineView {
  let dashboard: Dashboard
  let layout: Layout

  /// The number of columns to the left of the runs, for the selection mark and the slot's number.
  private static let gutter = 6
  /// The minimum number of cells for the name of a run. If there are fewer, the name is left out.
  private static let fewestTitleCells = 8

  /// Returns the number of character cells in which a row of the timeline shows the operations that ran in
  /// one slot, on a screen with this number of columns.
  static func cells(columns: Int) -> Int { max(1, columns - gutter - 1) }

  func draw(on canvas: inout Canvas) {
    let timeline = dashboard.timeline
    let scale = dashboard.timelineScale(columns: canvas.columns.count)
    if let row = layout.topRule { canvas.rule(row: row, title: title(scale, canvas.glyphs)) }
    if let row = layout.bottomRule { canvas.rule(row: row) }
    drawAxis(scale, on: &canvas)
    if timeline.rows.isEmpty {
      canvas.write(
        "no queues", row: layout.body.lowerBound, columns: layout.table.dropFirst(2),
        style: Style(.dim))
    }
    for (line, (row, content)) in visibleRows.enumerated() {
      canvas.mark(.row(line), row: row, columns: layout.table)
      switch content.id {
      case .queue(let id):
        draw(queue: id, leftOutCount: content.leftOutCount, row: row, on: &canvas)
      case .slot(_, let slot): draw(content.runs, slot: slot, scale, row: row, on: &canvas)
      }
      guard content.id == timeline.selected else { continue }
      // The runs of a selected row keep their colours, because reversed colours would hide the states.
      canvas.write(canvas.glyphs.selection, row: row, columns: layout.table, style: Style(.accent))
      canvas.select(row: row, columns: layout.table.prefix(Self.gutter - 1))
    }
  }

  /// The rows on the screen with their positions. If there is room, a blank row separates the queues.
  private var visibleRows: [(Int, TimelineState.Row)] {
    let rows = dashboard.timeline.rows
    let headings = rows.count { $0.isHeading }
    guard rows.count + headings <= layout.bodyHeight + 1 else {
      let top = dashboard.timeline.top(height: layout.bodyHeight)
      return Array(zip(layout.body, rows.dropFirst(top)))
    }
    var next = layout.body.lowerBound
    return rows.map { row in
      if row.isHeading, next > layout.body.lowerBound { next += 1 }
      defer { next += 1 }
      return (next, row)
    }
  }

  private func title(_ scale: TimelineScale, _ glyphs: Glyphs) -> [Span] {
    var spans = [
      Span(" timeline "),
      Span(Self.label(dashboard.timeline.window.components.seconds), .strong),
    ]
    let runs = dashboard.shown.runs ?? RecentRuns()
    let rule = glyphs.horizontal
    spans.append(Span(" \(rule) \(CountText.text(runs.runs.count))", .dim))
    if runs.count > runs.runs.count {
      spans.append(Span(" of \(CountText.text(runs.count))", .dim))
    }
    spans.append(Span(" run\(runs.count == 1 ? "" : "s")", .dim))
    if let hello = dashboard.shown.hello {
      let start = TimeText.timeOfDay(scale.start, of: hello)
      let end = TimeText.timeOfDay(dashboard.shownTime, of: hello)
      spans.append(Span(" \(rule) \(start) to \(end) ", .dim))
    }
    return spans
  }

  private func drawAxis(_ scale: TimelineScale, on canvas: inout Canvas) {
    let row = layout.headings
    let style = Style(.dim)
    canvas.write(
      Self.label(dashboard.timeline.window.components.seconds), row: row,
      columns: 2..<Self.gutter + 1, style: style)
    let isStill = dashboard.paused != nil || dashboard.live.isSilent
    let end =
      isStill
      ? dashboard.shown.hello.map { TimeText.timeOfDay(dashboard.shownTime, of: $0) } ?? "" : "now"
    let right = Self.gutter + scale.cells
    for mark in scale.marks {
      let label = "\(canvas.glyphs.vertical)-\(Self.label(mark.secondsAgo))"
      let column = Self.gutter + mark.cell
      guard column + label.unicodeScalars.count < right - end.utf8.count else { continue }
      // A mark at the left end of the axis is not drawn, because the label of the time window is there.
      guard column > Self.gutter + 1 else { continue }
      canvas.write(label, row: row, columns: column..<right, style: style)
    }
    canvas.writeRight(end, row: row, columns: Self.gutter..<right, style: style)
  }

  private static func label(_ seconds: Int64) -> String {
    seconds < 60
      ? "\(seconds)s"
      : seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds / 60)m\(seconds % 60)s"
  }

  private func draw(
    queue id: QueueReport.ID, leftOutCount: Int, row: Int, on canvas: inout Canvas
  ) {
    guard let queue = dashboard.shown.queue(id) else { return }
    let counts = queue.counts
    var spans = [Span("\(queue.label.clipped(to: 20))  ", .strong, isBold: true)]
    spans += QueueSlots(queue, in: dashboard, cells: 8).spans(canvas.glyphs)
    let others: [(Int, String, Role)] = [
      (counts.ready - counts.held, "ready", .ready), (counts.held, "held", .held),
      (counts.waiting, "waiting", .waiting), (counts.finished, "finished", .finished),
      (counts.failed, "failed", .failed),
    ]
    for (count, word, role) in others where count > 0 {
      spans.append(Span("   \(CountText.text(count)) \(word)", role))
    }
    if leftOutCount > 0 {
      spans.insert(Span("   \(CountText.text(leftOutCount)) runs not shown", .warning), at: 1)
    }
    canvas.write(spans, row: row, columns: layout.table.dropFirst(2))
  }

  private func draw(
    _ runs: [OperationRun], slot: Int, _ scale: TimelineScale, row: Int,
    on canvas: inout Canvas
  ) {
    canvas.writeRight(
      "\(slot + 1)", row: row, columns: 1..<Self.gutter - 1, style: Style(.dim))
    let strip = Self.gutter..<Self.gutter + scale.cells
    canvas.fill(canvas.glyphs.idleTime, row: row, columns: strip, style: Style(.dim))
    for run in runs {
      guard let cells = scale.cells(of: run) else { continue }
      draw(
        run, columns: strip.lowerBound + cells.lowerBound..<strip.lowerBound + cells.upperBound + 1,
        showsStart: scale.cell(of: run.started) >= 0, row: row, on: &canvas)
    }
  }

  private func draw(
    _ run: OperationRun, columns: Range<Int>, showsStart: Bool, row: Int,
    on canvas: inout Canvas
  ) {
    canvas.mark(.run(run.id), row: row, columns: columns)
    let style = Style(run.state.role)
    canvas.fill(canvas.glyphs.run(run.state), row: row, columns: columns, style: style)
    let goesOn = run.finished == nil
    // A cancelled run is filled with a special character. Even a short cancelled run keeps at least one cell
    // with that character.
    let wasCancelled = run.state == .cancelled || run.state == .cancelling
    if !wasCancelled || columns.count > (goesOn ? 2 : 1) {
      // A failed run begins with a mark, so that it is recognised without colours. The mark is not at the
      // end, because the next run may begin in the last cell.
      let first =
        run.state == .failed
        ? canvas.glyphs.runFailure : showsStart ? canvas.glyphs.runStart : canvas.glyphs.runBack
      canvas.put(first, row: row, column: columns.lowerBound, style: style)
    }
    if goesOn, !wasCancelled || columns.count > 1 {
      canvas.put(canvas.glyphs.runFront, row: row, column: columns.upperBound - 1, style: style)
    }
    // After the name, at least one cell of the run keeps the character for the run's state.
    let inner = columns.dropFirst().dropLast(goesOn ? 2 : 1)
    let id = "\(run.id)"
    guard inner.count >= id.utf8.count else { return }
    // The name is left out if only a few letters of it would have room.
    let hasTitle = inner.count >= id.utf8.count + Self.fewestTitleCells
    canvas.write(
      hasTitle ? "\(id) \(run.title)" : id, row: row, columns: inner,
      style: Style(run.state.role, isReversed: true))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws a row for each slot of each queue, with the present and the past runs in the slot.
struct TimelineView {
  let dashboard: Dashboard
  let layout: Layout
  /// Whether the screen has colors. If not, runs contain the letters of their kinds.
  var hasColors = true

  /// The number of columns to the left of the runs, for the selection mark and the slot's number.
  static let gutter = 6
  /// The minimum number of rows of the view with a legend in the last row.
  private static let legendThreshold = 7
  /// The minimum number of cells for the name of a run. If there are fewer, the name is left out.
  private static let fewestTitleCells = 8

  /// Returns the number of character cells in which a row of the timeline shows the operations that ran in
  /// one slot, on a screen with this number of columns.
  static func cells(columns: Int) -> Int { max(1, columns - gutter - 1) }

  /// Returns the number of rows for queues and slots in a view with this number of rows.
  static func height(in bodyHeight: Int) -> Int {
    bodyHeight < legendThreshold ? bodyHeight : bodyHeight - 1
  }

  /// The screen rows for queues and slots.
  private var rows: Range<Int> { layout.body.prefix(Self.height(in: layout.bodyHeight)) }

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
    for (row, index) in visibleRows {
      let content = timeline.rows[index]
      canvas.mark(.line(.timelineRow(content.id)), row: row, columns: layout.table)
      switch content.id {
      case .queue(let id):
        draw(queue: id, leftOutCount: content.leftOutCount, row: row, on: &canvas)
      case .slot(_, let slot): draw(content.runs, slot: slot, scale, row: row, on: &canvas)
      }
      guard content.id == timeline.selected else { continue }
      // Only the number of the slot is selected, because the selection of the row would hide the selected run.
      canvas.write(canvas.glyphs.selection, row: row, columns: layout.table, style: Style(.accent))
      canvas.select(row: row, columns: layout.table.prefix(Self.gutter - 1))
    }
    drawRuns(on: &canvas)
    guard rows.upperBound < layout.body.upperBound, !timeline.rows.isEmpty else { return }
    TimelineLegend(colors: timeline.colors, hasColors: hasColors).draw(
      row: rows.upperBound, columns: layout.table.dropFirst(2).dropLast(), on: &canvas)
  }

  /// Draws the runs of the selected queue below the slots if there is room.
  private func drawRuns(on canvas: inout Canvas) {
    guard let queue = dashboard.timeline.queue.flatMap({ dashboard.shown.queue($0) }),
      let last = visibleRows.last?.row
    else { return }
    RunTableView(dashboard: dashboard, queue: queue).draw(
      rows: min(last + 2, rows.upperBound)..<rows.upperBound, columns: layout.table, on: &canvas)
  }

  /// The rows on the screen with their indices in ``TimelineState/rows``. If there is room, a blank row separates the
  /// queues.
  var visibleRows: [(row: Int, index: Int)] {
    let timeline = dashboard.timeline
    let headings = timeline.rows.count { $0.isHeading }
    guard timeline.rows.count + headings <= rows.count + 1 else {
      let top = timeline.top(height: rows.count)
      return zip(rows, timeline.rows.indices.dropFirst(top)).map { ($0, $1) }
    }
    var next = rows.lowerBound
    return timeline.rows.indices.map { index in
      if timeline.rows[index].isHeading, next > rows.lowerBound { next += 1 }
      defer { next += 1 }
      return (next, index)
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
      spans.insert(Span("   \(CountText.text(leftOutCount, "run")) not shown", .warning), at: 1)
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
    // Idle time is blank, except below the marks of the time axis.
    for mark in scale.marks {
      canvas.put(
        canvas.glyphs.idleTime, row: row, column: strip.lowerBound + mark.cell, style: Style(.dim))
    }
    // The selected run is searched for only once, because a slot can have thousands of runs.
    let selected = dashboard.timeline.run
    for run in runs where run.id != selected?.id { draw(run, scale, row: row, on: &canvas) }
    // The selected run is drawn last, because several short runs may share a cell.
    guard let selected, runs.contains(where: { $0.id == selected.id }),
      let columns = draw(selected, scale, row: row, on: &canvas)
    else { return }
    canvas.select(row: row, columns: columns)
  }

  /// Draws a run, and returns its columns; `nil` if the run is outside the timeline.
  @discardableResult
  private func draw(
    _ run: OperationRun, _ scale: TimelineScale, row: Int, on canvas: inout Canvas
  ) -> Range<Int>? {
    guard let cells = scale.cells(of: run) else { return nil }
    let columns = Self.gutter + cells.lowerBound..<Self.gutter + cells.upperBound + 1
    canvas.mark(.run(run.id), row: row, columns: columns)
    let goesOn = run.finished == nil
    let showsStart = scale.cell(of: run.started) >= 0
    let colors = dashboard.timeline.colors
    let role = run.state == .failed ? .failed : colors.role(of: run.kind)
    let style = Style(role, isBold: goesOn)
    canvas.fill(canvas.glyphs.run(run.state), row: row, columns: columns, style: style)
    // A cancelled run is filled with a special character. Even a short cancelled run keeps at least one cell
    // with that character.
    let wasCancelled = run.state == .cancelled || run.state == .cancelling
    if !wasCancelled || columns.count > (goesOn ? 2 : 1) {
      let first = first(of: run, showsStart: showsStart, canvas.glyphs)
      canvas.put(first, row: row, column: columns.lowerBound, style: style)
    }
    if goesOn, !wasCancelled || columns.count > 1 {
      canvas.put(canvas.glyphs.runFront, row: row, column: columns.upperBound - 1, style: style)
    }
    var inner = columns.dropFirst().dropLast(goesOn ? 2 : 1)
    if let letter = letter(of: run), !showsStart || run.state == .failed, !inner.isEmpty {
      canvas.put(letter, row: row, column: inner.lowerBound, style: style)
      inner = inner.dropFirst()
    }
    // After the name, at least one cell of the run keeps the character for the run's state.
    drawTitle(of: run, row: row, columns: inner, style: style, on: &canvas)
    return columns
  }

  /// Returns the first character of a run. It separates the run from the previous run of the slot.
  private func first(of run: OperationRun, showsStart: Bool, _ glyphs: Glyphs) -> Unicode.Scalar {
    // A failed run begins with a mark, so that it is recognised without colors. The mark is not at the end, because
    // the next run may begin in the last cell.
    if run.state == .failed { return glyphs.runFailure }
    guard showsStart else { return glyphs.runBack }
    return letter(of: run) ?? glyphs.runStart
  }

  /// Returns the letter that replaces the color of a run; `nil` if the terminal has colors, or if the kind of the run has
  /// no letter.
  private func letter(of run: OperationRun) -> Unicode.Scalar? {
    hasColors ? nil : dashboard.timeline.colors.letter(of: run.kind)
  }

  /// Writes the id and the name of a run into these columns. The name is left out if only a few letters of it would have
  /// room, and the id if it has no room.
  private func drawTitle(
    of run: OperationRun, row: Int, columns: Range<Int>, style: Style, on canvas: inout Canvas
  ) {
    let id = "\(run.id)"
    guard columns.count >= id.utf8.count else { return }
    // The id of a failed run has the same color as the run, so that the run is one red bar.
    let idStyle = run.state == .failed ? style : Style(.dim)
    let end = canvas.write(id, row: row, columns: columns, style: idStyle)
    guard columns.count >= id.utf8.count + Self.fewestTitleCells else { return }
    canvas.write(
      " \(run.title)", row: row, columns: end..<columns.upperBound, style: style)
  }
}

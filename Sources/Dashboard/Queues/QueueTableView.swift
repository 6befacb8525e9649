// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the table of queues: their slots, counts, starts and times. If there is room, the operations of the selected
/// queue are below the table.
struct QueueTableView {
  let dashboard: Dashboard
  let layout: Layout

  private var monitored: MonitoredState { dashboard.shown }

  func draw(on canvas: inout Canvas) {
    let columns = layout.table
    let process = ProcessColumn(
      monitored.processes, glyphs: canvas.glyphs, limit: columns.count >= 100 ? 20 : 9)
    let plan = QueueColumnPlan(of: dashboard, columns: columns.count, glyphs: canvas.glyphs)
    drawHeadings(plan, process, on: &canvas)
    if let row = layout.topRule {
      let count = CountText.text(monitored.queues.count)
      canvas.rule(row: row, title: [Span(" queues "), Span("\(count) ", .strong)])
    }
    if let row = layout.bottomRule { canvas.rule(row: row) }
    let queues = monitored.queues
    if queues.isEmpty {
      canvas.write(
        "no queues", row: layout.body.lowerBound, columns: columns.dropFirst(2), style: Style(.dim))
    }
    let lines = dashboard.queues.lines(of: queues, height: layout.bodyHeight)
    for (row, index) in zip(layout.body, lines) {
      guard let index else {
        drawGhost(row: row, on: &canvas)
        continue
      }
      canvas.mark(.line(.queue(queues[index].id)), row: row, columns: columns)
      draw(queues[index], plan, process, row: row, on: &canvas)
    }
    drawSummary(on: &canvas)
  }

  private func drawHeadings(
    _ plan: QueueColumnPlan, _ process: ProcessColumn, on canvas: inout Canvas
  ) {
    for column in QueueColumnPlan.Column.allCases {
      guard let place = plan[column] else { continue }
      let title = column == .process ? process.title : column.title
      if column.isLeftAligned {
        canvas.write(title, row: layout.headings, columns: place, style: Style(.dim))
      } else {
        canvas.writeRight(title, row: layout.headings, columns: place, style: Style(.dim))
      }
    }
  }

  private func draw(
    _ queue: QueueReport, _ plan: QueueColumnPlan, _ process: ProcessColumn, row: Int,
    on canvas: inout Canvas
  ) {
    let columns = layout.table
    let isSelected = queue.id == dashboard.queues.id
    if isSelected {
      canvas.write(canvas.glyphs.selection, row: row, columns: columns, style: Style(.accent))
    }
    let quiet = Style(monitored.isGone(queue.id) ? .dim : .text)
    if let place = plan[.process] {
      canvas.write(process[queue.id], row: row, columns: place, style: quiet)
    }
    if let place = plan[.name] {
      canvas.write(
        queue.name, row: row, columns: place,
        style: isSelected ? Style(.strong, isBold: true) : quiet)
      drawRemark(about: queue, row: row, columns: place, hasSlots: plan[.slots] != nil, on: &canvas)
    }
    if let place = plan[.slots] {
      let numbersRoom = place.count >= 20 ? 7 : 6
      let slots = QueueSlots(
        queue, in: dashboard, cells: place.count - numbersRoom, room: place.count)
      canvas.write(slots.spans(canvas.glyphs), row: row, columns: place)
    }
    drawCounts(of: queue, plan, row: row, on: &canvas)
    drawHistory(of: queue, plan, row: row, on: &canvas)
    drawTimes(of: queue, plan, row: row, on: &canvas)
    if isSelected { canvas.select(row: row, columns: columns) }
  }

  private func drawCounts(
    of queue: QueueReport, _ plan: QueueColumnPlan, row: Int, on canvas: inout Canvas
  ) {
    let counts = queue.counts
    // In a table without a column of held operations, they are counted as ready.
    let ready = plan[.held] == nil ? counts.ready : counts.ready - counts.held
    let numbers: [(QueueColumnPlan.Column, Int, Role)] = [
      (.executing, counts.executing, .executing), (.ready, ready, .ready),
      (.held, counts.held, .held), (.waiting, counts.waiting, .waiting),
      (.finished, counts.finished, .finished), (.failed, counts.failed, .failed),
      (.cancelled, counts.cancelled, .cancelled),
    ]
    for (column, count, role) in numbers {
      guard let place = plan[column] else { continue }
      canvas.writeRight(
        CountText.text(count, cells: place.count), row: row, columns: place,
        style: Style(count == 0 ? .dim : role))
    }
  }

  private func drawHistory(
    of queue: QueueReport, _ plan: QueueColumnPlan, row: Int, on canvas: inout Canvas
  ) {
    let text = QueueHistoryText(monitored.queueHistories[queue.id], glyphs: canvas.glyphs)
    if let place = plan[.rate] {
      let rate = text.rate(cells: place.count)
      canvas.writeRight(rate, row: row, columns: place, style: Style(text.isIdle ? .dim : .text))
    }
    if let place = plan[.starts] {
      let bars = text.bars(cells: place.count)
      canvas.writeRight(
        bars.text, row: row, columns: place, style: bars.style)
    }
    if let place = plan[.use] {
      canvas.writeRight(text.use(cells: place.count), row: row, columns: place)
    }
  }

  private func drawTimes(
    of queue: QueueReport, _ plan: QueueColumnPlan, row: Int, on canvas: inout Canvas
  ) {
    let (wait, run) = (queue.times?.wait, queue.times?.run)
    let times: [(QueueColumnPlan.Column, Duration?)] = [
      (.waitMedian, wait?.p50), (.waitMost, wait?.p99), (.runMedian, run?.p50),
      (.runMost, run?.p99),
    ]
    for (column, time) in times {
      guard let place = plan[column] else { continue }
      canvas.writeRight(
        time.map { TimeText.fine($0, canvas.glyphs) } ?? canvas.glyphs.unknown, row: row,
        columns: place, style: Style(time == nil ? .dim : .text))
    }
  }

  /// Draws the line that stands for the selected queue after this queue has disappeared.
  private func drawGhost(row: Int, on canvas: inout Canvas) {
    let columns = layout.table
    canvas.writeGhost(row: row, columns: columns)
    canvas.write(
      "the selected queue no longer exists", row: row, columns: columns.dropFirst(2),
      style: Style(.strong))
  }
}

// The remarks beside a queue's name, and the operations below the table.
extension QueueTableView {
  /// Writes the limit of the queue's starts, such as "5/s" or "5/s→10/s", at the right end of the column of names. In a
  /// table without slots, a requested width or the word "SUSPENDED" is more important.
  private func drawRemark(
    about queue: QueueReport, row: Int, columns: Range<Int>, hasSlots: Bool,
    on canvas: inout Canvas
  ) {
    let glyphs = canvas.glyphs
    if !hasSlots, let width = dashboard.queueRequests.widths[queue.id] {
      let remark = " \(glyphs.arrow)\(CountText.text(width))"
      canvas.writeRight(remark, row: row, columns: columns, style: Style(.strong))
      return
    }
    if !hasSlots, monitored.isSuspended(queue) {
      drawSuspended(queue, row: row, columns: columns, on: &canvas)
      return
    }
    let limit = StartLimitText(queue, in: dashboard, glyphs)
    // The name keeps at least seven cells.
    guard let text = limit.shortForms.first(where: { $0.unicodeScalars.count + 8 <= columns.count })
    else { return }
    let place = columns.suffix(text.unicodeScalars.count + 1)
    canvas.fill(row: row, columns: place)
    canvas.write(text, row: row, columns: place.dropFirst(), style: Style(.accent))
  }

  /// Writes "suspended" beside the queue's name if the column of slots has no room for it.
  private func drawSuspended(
    _ queue: QueueReport, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) {
    let nameWidth = canvas.glyphs.width(of: queue.name, limit: columns.count)
    let word = nameWidth + 11 <= columns.count ? "SUSPENDED" : "SUSP"
    let place = columns.suffix(word.utf8.count + 2)
    canvas.fill(row: row, columns: place)
    canvas.write(
      word, row: row, columns: place.dropFirst().dropLast(), style: Style(.held, isBold: true))
  }

  /// Draws the sentence about the next operation of the selected queue below the rows, if the table has no room for
  /// more.
  private func drawNext(of queue: QueueReport, on canvas: inout Canvas) {
    guard dashboard.screen.helpTop == nil, dashboard.queues.id != nil else { return }
    let name = Span("\(canvas.glyphs.clipped(queue.label, to: 20)) ", .strong, isBold: true)
    let start = canvas.write([name], row: layout.sentence, columns: canvas.columns.dropFirst())
    let next = QueueNextText(queue, in: dashboard, glyphs: canvas.glyphs)
    next.draw(row: layout.sentence, columns: start..<canvas.columns.upperBound, on: &canvas)
  }

  /// Draws the operations of the selected queue below the table.
  private func drawSummary(on canvas: inout Canvas) {
    guard let queue = dashboard.summarizedQueue else { return }
    guard let rows = dashboard.queueSummaryRows(in: layout) else {
      drawNext(of: queue, on: &canvas)
      return
    }
    QueueTitle(queue, in: dashboard).draw(row: rows.lowerBound, on: &canvas)
    let next = QueueNextText(queue, in: dashboard, glyphs: canvas.glyphs)
    next.draw(row: rows.lowerBound + 1, columns: canvas.columns.dropFirst(2), on: &canvas)
    let parts = SummaryParts(rows)
    let view = QueueOperationsView(
      dashboard: dashboard, rows: parts.list, columns: canvas.columns, reactsToMouse: false)
    if let row = parts.headings { view.drawHeadings(row: row, on: &canvas) }
    let list = QueueOperationRows(of: queue, in: monitored)
    view.draw(list.rows(height: parts.list.count), top: 0, selected: nil, on: &canvas)
  }

  /// The rows below the table: a rule with the name of the queue, the sentence about the next operation, the headings
  /// of the operations if there is room, and the operations.
  struct SummaryParts: Sendable, Equatable {
    /// The row of the headings; `nil` if there are none.
    let headings: Int?
    /// The rows of the operations.
    let list: Range<Int>

    /// The minimum number of rows with headings.
    private static let headingsThreshold = 7

    /// Divides the rows below the table.
    init(_ rows: Range<Int>) {
      let hasHeadings = rows.count >= Self.headingsThreshold
      headings = hasHeadings ? rows.lowerBound + 2 : nil
      list = rows.dropFirst(hasHeadings ? 3 : 2)
    }
  }
}

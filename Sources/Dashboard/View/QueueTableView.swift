// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the table of queues: how full each is, and what waits in it.
struct QueueTableView {
  let dashboard: Dashboard
  let layout: Layout

  /// The columns of numbers, from the right, with their widths.
  private static let numbers:
    [(title: String, width: Int, value: @Sendable (StateCounts) -> Int, role: Role)] = [
      ("EXEC", 6, { $0.executing }, .executing),
      ("READY", 7, { $0.ready - $0.held }, .ready),
      ("HELD", 7, { $0.held }, .held),
      ("WAIT", 8, { $0.waiting }, .waiting),
      ("FIN", 9, { $0.finished }, .finished),
      ("CANC", 7, { $0.cancelled }, .cancelled),
    ]
  private static let slotWidth = 16
  private static let widthWidth = 6

  func draw(on canvas: inout Canvas) {
    let columns = layout.table
    drawHeadings(columns, on: &canvas)
    let queues = dashboard.shown.queues
    if queues.isEmpty {
      canvas.write(
        "no queues", row: layout.body.lowerBound, columns: columns.dropFirst(2), style: Style(.dim))
    }
    let top = dashboard.queues.top(count: queues.count, height: layout.bodyHeight)
    for (row, queue) in zip(layout.body, queues.dropFirst(top)) {
      draw(queue, row: row, columns: columns, on: &canvas)
    }
  }

  /// The columns that have room, with their places, and what is left for name and slots.
  private func places(in columns: Range<Int>) -> (
    name: Range<Int>, slots: Range<Int>?, numbers: [Range<Int>]
  ) {
    var end = columns.upperBound
    var places: [Range<Int>] = []
    for number in Self.numbers.reversed() {
      places.insert(end - number.width..<end, at: 0)
      end -= number.width
    }
    let left = columns.lowerBound + 2
    // The name keeps twelve cells; the slots have what is then left.
    let slots = end - Self.slotWidth - Self.widthWidth - 1
    if slots >= left + 12 { return (left..<slots - 1, slots..<end - 1, places) }
    let kept = places.filter { $0.lowerBound >= left + 12 }
    return (
      left..<(kept.first?.lowerBound ?? columns.upperBound), nil,
      places.map { $0.lowerBound >= left + 12 ? $0 : $0.upperBound..<$0.upperBound }
    )
  }

  private func drawHeadings(_ columns: Range<Int>, on canvas: inout Canvas) {
    let places = places(in: columns)
    let style = Style(.dim)
    canvas.write("QUEUE", row: layout.headings, columns: places.name, style: style)
    if let slots = places.slots {
      canvas.write("SLOTS", row: layout.headings, columns: slots, style: style)
    }
    for (number, place) in zip(Self.numbers, places.numbers) where !place.isEmpty {
      canvas.writeRight(number.title, row: layout.headings, columns: place, style: style)
    }
  }

  private func draw(
    _ queue: QueueReport, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) {
    let places = places(in: columns)
    let isSelected = queue.id == dashboard.queues.id
    if isSelected {
      canvas.write(canvas.glyphs.selection, row: row, columns: columns, style: Style(.accent))
    }
    canvas.write(
      queue.name, row: row, columns: places.name,
      style: isSelected ? Style(.strong, isBold: true) : .plain)
    if let slots = places.slots { draw(slotsOf: queue, row: row, columns: slots, on: &canvas) }
    for (number, place) in zip(Self.numbers, places.numbers) where !place.isEmpty {
      let count = number.value(queue.counts)
      canvas.writeRight(
        CountText.text(count), row: row, columns: place,
        style: Style(count == 0 ? .dim : number.role))
    }
    if isSelected { canvas.reverse(row: row, columns: columns) }
  }

  private func draw(
    slotsOf queue: QueueReport, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) {
    let running = queue.counts.executing
    if queue.isSuspended {
      let width = queue.width.map { "/\($0)" } ?? ""
      canvas.write(
        [Span("SUSPENDED", .held, isBold: true), Span(" \(running)\(width)", .held)], row: row,
        columns: columns)
      return
    }
    guard let width = queue.width else {
      canvas.write(
        "\(running), width by system", row: row, columns: columns,
        style: Style(running > 0 ? .executing : .dim))
      return
    }
    let bar = SlotBar(running: running, width: width, cells: min(width, Self.slotWidth))
    var column = columns.lowerBound
    canvas.fill(
      canvas.glyphs.takenSlot, row: row, columns: column..<column + bar.taken,
      style: Style(.executing))
    column += bar.taken
    canvas.fill(
      canvas.glyphs.freeSlot, row: row, columns: column..<column + bar.free, style: Style(.dim))
    column = columns.lowerBound + Self.slotWidth + 1
    canvas.write("\(running)/\(width)", row: row, columns: column..<columns.upperBound)
  }
}

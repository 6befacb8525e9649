// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the table of queues: their slots and their waiting operations.
struct QueueTableView {
  let dashboard: Dashboard
  let layout: Layout

  private static let barWidth = 16
  /// The width of the column of slots: the bar, a space, `12/16` and a space.
  private static let slotsWidth = barWidth + 8

  func draw(on canvas: inout Canvas) {
    let columns = layout.table
    let process = ProcessColumn(
      dashboard.shown.processes, glyphs: canvas.glyphs, limit: columns.count >= 100 ? 20 : 9)
    let places = Places(in: columns, processWidth: process.width)
    drawHeadings(places, process, on: &canvas)
    let queues = dashboard.shown.queues
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
      draw(queues[index], places, process, row: row, on: &canvas)
    }
  }

  /// The positions of the table's columns. If there is not enough room, columns of numbers are narrower, and
  /// numbers are abbreviated. If there is still not enough room, columns are left out, the last one first.
  private struct Places {
    /// The column that shows the process of each queue; `nil` if only one process is watched.
    let process: Range<Int>?
    let name: Range<Int>
    let slots: Range<Int>?
    let numbers: [Range<Int>]

    init(in columns: Range<Int>, processWidth: Int) {
      let margin = columns.lowerBound + 2
      process = processWidth == 0 ? nil : margin..<margin + processWidth
      let left = process.map { $0.upperBound + 1 } ?? margin
      let nameWidth = 12
      func fitting(_ all: [Int], besideName nameWidth: Int) -> [Int] {
        var widths: [Int] = []
        for width in all {
          guard widths.reduce(nameWidth + width, +) <= columns.upperBound - left else { break }
          widths.append(width)
        }
        return widths
      }
      let wide = fitting(numbersOfQueues.map(\.width), besideName: nameWidth)
      // On a narrow screen, the word "SUSPENDED" needs room beside the name.
      let narrow = fitting(numbersOfQueues.map(\.narrowWidth), besideName: nameWidth + 3)
      let widths = narrow.count > wide.count ? narrow : wide
      var start = columns.upperBound - widths.reduce(0, +)
      let slotsStart = start - QueueTableView.slotsWidth
      let hasSlots = slotsStart >= left + nameWidth
      name = left..<(hasSlots ? slotsStart : start) - 1
      slots = hasSlots ? slotsStart..<start - 1 : nil
      numbers = widths.map { width in
        defer { start += width }
        return start..<start + width
      }
    }
  }

  private func drawHeadings(
    _ places: Places, _ process: ProcessColumn, on canvas: inout Canvas
  ) {
    let style = Style(.dim)
    if let place = places.process {
      canvas.write(process.title, row: layout.headings, columns: place, style: style)
    }
    canvas.write("QUEUE", row: layout.headings, columns: places.name, style: style)
    if let slots = places.slots {
      canvas.write("SLOTS", row: layout.headings, columns: slots, style: style)
    }
    for (number, place) in zip(numbersOfQueues, places.numbers) {
      canvas.writeRight(number.title, row: layout.headings, columns: place, style: style)
    }
  }

  private func draw(
    _ queue: QueueReport, _ places: Places, _ process: ProcessColumn, row: Int,
    on canvas: inout Canvas
  ) {
    let columns = layout.table
    let isSelected = queue.id == dashboard.queues.id
    if isSelected {
      canvas.write(canvas.glyphs.selection, row: row, columns: columns, style: Style(.accent))
    }
    let quiet = Style(dashboard.shown.isGone(queue.id) ? .dim : .text)
    if let place = places.process {
      canvas.write(process[queue.id], row: row, columns: place, style: quiet)
    }
    canvas.write(
      queue.name, row: row, columns: places.name,
      style: isSelected ? Style(.strong, isBold: true) : quiet)
    if let slots = places.slots {
      let spans = QueueSlots(queue, in: dashboard, cells: Self.barWidth, isAligned: true)
        .spans(canvas.glyphs)
      canvas.write(spans, row: row, columns: slots)
      drawStartLimit(of: queue, row: row, columns: places.name, on: &canvas)
    } else if let width = dashboard.queueRequests.widths[queue.id] {
      let remark = " \(canvas.glyphs.arrow)\(CountText.text(width))"
      canvas.writeRight(remark, row: row, columns: places.name, style: Style(.strong))
    } else if dashboard.shown.isSuspended(queue) {
      drawSuspended(queue, row: row, columns: places.name, on: &canvas)
    } else {
      drawStartLimit(of: queue, row: row, columns: places.name, on: &canvas)
    }
    for (number, place) in zip(numbersOfQueues, places.numbers) {
      let count = number.value(queue.counts)
      canvas.writeRight(
        CountText.text(count, cells: place.count - 1), row: row, columns: place,
        style: Style(count == 0 ? .dim : number.role))
    }
    if isSelected { canvas.select(row: row, columns: columns) }
  }
}

extension QueueTableView {
  /// Draws the line that stands for the selected queue after this queue has disappeared.
  private func drawGhost(row: Int, on canvas: inout Canvas) {
    let columns = layout.table
    canvas.writeCursor(row: row, columns: columns)
    canvas.write(
      "the selected queue no longer exists", row: row, columns: columns.dropFirst(2),
      style: Style(.strong))
  }

  /// Writes the limit of the queue's starts, such as "5/s", at the right end of the column of names.
  private func drawStartLimit(
    of queue: QueueReport, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) {
    guard let limit = queue.startLimit else { return }
    let text = " \(limit.text)"
    // The name keeps at least eight cells.
    guard text.utf8.count + 8 <= columns.count else { return }
    let place = columns.suffix(text.utf8.count)
    canvas.fill(row: row, columns: place)
    canvas.write(text, row: row, columns: place, style: Style(.accent))
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
}

/// A column with a number for each queue.
private struct QueueNumber: Sendable {
  let title: String
  let width: Int
  /// The width on a narrow screen: room for the title, or for an abbreviated number, and for a space.
  var narrowWidth: Int { max(4, title.utf8.count) + 1 }
  let role: Role
  let value: @Sendable (StateCounts) -> Int
}

/// The columns of numbers in the table of queues, the most important first.
private let numbersOfQueues = [
  QueueNumber(title: "EXEC", width: 6, role: .executing) { $0.executing },
  QueueNumber(title: "READY", width: 8, role: .ready) { $0.ready - $0.held },
  QueueNumber(title: "HELD", width: 7, role: .held) { $0.held },
  QueueNumber(title: "WAIT", width: 9, role: .waiting) { $0.waiting },
  QueueNumber(title: "FAIL", width: 6, role: .failed) { $0.failed },
  QueueNumber(title: "FIN", width: 10, role: .finished) { $0.finished },
  QueueNumber(title: "CANC", width: 8, role: .cancelled) { $0.cancelled },
]

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the number of finished operations in each of the last seconds as a filled area, with the queues
/// beside the area.
struct ThroughputView {
  let dashboard: Dashboard
  /// The screen row of the horizontal rule above the graph of finished operations.
  let rule: Int
  /// The screen rows in which the graph of finished operations is drawn.
  let rows: Range<Int>

  private static let labelWidth = 6
  /// The width of each column of numbers in the table of queues.
  private static let numberWidth = 8
  /// The maximum width of the table of queues. A wider table would be harder to read.
  private static let tableWidth = 72

  /// Returns the number of screen columns for the graph of finished operations. The table of queues gets the
  /// other columns.
  static func width(columns: Int) -> Int { columns * 48 / 100 }
  /// Returns the number of seconds that the graph of finished operations shows.
  static func seconds(columns: Int) -> Int { width(columns: columns) - labelWidth - 2 }

  func draw(on canvas: inout Canvas) {
    let divider = Self.width(columns: canvas.columns.count)
    drawRules(divider, on: &canvas)
    drawArea(0..<divider, on: &canvas)
    drawQueues(divider + 2..<canvas.columns.upperBound, on: &canvas)
  }

  private func drawRules(_ divider: Int, on canvas: inout Canvas) {
    let style = Style(.dim)
    canvas.fill(canvas.glyphs.horizontal, row: rule, columns: canvas.columns, style: style)
    canvas.put(canvas.glyphs.teeDown, row: rule, column: divider, style: style)
    for row in rows { canvas.put(canvas.glyphs.vertical, row: row, column: divider, style: style) }
    canvas.write(" operations finished per second ", row: rule, columns: 1..<divider)
    let queues = divider + 1..<canvas.columns.upperBound
    canvas.write(" queues ", row: rule, columns: queues.dropFirst())
    let places = numberPlaces(in: divider + 2..<canvas.columns.upperBound)
    guard let first = places.first, let last = places.last else { return }
    canvas.fill(row: rule, columns: first.lowerBound..<last.upperBound + 1)
    for (title, place) in zip(["READY", "WAIT", "FINISHED"], places) {
      canvas.writeRight(title, row: rule, columns: place, style: style)
    }
  }

  private func drawArea(_ columns: Range<Int>, on canvas: inout Canvas) {
    let cells = Self.seconds(columns: canvas.columns.count)
    let area = Sparkline(dashboard.shown.rates.samples, cells: cells)
    let left = columns.upperBound - 1 - area.samples.count
    for (index, row) in rows.enumerated() {
      let height = rows.count - 1 - index
      let label =
        index == 0
        ? CountText.text(area.scale, cells: Self.labelWidth - 1)
        : height == 0
          ? "0"
          : index * 2 == rows.count - 1
            ? CountText.text(area.scale / 2, cells: Self.labelWidth - 1) : ""
      canvas.writeRight(
        label, row: row, columns: columns.lowerBound..<columns.lowerBound + Self.labelWidth - 1,
        style: Style(.dim))
      canvas.write(
        area.areaText(row: height, height: rows.count, canvas.glyphs), row: row,
        columns: left..<columns.upperBound, style: Style(.executing))
    }
  }

  private func drawQueues(_ columns: Range<Int>, on canvas: inout Canvas) {
    let queues = dashboard.shown.queues
    let isCut = queues.count > rows.count
    // If there is not enough room for all queues, the suspended queues get a row first of all.
    let order = isCut ? dashboard.queuesByImportance.prefix(rows.count - 1).sorted() : nil
    let chosen = order ?? Array(queues.indices)
    for (row, index) in zip(rows, chosen) {
      draw(queues[index], row: row, columns: columns, on: &canvas)
    }
    guard isCut else { return }
    let words = dashboard.wordsForOtherQueues(than: chosen)
    canvas.write([Span("\(words): Tab", .dim)], row: rows.upperBound - 1, columns: columns)
  }

  private func draw(
    _ queue: QueueReport, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) {
    let numbers = numberPlaces(in: columns)
    let nameEnd = columns.lowerBound + min(16, columns.count / 4)
    canvas.write(queue.label, row: row, columns: columns.lowerBound..<nameEnd - 1)
    let slots = nameEnd..<(numbers.first?.lowerBound ?? columns.upperBound)
    canvas.write(
      QueueSlots(queue, in: dashboard, cells: 8).spans(canvas.glyphs), row: row, columns: slots)
    let counts = queue.counts
    let values: [(Int, Role)] = [
      (counts.ready, .ready), (counts.waiting, .waiting), (counts.finished, .finished),
    ]
    for ((value, role), place) in zip(values, numbers) {
      canvas.writeRight(
        CountText.text(value, cells: place.count - 1), row: row, columns: place,
        style: Style(value == 0 ? .dim : role))
    }
  }

  private func numberPlaces(in columns: Range<Int>) -> [Range<Int>] {
    let end = min(columns.upperBound - 1, columns.lowerBound + Self.tableWidth)
    let widths = [Self.numberWidth, Self.numberWidth, Self.numberWidth + 2]
    var places: [Range<Int>] = []
    var right = end
    for width in widths.reversed() {
      places.insert(right - width..<right, at: 0)
      right -= width
    }
    return places
  }
}

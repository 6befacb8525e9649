// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the log of events. Only the lines on the screen are read from the log.
struct EventView {
  let dashboard: Dashboard
  let layout: Layout

  /// The positions of the columns of the event log. An optional column is `nil` if it has no room.
  private struct Columns {
    let time: Range<Int>
    let id: Range<Int>
    let old: Range<Int>?
    let new: Range<Int>
    let queue: Range<Int>?
    let title: Range<Int>

    init(within all: Range<Int>, idWidth: Int, queueWidth: Int) {
      let isNarrow = all.count < 64
      var column = all.lowerBound + 2
      func place(_ width: Int) -> Range<Int> {
        defer { column += width + 2 }
        return min(column, all.upperBound)..<min(column + width, all.upperBound)
      }
      time = place(isNarrow ? 8 : 12)
      id = place(idWidth)
      if isNarrow {
        old = nil
      } else {
        old = place(10)
        // The arrow stands between the columns of the old and the new state.
        column += 2
      }
      new = place(10)
      queue = all.count < 52 || queueWidth == 0 ? nil : place(queueWidth)
      title = min(column, all.upperBound)..<all.upperBound
    }
  }

  func draw(on canvas: inout Canvas) {
    let log = dashboard.shown.events
    let columns = Columns(
      within: layout.table, idWidth: idWidth, queueWidth: queueWidth(in: canvas))
    drawHeadings(columns, on: &canvas)
    if let row = layout.topRule {
      canvas.rule(row: row, title: title(canvas.glyphs))
    }
    if let row = layout.bottomRule { canvas.rule(row: row) }
    let numbers = dashboard.events.visible(in: log.numbers, height: layout.bodyHeight)
    if numbers.isEmpty {
      canvas.write(
        "no events yet", row: layout.body.lowerBound,
        columns: layout.table.dropFirst(2), style: Style(.dim))
    }
    for (row, number) in zip(layout.body, numbers) {
      guard let line = log[number] else { continue }
      canvas.mark(.line(.event(number)), row: row, columns: layout.table)
      draw(line, columns, row: row, on: &canvas)
      guard number == dashboard.events.number else { continue }
      canvas.write(canvas.glyphs.selection, row: row, columns: layout.table, style: Style(.accent))
      canvas.select(row: row, columns: layout.table)
    }
  }

  private var monitored: MonitoredState { dashboard.shown }

  private var idWidth: Int {
    max(
      2, "\(monitored.operations.largestID)".utf8.count, "\(monitored.events.largestID)".utf8.count)
  }

  private func queueWidth(in canvas: Canvas) -> Int {
    let limit = layout.table.count >= 100 ? 14 : 8
    return monitored.queues.prefix(64).map { canvas.glyphs.width(of: $0.name, limit: limit) }
      .max() ?? 0
  }

  private var following: Span {
    dashboard.paused != nil
      ? Span("paused", .warning)
      : dashboard.events.follows ? Span("following", .executing) : Span("G follows", .accent)
  }

  private func title(_ glyphs: Glyphs) -> [Span] {
    let log = monitored.events
    let filter = dashboard.list.listing.filter.map { "filter: \($0.text)" } ?? "filter: none"
    return [
      Span(" events "), Span(CountText.text(log.lines.count), .strong),
      Span(" \(glyphs.horizontal) \(filter) ", .dim),
    ]
  }

  private func drawHeadings(_ columns: Columns, on canvas: inout Canvas) {
    let style = Style(.dim)
    let row = layout.headings
    canvas.write("TIME", row: row, columns: columns.time, style: style)
    canvas.writeRight("ID", row: row, columns: columns.id, style: style)
    canvas.write("STATE", row: row, columns: columns.old ?? columns.new, style: style)
    if let queue = columns.queue { canvas.write("QUEUE", row: row, columns: queue, style: style) }
    canvas.write("OPERATION", row: row, columns: columns.title, style: style)
    let word = following
    let place = layout.table.suffix(word.text.utf8.count + 2)
    canvas.fill(row: row, columns: place)
    canvas.write([word], row: row, columns: place.dropFirst())
  }

  private func draw(
    _ line: EventLog.Line, _ columns: Columns, row: Int, on canvas: inout Canvas
  ) {
    switch line {
    case .event(let event): draw(event, columns, row: row, on: &canvas)
    case .skipped(let count):
      let events = CountText.text(count, "event")
      separate(
        [Span(" \(events) not shown; current states are exact ", .warning)], row: row, on: &canvas)
    case .beginning:
      separate(
        [Span(" events above may be missing ", .dim)], row: row, on: &canvas)
    }
  }

  private func separate(_ words: [Span], row: Int, on canvas: inout Canvas) {
    let columns = layout.table.dropFirst(2).dropLast()
    canvas.fill(canvas.glyphs.horizontal, row: row, columns: columns, style: Style(.dim))
    canvas.write(words, row: row, columns: columns.dropFirst(2))
  }

  private func draw(
    _ event: OperationEvent, _ columns: Columns, row: Int, on canvas: inout Canvas
  ) {
    let quiet = Style(event.new.isOver ? .dim : .text)
    let time = monitored.hello.map { hello in
      columns.old == nil
        ? TimeText.timeOfDay(event.time, of: hello)
        : TimeText.preciseTimeOfDay(event.time, of: hello)
    }
    canvas.write(
      time ?? canvas.glyphs.unknown, row: row, columns: columns.time, style: Style(.dim))
    canvas.writeRight("\(event.operation)", row: row, columns: columns.id, style: quiet)
    if let old = columns.old {
      if let state = event.old {
        canvas.write(state.rawValue, row: row, columns: old, style: Style(state.role))
      } else {
        // If an event has no old state, and its new state is waiting, ready or held (ready in a suspended
        // queue), the operation was added. Otherwise the old state is unknown.
        let wasAdded = [.waiting, .ready, .held].contains(event.new)
        canvas.write(
          wasAdded ? "added" : canvas.glyphs.unknown, row: row, columns: old, style: Style(.dim))
      }
      canvas.write(
        canvas.glyphs.arrow, row: row,
        columns: (old.upperBound..<columns.new.lowerBound).dropFirst(), style: Style(.dim))
    }
    canvas.write(
      event.new.rawValue, row: row, columns: columns.new, style: Style(event.new.role))
    if let queue = columns.queue {
      let name = monitored.queue(event.queue)?.name ?? canvas.glyphs.unknown
      canvas.write(name, row: row, columns: queue, style: quiet)
    }
    canvas.write(event.title, row: row, columns: columns.title, style: quiet)
  }
}

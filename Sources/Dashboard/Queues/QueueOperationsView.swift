// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the operations of a queue: a line for each, with its position in the order in which the queue starts them.
struct QueueOperationsView {
  let dashboard: Dashboard
  /// The screen rows of the lines.
  let rows: Range<Int>
  let columns: Range<Int>
  /// Whether a click selects a line.
  var reactsToMouse = true

  /// The positions of the columns.
  private struct Places {
    let position: Range<Int>
    let id: Range<Int>
    let state: Range<Int>?
    let priority: Range<Int>?
    let quality: Range<Int>?
    let time: Range<Int>
    let kind: Range<Int>?
    let dependents: Range<Int>?
    let title: Range<Int>

    init(in columns: Range<Int>, idWidth: Int, hasPriorities: Bool) {
      var next = columns.lowerBound + 2
      func place(_ width: Int) -> Range<Int> {
        defer { next += width + 1 }
        return min(next, columns.upperBound)..<min(next + width, columns.upperBound)
      }
      let width = columns.count
      position = place(4)
      id = place(max(5, min(idWidth, 21)))
      state = width >= 60 ? place(10) : nil
      priority = hasPriorities && width >= 72 ? place(5) : nil
      quality = width >= 160 ? place(15) : nil
      time = place(6)
      dependents = width >= 110 ? place(5) : nil
      kind = width >= 110 ? place(width >= 160 ? 28 : 18) : nil
      title = min(next, columns.upperBound - 1)..<columns.upperBound - 1
    }
  }

  private var monitored: MonitoredState { dashboard.shown }

  private var places: Places {
    Places(
      in: columns, idWidth: "\(monitored.operations.largestID)".utf8.count,
      hasPriorities: monitored.hasDifferentPriorities)
  }

  /// Draws the headings of the columns in a row.
  func drawHeadings(row: Int, on canvas: inout Canvas) {
    let (places, style) = (places, Style(.dim))
    func left(_ text: String, _ place: Range<Int>?) {
      if let place { canvas.write(text, row: row, columns: place, style: style) }
    }
    func right(_ text: String, _ place: Range<Int>?) {
      if let place { canvas.writeRight(text, row: row, columns: place, style: style) }
    }
    right("POS", places.position)
    right("ID", places.id)
    left("STATE", places.state)
    left("PRI", places.priority)
    left("QOS", places.quality)
    right("TIME", places.time)
    right("BLKS", places.dependents)
    left("KIND", places.kind)
    left("OPERATION", places.title)
  }

  /// Draws the lines from the line `top` on. `selected` is the selected operation; `nil` if none is selected.
  func draw(
    _ lines: [QueueOperationRows.Row], top: Int, selected: OperationReport.ID?,
    on canvas: inout Canvas
  ) {
    let places = places
    for (row, line) in zip(rows, lines.dropFirst(top)) {
      switch line {
      case .rule(let title):
        canvas.fill(canvas.glyphs.horizontal, row: row, columns: columns, style: Style(.dim))
        canvas.write(
          " \(title) ", row: row, columns: columns.dropFirst(), style: Style(.dim, isBold: true))
      case .words(let words):
        canvas.write(words, row: row, columns: columns.dropFirst(2), style: Style(.dim))
      case .operation(let id, let position):
        if reactsToMouse { canvas.mark(.line(.operation(id)), row: row, columns: columns) }
        draw(id, position, places, isSelected: id == selected, row: row, on: &canvas)
      case .ghost:
        drawGhost(selected, row: row, on: &canvas)
      }
    }
  }

  private func draw(
    _ id: OperationReport.ID, _ position: Int?, _ places: Places, isSelected: Bool, row: Int,
    on canvas: inout Canvas
  ) {
    let report = monitored.operations[id]
    let quiet = Style(report?.state.isOver == true || monitored.isGone(id) ? .dim : .text)
    drawMarks(of: id, isSelected, row: row, on: &canvas)
    if let position {
      canvas.writeRight(
        CountText.text(position, cells: places.position.count), row: row, columns: places.position,
        style: Style(.strong))
    }
    canvas.writeRight(
      "\(id)", row: row, columns: places.id,
      style: isSelected ? Style(.strong, isBold: true) : quiet)
    if let report {
      draw(report, places, quiet, row: row, on: &canvas)
    } else {
      canvas.write(
        "details are not known", row: row, columns: places.title, style: Style(.dim))
    }
    if isSelected { canvas.select(row: row, columns: columns) }
  }

  private func draw(
    _ report: OperationReport, _ places: Places, _ quiet: Style, row: Int, on canvas: inout Canvas
  ) {
    if let place = places.state {
      canvas.write(
        report.state.rawValue, row: row, columns: place, style: Style(report.state.role))
    }
    if let place = places.priority {
      let style = report.priority == .normal ? Style(.dim) : quiet
      canvas.write(report.priority.shortWord, row: row, columns: place, style: style)
    }
    if let place = places.quality {
      let isSet = report.qualityOfService != .default
      canvas.write(
        report.qualityOfService.rawValue, row: row, columns: place,
        style: isSet ? quiet : Style(.dim))
    }
    let time = report.timeText(at: monitored.moment(for: report.id, at: dashboard.shownTime))
    canvas.writeRight(time ?? canvas.glyphs.unknown, row: row, columns: places.time, style: quiet)
    if let place = places.dependents, report.dependentCount > 0 {
      canvas.writeRight(
        CountText.text(report.dependentCount, cells: place.count), row: row, columns: place,
        style: quiet)
    }
    if let place = places.kind {
      canvas.write(
        report.kind.clipped(from: 0, toFill: place.count), row: row, columns: place, style: quiet)
    }
    drawTitle(of: report, row: row, columns: places.title, quiet, on: &canvas)
  }

  private func drawTitle(
    of report: OperationReport, row: Int, columns: Range<Int>, _ quiet: Style,
    on canvas: inout Canvas
  ) {
    var room = columns
    if !report.state.isOver,
      let progress = ProgressText(report, in: monitored, at: dashboard.shownTime)
    {
      let (spans, width) = progress.rowSpans(room: room.count, glyphs: canvas.glyphs)
      if width > 0 {
        canvas.write(spans, row: row, columns: room.upperBound - width..<room.upperBound)
        room = room.lowerBound..<room.upperBound - width - 1
      }
    }
    let title = report.name.isEmpty ? "(\(report.kind.clipped(to: 200)))" : report.name
    let style = report.name.isEmpty ? Style(.dim) : quiet
    let end = canvas.write(
      title.clipped(from: 0, toFill: room.count), row: row, columns: room, style: style)
    let rest = (end..<max(end, room.upperBound)).dropFirst(2)
    guard let status = report.statusText, !report.state.isOver, rest.count >= 4 else { return }
    canvas.write(
      status.clipped(from: 0, toFill: rest.count), row: row, columns: rest, style: Style(.dim))
  }

  /// Draws the mark of the selection, and the mark of a tag or a warning.
  private func drawMarks(
    of id: OperationReport.ID, _ isSelected: Bool, row: Int, on canvas: inout Canvas
  ) {
    if isSelected {
      canvas.write(canvas.glyphs.selection, row: row, columns: columns, style: Style(.accent))
    }
    let column = columns.lowerBound + 1
    if dashboard.tags.ids.contains(id) {
      canvas.put("*", row: row, column: column, style: Style(.accent, isBold: true))
    } else if monitored.warned.contains(id) {
      canvas.put("!", row: row, column: column, style: Style(.warning, isBold: true))
    }
  }

  private func drawGhost(_ id: OperationReport.ID?, row: Int, on canvas: inout Canvas) {
    let reason = id.map { id in
      "\(id) \(dashboard.whyNoRow(id, otherwise: "is no longer in this list"))"
    }
    canvas.writeGhost(row: row, columns: columns)
    canvas.write(
      "selected row: \(reason ?? "") \(canvas.glyphs.dot) g: first row", row: row,
      columns: columns.dropFirst(2), style: Style(.strong))
  }
}

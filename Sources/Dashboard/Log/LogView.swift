// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the log screen, which shows all stored log lines of one operation.
struct LogView {
  let dashboard: Dashboard
  let layout: Layout
  let id: OperationReport.ID
  let state: LogState

  /// The columns to the left of the lines, for the mark of the selected match.
  static let margin = 2

  func draw(on canvas: inout Canvas) {
    let log = dashboard.shown.log(of: id)
    drawTitle(log, on: &canvas)
    guard let log, !log.lines.isEmpty else {
      for (row, text) in zip(layout.body, emptyWords(log)) {
        canvas.write(
          text, row: row, columns: canvas.columns.dropFirst(Self.margin), style: Style(.dim))
      }
      return
    }
    let rows = LogRows(
      log, of: dashboard.shown.hello, columns: canvas.columns.count - Self.margin,
      glyphs: canvas.glyphs)
    for (row, index) in zip(layout.body, state.visible(in: rows, height: layout.bodyHeight)) {
      draw(rows.rows[index], row: row, on: &canvas)
    }
  }

  private func draw(_ content: LogRows.Row, row: Int, on canvas: inout Canvas) {
    let columns = canvas.columns.dropFirst(Self.margin)
    canvas.write(content.head, row: row, columns: columns)
    let isLine = content.place.part >= 0
    let indent = isLine ? LogRows.headWidth(columns: columns.count) : 0
    canvas.write(content.cells, row: row, column: columns.lowerBound + indent)
    guard isLine, content.place.line == state.match else { return }
    canvas.write(canvas.glyphs.selection, row: row, columns: canvas.columns, style: Style(.accent))
  }

  private func drawTitle(_ log: OperationLog?, on canvas: inout Canvas) {
    let row = layout.headings
    canvas.fill(canvas.glyphs.horizontal, row: row, columns: canvas.columns, style: Style(.dim))
    let following: Span =
      dashboard.paused != nil
      ? Span(" paused ", .warning)
      : state.follows ? Span(" following ", .executing) : Span(" G follows ", .accent)
    var right = [following]
    if let log, !log.lines.isEmpty {
      let words =
        log.droppedCount == 0
        ? " \(log.lines.count) line\(log.lines.count == 1 ? "" : "s"),"
        : " \(LogRows.droppedWords(log)),"
      right.insert(Span(words, .dim), at: 0)
    }
    func width(_ spans: [Span]) -> Int {
      spans.reduce(0) { $0 + canvas.glyphs.width(of: $1.text) }
    }
    if width(right) > canvas.columns.count * 3 / 5 { right = [following] }
    let start = max(0, canvas.columns.upperBound - width(right) - 1)
    let title = dashboard.shown.operations[id]?.title ?? ""
    canvas.write(
      [
        Span(" log of ", .dim), Span("\(id) ", .strong, isBold: true),
        Span(title.isEmpty ? "" : "\(title) ", .strong),
      ], row: row, columns: 1..<max(2, start))
    canvas.write(right, row: row, columns: start..<canvas.columns.upperBound)
  }

  private func emptyWords(_ log: OperationLog?) -> [String] {
    guard let log else {
      return [
        "No log lines have arrived.",
        "A process with an older version of opq does not send them.",
      ]
    }
    if log.mayBeDropped {
      return ["The operation has logged nothing, or the process has dropped its lines."]
    }
    return ["The operation has logged nothing.", "Press ? for how log lines get here."]
  }
}

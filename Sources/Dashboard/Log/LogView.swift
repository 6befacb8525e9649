// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the log screen, which shows all stored log lines of one operation, or the output of a job.
struct LogView {
  let dashboard: Dashboard
  let layout: Layout
  let id: OperationReport.ID
  let state: LogState

  /// The columns to the left of the lines, for the mark of the selected match.
  static let margin = 2

  func draw(on canvas: inout Canvas) {
    if let output = state.output, let page = output.shownPage {
      return draw(page, of: output, on: &canvas)
    }
    let log = dashboard.shown.log(of: id)
    var words = ""
    if let log, !log.lines.isEmpty {
      words =
        log.droppedCount == 0
        ? " \(log.lines.count) line\(log.lines.count == 1 ? "" : "s"),"
        : " \(LogRows.droppedWords(log)),"
    }
    drawTitle("log of", words, on: &canvas)
    guard let log, !log.lines.isEmpty else {
      return draw(jobWords ?? emptyWords(log), on: &canvas)
    }
    let rows = LogRows(
      log, of: dashboard.shown.hello, columns: canvas.columns.count - Self.margin,
      glyphs: canvas.glyphs)
    draw(rows, on: &canvas)
  }

  /// Draws lines of the output of a job.
  private func draw(_ page: OutputPage, of output: OutputState, on canvas: inout Canvas) {
    let rows = LogRows(
      page, columns: canvas.columns.count - Self.margin, glyphs: canvas.glyphs)
    let visible = state.visible(in: rows, height: layout.bodyHeight)
    var end = page.end
    // The last line on the screen is complete if the next row belongs to another line.
    if let last = visible.last, rows.rows.indices.contains(last + 1) {
      end = rows.rows[last + 1].place.line
    }
    let position =
      page.lines.isEmpty ? "" : " \(output.percentWords(of: end)) of \(output.sizeWords),"
    drawTitle("output of", position, attempt: output.attemptWords, on: &canvas)
    if page.lines.isEmpty {
      draw(["Attempt \(page.facts.attempt) has printed nothing."], on: &canvas)
    } else {
      draw(rows, on: &canvas)
    }
  }

  private func draw(_ words: [String], on canvas: inout Canvas) {
    for (row, text) in zip(layout.body, words) {
      canvas.write(
        text, row: row, columns: canvas.columns.dropFirst(Self.margin), style: Style(.dim))
    }
  }

  private func draw(_ rows: LogRows, on canvas: inout Canvas) {
    for (row, index) in zip(layout.body, state.visible(in: rows, height: layout.bodyHeight)) {
      draw(rows.rows[index], headWidth: rows.headWidth, row: row, on: &canvas)
    }
  }

  private func draw(
    _ content: LogRows.Row, headWidth: Int, row: Int, on canvas: inout Canvas
  ) {
    let columns = canvas.columns.dropFirst(Self.margin)
    canvas.write(content.head, row: row, columns: columns)
    let isLine = content.place.part >= 0
    let indent = isLine ? headWidth : 0
    canvas.write(content.cells, row: row, column: columns.lowerBound + indent)
    guard isLine, content.place.line == state.match else { return }
    canvas.write(canvas.glyphs.selection, row: row, columns: canvas.columns, style: Style(.accent))
  }

  /// Draws the title: what the screen shows, and whether it follows new lines.
  ///
  /// - Parameters:
  ///   - kind: The words before the operation.
  ///   - words: The number of lines or the position, which are left out if the screen is too narrow.
  ///   - attempt: The attempt; `nil` if there is only one.
  ///   - canvas: The canvas.
  private func drawTitle(
    _ kind: String, _ words: String, attempt: String? = nil, on canvas: inout Canvas
  ) {
    let row = layout.headings
    canvas.fill(canvas.glyphs.horizontal, row: row, columns: canvas.columns, style: Style(.dim))
    let following: Span =
      dashboard.paused != nil
      ? Span(" paused ", .warning)
      : state.follows ? Span(" following ", .executing) : Span(" G follows ", .accent)
    var right = [following]
    if !words.isEmpty { right.insert(Span(words, .dim), at: 0) }
    func width(_ spans: [Span]) -> Int {
      spans.reduce(0) { $0 + canvas.glyphs.width(of: $1.text) }
    }
    if width(right) > canvas.columns.count * 3 / 5 { right = [following] }
    let start = max(0, canvas.columns.upperBound - width(right) - 1)
    let title = dashboard.shown.operations[id]?.title ?? ""
    canvas.write(
      [
        Span(" \(kind) ", .dim), Span("\(id) ", .strong, isBold: true),
        Span(attempt.map { "\($0) " } ?? "", .accent),
        Span(title.isEmpty ? "" : "\(title) ", .strong),
      ], row: row, columns: 1..<max(2, start))
    canvas.write(right, row: row, columns: start..<canvas.columns.upperBound)
  }

  /// Why a job has no lines; `nil` if the operation is not a job of this process.
  private var jobWords: [String]? {
    guard let facts = state.output?.page?.facts else { return nil }
    if facts.attemptCount > 0 { return ["The job has printed nothing."] }
    let isOver = dashboard.shown.operations.state(of: id)?.isOver == true
    return [isOver ? "The job was not started." : "The job has not started."]
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
    return [
      "The operation has logged nothing.", "Press ? to read how a program sends its log lines.",
    ]
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the screen of one queue: its counts, starts and times, what the next operation waits for, and its operations.
struct QueueScreenView {
  let dashboard: Dashboard
  let layout: Layout
  let state: QueueScreenState

  /// The parts of the screen above the operations.
  struct Parts: Sendable, Equatable {
    /// The number of rows for the facts about the queue.
    let factRows: Int
    /// Whether the starts are a filled area beside the facts.
    let hasArea: Bool
    /// Whether the operations have headings.
    let hasHeadings: Bool

    /// The minimum width of a screen with an area of starts.
    private static let areaThreshold = 120

    /// Chooses the parts for a screen with this number of rows for the facts and the operations.
    init(height: Int, columns: Int) {
      hasArea = columns >= Self.areaThreshold && height >= 24
      factRows = hasArea ? (height >= 44 ? 7 : 5) : height >= 13 ? 3 : height >= 9 ? 2 : 1
      hasHeadings = height >= 9
    }

    /// The number of rows of the facts, the sentence about the next operation, and the headings.
    var height: Int { factRows + 1 + (hasHeadings ? 1 : 0) }
  }

  private static let labelWidth = 6

  func draw(on canvas: inout Canvas) {
    guard let queue = dashboard.shown.queue(state.queue) else {
      drawMissing(on: &canvas)
      return
    }
    QueueTitle(queue, in: dashboard).draw(row: layout.headings, on: &canvas)
    let parts = Parts(height: layout.bodyHeight, columns: canvas.columns.count)
    var rows = layout.body
    let facts = rows.prefix(parts.factRows)
    if parts.hasArea {
      drawArea(of: queue, rows: facts, on: &canvas)
    } else {
      drawFacts(of: queue, rows: facts, on: &canvas)
    }
    rows = rows.dropFirst(parts.factRows)
    let next = QueueNextText(queue, in: dashboard, glyphs: canvas.glyphs)
    next.draw(row: rows.lowerBound, columns: canvas.columns.dropFirst(), on: &canvas)
    let list = QueueOperationsView(
      dashboard: dashboard, rows: layout.body.dropFirst(parts.height), columns: canvas.columns)
    if parts.hasHeadings { list.drawHeadings(row: rows.lowerBound + 1, on: &canvas) }
    list.draw(
      QueueOperationRows(of: queue, in: dashboard.shown).rows(height: list.rows.count, on: state),
      top: state.top, selected: state.selected, on: &canvas)
  }

  /// Draws the screen of a queue that no longer exists.
  private func drawMissing(on canvas: inout Canvas) {
    canvas.rule(
      row: layout.headings,
      title: [Span(" \(canvas.glyphs.clipped(state.name, to: 200)) ", .strong, isBold: true)])
    canvas.write(
      "the queue no longer exists", row: layout.body.lowerBound,
      columns: canvas.columns.dropFirst(), style: Style(.warning))
    canvas.write(
      "n N go to another queue \(canvas.glyphs.dot) Esc closes", row: layout.body.lowerBound + 1,
      columns: canvas.columns.dropFirst(), style: Style(.dim))
  }

  // MARK: Facts

  /// Draws the facts in lines across the screen. The counts are the most important ones, then the use and the times.
  private func drawFacts(of queue: QueueReport, rows: Range<Int>, on canvas: inout Canvas) {
    let room = canvas.columns.dropFirst()
    let history = QueueHistoryText(
      dashboard.shown.queueHistories[queue.id], glyphs: canvas.glyphs)
    let counts = unfinished(queue.counts) + finished(queue.counts)
    var lines = [fitting(countForms(counts), room.count, canvas.glyphs)]
    if rows.count >= 3 {
      let rate = "\(history.rate(cells: 5))/s".padded(to: 7)
      let bars = history.bars(cells: min(QueueHistory.capacity, room.count - 16))
      lines.append([
        Span("starts ", .dim), Span(rate, .strong), Span(" "), Span(bars.text, bars.style.role),
      ])
    }
    if rows.count >= 2 {
      lines.append(fitting(timeForms(queue, history, canvas.glyphs), room.count, canvas.glyphs))
    }
    for (row, line) in zip(rows, lines) { canvas.write(line, row: row, columns: room) }
  }

  /// Draws the starts as a filled area, and the other facts beside it.
  private func drawArea(of queue: QueueReport, rows: Range<Int>, on canvas: inout Canvas) {
    let glyphs = canvas.glyphs
    let divider = Self.labelWidth + QueueHistory.capacity + 2
    let history = dashboard.shown.queueHistories[queue.id]
    let area = Sparkline(history?.samples ?? [], cells: QueueHistory.capacity)
    let left = divider - 1 - area.samples.count
    for (index, row) in rows.enumerated() {
      let height = rows.count - 1 - index
      let label = index == 0 ? CountText.text(area.scale, cells: 5) : height == 0 ? "0" : ""
      canvas.writeRight(label, row: row, columns: 0..<Self.labelWidth - 1, style: Style(.dim))
      canvas.write(
        area.areaText(row: height, height: rows.count, glyphs), row: row, columns: left..<divider,
        style: Style(.executing))
      canvas.put(glyphs.vertical, row: row, column: divider, style: Style(.dim))
    }
    // A long name covers the place where the vertical line begins.
    let above = rows.lowerBound - 1
    if canvas.grid[row: above, column: divider].scalar == glyphs.horizontal {
      canvas.put(glyphs.teeDown, row: above, column: divider, style: Style(.dim))
    }
    let text = QueueHistoryText(history, glyphs: glyphs)
    let room = divider + 2..<canvas.columns.upperBound
    let lines = [
      fitting(countForms(unfinished(queue.counts)), room.count, glyphs),
      fitting(countForms(finished(queue.counts)), room.count, glyphs),
      [
        Span("starts ", .dim), Span("\(text.rate(cells: 7))/s", .strong), Span("   use ", .dim),
        Span(text.use(cells: 8)),
      ],
      timeSpans("slot wait", queue.times?.wait, isLong: true, glyphs),
      timeSpans("run      ", queue.times?.run, isLong: true, glyphs),
    ]
    for (row, line) in zip(rows.dropFirst((rows.count - lines.count) / 2), lines) {
      canvas.write(line, row: row, columns: room)
    }
  }

  /// Returns the first form with room in this number of cells, or the last form.
  private func fitting(_ forms: [[Span]], _ cells: Int, _ glyphs: Glyphs) -> [Span] {
    let form = forms.first { spans in
      spans.reduce(0) { $0 + glyphs.width(of: $1.text) } <= cells
    }
    return form ?? forms.last ?? []
  }

  /// A number of operations in a state, the forms of the word before it, the longest first, and the role of the state.
  private typealias Count = (Int, [String], Role)

  private func unfinished(_ counts: StateCounts) -> [Count] {
    [
      (counts.executing, ["executing ", "exec ", "e"], .executing),
      (counts.ready, ["ready ", "ready ", "r"], .ready),
      (counts.waiting, ["waiting ", "wait ", "w"], .waiting),
    ]
  }

  private func finished(_ counts: StateCounts) -> [Count] {
    [
      (counts.finished, ["finished ", "fin ", "f"], .finished),
      (counts.failed, ["failed ", "failed ", "!"], .failed),
      (counts.cancelled, ["cancelled ", "canc ", "c"], .cancelled),
    ]
  }

  /// Returns the numbers of operations by state, the longest form first.
  private func countForms(_ values: [Count]) -> [[Span]] {
    [(0, 7, "   "), (1, 7, "   "), (1, 4, "   "), (2, 4, " ")].map { form, cells, gap in
      values.enumerated().map { index, value in
        let (count, words, role) = value
        let text = words[form] + CountText.text(count, cells: cells)
        return Span(index + 1 < values.count ? text + gap : text, count == 0 ? .dim : role)
      }
    }
  }

  /// Returns the use of the slots and the times, the longest form first.
  private func timeForms(
    _ queue: QueueReport, _ history: QueueHistoryText, _ glyphs: Glyphs
  ) -> [[Span]] {
    let wait = timeSpans("slot wait", queue.times?.wait, isLong: false, glyphs)
    let run = timeSpans("run", queue.times?.run, isLong: false, glyphs)
    let gap = [Span("   ")]
    let use = [Span("use ", .dim), Span(history.use(cells: 5))]
    return [use + gap + wait + gap + run, use + gap + wait, wait]
  }

  private func timeSpans(
    _ label: String, _ percentiles: Percentiles?, isLong: Bool, _ glyphs: Glyphs
  ) -> [Span] {
    guard let percentiles else { return [Span("\(label) \(glyphs.unknown)", .dim)] }
    var values = [(" p50 ", percentiles.p50), (" p99 ", percentiles.p99)]
    if isLong { values.insert((" p90 ", percentiles.p90), at: 1) }
    return [Span(label, .dim)]
      + values.flatMap { name, time in
        let text = TimeText.fine(time, glyphs)
        return [Span(name, .dim), Span(isLong ? text.padded(to: 7) : text)]
      }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the picker.
struct PickerView {
  let dashboard: Dashboard
  let layout: Layout
  let picker: PickerState

  /// The minimum height of a screen on which the list has a title.
  private static let titleThreshold = 16

  /// Returns the screen rows that the picker's list occupies.
  static func rows(in layout: Layout, of size: Size) -> Range<Int> {
    let hasTitle = size.rows >= titleThreshold
    return layout.body.lowerBound + (hasTitle ? 1 : 0)..<layout.body.upperBound
  }

  func draw(on canvas: inout Canvas) {
    let rows = Self.rows(in: layout, of: canvas.grid.size)
    if rows.lowerBound > layout.body.lowerBound { drawTitle(on: &canvas) }
    let columns = PickerColumns(
      within: canvas.columns,
      idWidth: "\(picker.rows.compactMap(\.processID).max() ?? 0)".utf8.count,
      remarkWidth: picker.rows.map { canvas.glyphs.width(of: remark(on: $0), limit: 40) }.max() ?? 0
    )
    drawHeadings(columns, row: rows.lowerBound - 1, on: &canvas)
    let top = picker.top(height: rows.count)
    for (row, index) in zip(rows, top..<picker.rows.count) {
      let target = ScreenRegions.Target.line(.process(picker.rows[index].source))
      canvas.mark(target, row: row, columns: canvas.columns)
      draw(picker.rows[index], columns, row: row, on: &canvas)
      guard index == picker.index else { continue }
      canvas.write(
        canvas.glyphs.selection, row: row, columns: canvas.columns, style: Style(.accent))
      canvas.select(row: row, columns: canvas.columns)
    }
    drawAdvice(in: rows, on: &canvas)
    guard layout.sentence != layout.prompt || dashboard.screen.notice == nil else { return }
    canvas.write(sentence, row: layout.sentence, columns: canvas.columns.dropFirst())
  }

  private func drawTitle(on canvas: inout Canvas) {
    canvas.rule(
      row: layout.headings,
      title: [Span(" processes\(machine) to attach to ", .strong, isBold: true)])
    let count = picker.rows.count { $0.refusal == nil } - 1
    let words =
      switch picker.result {
      case .pending: " searching\(canvas.glyphs.ellipsis) "
      case .found where count == 0: " no process found "
      case .found: " \(count) process\(count == 1 ? "" : "es") "
      case .failed: " the search has failed "
      }
    let chosen = picker.chosen.isEmpty ? "" : " \(picker.chosen.count) chosen \(canvas.glyphs.dot)"
    canvas.writeRight(
      chosen + words, row: layout.headings, columns: canvas.columns.dropLast(), style: Style(.dim))
  }

  /// The words ` on HOST`; empty if the picker lists the processes of this machine.
  private var machine: String { String(onHost: dashboard.configuration.host) }

  private func drawHeadings(_ columns: PickerColumns, row: Int, on canvas: inout Canvas) {
    let style = Style(.dim)
    canvas.writeRight("PID", row: row, columns: columns.processID, style: style)
    canvas.write("PROGRAM", row: row, columns: columns.program, style: style)
    if let range = columns.uptime {
      canvas.writeRight("UPTIME", row: row, columns: range, style: style)
    }
    if let range = columns.totalCount {
      canvas.writeRight("OPS", row: row, columns: range, style: style)
    }
    if let range = columns.mode { canvas.write("MODE", row: row, columns: range, style: style) }
    if let range = columns.versions {
      canvas.write("PROTO", row: row, columns: range, style: style)
    }
  }

  private func draw(
    _ content: PickerState.Row, _ columns: PickerColumns, row: Int, on canvas: inout Canvas
  ) {
    let isWatched = dashboard.includes(content)
    let isChosen =
      if case .process(let choice) = content { picker.chosen.contains(choice.id) } else { false }
    if isChosen || isWatched {
      canvas.put(
        isChosen ? "+" : "*", row: row, column: canvas.columns.lowerBound + 1,
        style: Style(.accent, isBold: isChosen))
    }
    let quiet = Style(content.refusal == nil ? .text : .dim)
    let remark = remark(on: content)
    var nameEnd = columns.program.lowerBound
    switch content {
    case .demo:
      nameEnd = canvas.write("demo", row: row, columns: columns.program, style: quiet)
    case .process(let choice):
      canvas.writeRight("\(choice.processID)", row: row, columns: columns.processID, style: quiet)
      nameEnd = canvas.write(choice.programName, row: row, columns: columns.program, style: quiet)
      if remark.isEmpty || columns.remark != nil {
        drawNumbers(of: choice, columns, row: row, style: quiet, on: &canvas)
      }
    }
    // If the column of remarks has no room, a remark replaces the numbers of its row.
    canvas.write(
      remark, row: row, columns: columns.remark ?? nameEnd + 2..<canvas.columns.upperBound,
      style: Style(content.refusal != nil ? .warning : isWatched ? .accent : .dim))
  }

  private func drawNumbers(
    of choice: ProcessChoice, _ columns: PickerColumns, row: Int, style: Style,
    on canvas: inout Canvas
  ) {
    let unknown = canvas.glyphs.unknown
    if let range = columns.uptime {
      let text = choice.uptime.map(TimeText.duration) ?? unknown
      canvas.writeRight(text, row: row, columns: range, style: style)
    }
    if let range = columns.totalCount {
      let text = choice.totalCount.map { CountText.text($0, cells: range.count) } ?? unknown
      canvas.writeRight(text, row: row, columns: range, style: style)
    }
    if let range = columns.mode {
      let text = choice.isReadOnly.map { $0 ? "ro" : "rw" } ?? unknown
      canvas.write(text, row: row, columns: range, style: style)
    }
    if let range = columns.versions {
      let text = choice.versions.isEmpty ? unknown : choice.versions
      canvas.write(text, row: row, columns: range, style: style)
    }
  }

  /// Returns a remark about the row's source, such as `attached`; empty if there is no remark.
  private func remark(on row: PickerState.Row) -> String {
    if let refusal = row.refusal { return refusal }
    if dashboard.includes(row) {
      return dashboard.live.endedReason == nil ? "attached" : "attached, ended"
    }
    return row == .demo ? "runs inside opq-top" : ""
  }

  /// If a search has found no process, draws a hint about how to start a process that can be watched.
  private func drawAdvice(in rows: Range<Int>, on canvas: inout Canvas) {
    guard picker.result == .found, picker.rows.count == 1 else { return }
    let text = WrappedText(
      """
      No monitored process found\(machine). Start one with OPQ_MONITOR=rw, or call \
      OperationMonitor.listen().
      """,
      columns: canvas.columns.count - 4, lineLimit: max(1, rows.count - 1), style: Style(.dim),
      isUnicode: canvas.glyphs.isUnicode)
    // A blank row precedes the hint if the screen is high enough for the blank row.
    let skipped = text.lines.count + 2 > rows.count ? 1 : 2
    for (row, line) in zip(rows.dropFirst(skipped), text.lines) {
      canvas.write(line, row: row, column: 2)
    }
  }

  /// A sentence about the effect of Enter: on the chosen processes or, if none is chosen, on the selected row.
  private var sentence: [Span] {
    guard let row = picker.nextRow else {
      let end = dashboard.configuration.isReadOnly ? ", read-only" : " as one"
      return [Span("Enter attaches to \(dashboard.name(of: picker.next))\(end)")]
    }
    let name = Span("\(dashboard.name(of: row)) ", .strong, isBold: true)
    if let refusal = row.refusal { return [name, Span("cannot attach: \(refusal)")] }
    if dashboard.isWatched(row.source) { return [name, Span("is attached")] }
    let configuration = dashboard.configuration
    let title = configuration.runsJobs ? "" : configuration.title
    switch row {
    case .demo where title.isEmpty: return [Span("Enter starts the demo")]
    case .demo: return [Span("Enter starts the demo \(title.clipped(to: 24))")]
    case .process(let choice):
      let isReadOnly = choice.isReadOnly != false || dashboard.configuration.isReadOnly
      let mode = isReadOnly ? "read-only" : "commands allowed"
      return [Span("Enter attaches to \(dashboard.name(of: row)), \(mode)")]
    }
  }
}

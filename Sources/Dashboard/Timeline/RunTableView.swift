// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the runs of the selected queue as a table below the slots of the timeline, the newest run first.
struct RunTableView {
  /// The minimum number of rows of the table, with its title and its headings.
  private static let fewestRows = 6
  /// The number of spaces between two columns.
  private static let gap = 2
  /// The minimum width of a table with room for long kinds.
  private static let wideThreshold = 100

  let dashboard: Dashboard
  /// The selected queue.
  let queue: QueueReport

  /// A run and the number of its slot, counted from 1.
  private typealias Entry = (run: OperationRun, slot: Int)

  /// A column of the table.
  private struct Column {
    let heading: String
    let columns: Range<Int>
    var isRight = false
  }

  /// Draws the table if these rows suffice.
  func draw(rows: Range<Int>, columns: Range<Int>, on canvas: inout Canvas) {
    guard rows.count >= Self.fewestRows else { return }
    let all = entries
    guard !all.isEmpty else { return }
    let selected = dashboard.timeline.run?.id
    let index = all.firstIndex { $0.run.id == selected } ?? 0
    let height = rows.count - 2
    // The selected run is on the screen, and in the middle if there are more runs on both sides.
    let top = max(0, min(index - height / 2, all.count - height))
    let shown = all[top..<min(all.count, top + height)]
    let first = rows.lowerBound
    canvas.write(
      [
        Span("runs of "), Span(queue.label.clipped(to: 20), .strong, isBold: true),
        Span("  \(CountText.text(all.count))", .dim),
      ], row: first, columns: columns.dropFirst(2))
    let table = table(of: shown, within: columns.dropFirst(2).dropLast(), canvas.glyphs)
    for column in table {
      write(column.heading, in: column, row: first + 1, Style(.dim), on: &canvas)
    }
    for (row, entry) in zip(rows.dropFirst(2), shown) {
      canvas.mark(.run(entry.run.id), row: row, columns: columns)
      draw(entry, isSelected: entry.run.id == selected, in: table, row: row, on: &canvas)
    }
  }

  /// The runs of all slots of the queue, the newest first.
  private var entries: [Entry] {
    dashboard.timeline.rows.flatMap { row -> [Entry] in
      guard case .slot(queue.id, let slot) = row.id else { return [] }
      return row.runs.map { ($0, slot + 1) }
    }.sorted { ($0.run.started, $0.run.id) > ($1.run.started, $1.run.id) }
  }

  private func draw(
    _ entry: Entry, isSelected: Bool, in table: [Column], row: Int, on canvas: inout Canvas
  ) {
    let run = entry.run
    if isSelected {
      canvas.write(
        canvas.glyphs.selection, row: row, columns: 0..<1, style: Style(.accent, isBold: true))
    }
    let sentence = RunSentence(run, in: dashboard)
    let unknown = canvas.glyphs.unknown
    let cells: [(String, Style)] = [
      ("\(run.id)", Style(isSelected ? .strong : .dim, isBold: isSelected)),
      ("\(entry.slot)", Style(.dim)),
      (sentence.start ?? unknown, Style(.text)),
      (TimeText.duration(sentence.time), Style(.text)),
      (run.state.rawValue, Style(run.state == .failed ? .failed : .text)),
      (sentence.kind ?? unknown, Style(dashboard.timeline.colors.role(of: run.kind))),
    ]
    for (column, (text, style)) in zip(table, cells) {
      write(text, in: column, row: row, style, on: &canvas)
    }
    guard let last = table.last?.columns else { return }
    // The error has at least half of the last column.
    let name = sentence.name ?? ""
    let nameColumns = sentence.error == nil ? last : last.prefix(last.count / 2)
    let end = canvas.write(
      name, row: row, columns: nameColumns, style: Style(.text, isBold: isSelected))
    guard let error = sentence.error else { return }
    let rest = last.dropFirst(name.isEmpty ? 0 : end - last.lowerBound + Self.gap)
    canvas.write("error: \(error)", row: row, columns: rest, style: Style(.failed))
  }

  private func write(
    _ text: String, in column: Column, row: Int, _ style: Style, on canvas: inout Canvas
  ) {
    if column.isRight {
      canvas.writeRight(text, row: row, columns: column.columns, style: style)
    } else {
      canvas.write(text, row: row, columns: column.columns, style: style)
    }
  }

  /// Returns the columns of the table, as wide as the shown runs need. The last column gets the rest of the width.
  private func table(
    of shown: ArraySlice<Entry>, within columns: Range<Int>, _ glyphs: Glyphs
  ) -> [Column] {
    let kindLimit = columns.count >= Self.wideThreshold ? 30 : 18
    let kindWidth = shown.map { entry in
      let kind = RunSentence(entry.run, in: dashboard).kind
      return glyphs.width(of: kind ?? "", limit: kindLimit)
    }.max()
    let widths: [(heading: String, width: Int, isRight: Bool)] = [
      ("ID", shown.map { "\($0.run.id)".utf8.count }.max() ?? 0, false), ("SLOT", 4, true),
      ("STARTED", 8, false), ("RUN", 7, true), ("STATE", 10, false),
      ("KIND", max(4, kindWidth ?? 0), false),
    ]
    var next = columns.lowerBound
    var table: [Column] = []
    for (heading, width, isRight) in widths {
      let end = min(next + width, columns.upperBound)
      table.append(Column(heading: heading, columns: next..<end, isRight: isRight))
      next = min(end + Self.gap, columns.upperBound)
    }
    return table + [Column(heading: "NAME", columns: next..<columns.upperBound)]
  }
}

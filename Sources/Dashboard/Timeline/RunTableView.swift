// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the runs of the selected slot as a table below the slots of the timeline, the newest run first.
struct RunTableView {
  /// The minimum number of rows of the table, with its headings.
  private static let fewestRows = 5
  /// The number of spaces between two columns.
  private static let gap = 2

  let dashboard: Dashboard
  /// The selected run.
  let run: OperationRun

  /// A column of the table.
  private struct Column {
    let heading: String
    let columns: Range<Int>
    var isRight = false
  }

  /// Draws the table if these rows suffice.
  func draw(rows: Range<Int>, columns: Range<Int>, on canvas: inout Canvas) {
    guard rows.count >= Self.fewestRows,
      let runs = dashboard.timeline.selectedRow?.runs.reversed() as [OperationRun]?,
      let index = runs.firstIndex(where: { $0.id == run.id })
    else { return }
    let height = rows.count - 1
    // The selected run is on the screen, and in the middle if there are more runs on both sides.
    let top = max(0, min(index - height / 2, runs.count - height))
    let shown = runs[top..<min(runs.count, top + height)]
    let idWidth = shown.map { "\($0.id)".utf8.count }.max() ?? 0
    let table = Self.columns(idWidth: idWidth, within: columns.dropFirst(2).dropLast())
    for column in table {
      write(column.heading, in: column, row: rows.lowerBound, Style(.dim), &canvas)
    }
    for (row, run) in zip(rows.dropFirst(), shown) { draw(run, in: table, row: row, on: &canvas) }
  }

  private func draw(_ run: OperationRun, in table: [Column], row: Int, on canvas: inout Canvas) {
    let isSelected = run.id == self.run.id
    if isSelected {
      canvas.write(
        canvas.glyphs.selection, row: row, columns: 0..<1, style: Style(.accent, isBold: true))
    }
    let sentence = RunSentence(run, in: dashboard)
    let unknown = canvas.glyphs.unknown
    let role: Role = run.state == .failed ? .failed : .text
    let error = sentence.error.map { "error: \($0)" }
    let cells: [(String, Style)] = [
      ("\(run.id)", Style(isSelected ? .strong : .dim, isBold: isSelected)),
      (sentence.start ?? unknown, Style(.text)),
      (TimeText.duration(sentence.time), Style(.text)),
      (run.state.rawValue, Style(role)),
      (sentence.kind ?? unknown, Style(dashboard.timeline.colors.role(of: run.kind))),
      (error ?? sentence.name ?? "", Style(error == nil ? .text : .failed, isBold: isSelected)),
    ]
    for (column, (text, style)) in zip(table, cells) {
      write(text, in: column, row: row, style, &canvas)
    }
  }

  private func write(
    _ text: String, in column: Column, row: Int, _ style: Style, _ canvas: inout Canvas
  ) {
    if column.isRight {
      canvas.writeRight(text, row: row, columns: column.columns, style: style)
    } else {
      canvas.write(text, row: row, columns: column.columns, style: style)
    }
  }

  /// Returns the columns of the table. The last column gets the rest of the width.
  private static func columns(idWidth: Int, within columns: Range<Int>) -> [Column] {
    let isWide = columns.count >= 100
    let widths: [(String, Int)] = [
      ("ID", idWidth), ("STARTED", 8), ("RUN", 7), ("STATE", 10), ("KIND", isWide ? 24 : 14),
    ]
    var next = columns.lowerBound
    var table: [Column] = []
    for (heading, width) in widths {
      let end = min(next + width, columns.upperBound)
      table.append(Column(heading: heading, columns: next..<end, isRight: heading == "RUN"))
      next = min(end + gap, columns.upperBound)
    }
    return table + [Column(heading: "NAME", columns: next..<columns.upperBound)]
  }
}

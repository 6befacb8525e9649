// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the table of the watched processes, and a row with the sum of their counts.
struct ProcessTableView {
  let dashboard: Dashboard
  /// The screen rows of the table's headings and of the processes.
  let rows: Range<Int>
  /// The row with the sum of the processes' counts.
  let sum: Int

  /// The minimum width of a screen that shows this table.
  static let narrowest = 60
  /// The minimum width of a screen on which the state of a process includes a time of day.
  private static let roomy = 100
  /// The maximum width of a host.
  private static let widestHost = 20

  private var processes: [ProcessReport] { dashboard.shown.processes }

  func draw(on canvas: inout Canvas) {
    let hosts = processes.map { canvas.glyphs.width(of: $0.hello.host, limit: Self.widestHost) }
    let places = Places(in: canvas.columns, hostWidth: hosts.max() ?? 0)
    drawHeadings(places, on: &canvas)
    let shown = Self.chosen(of: processes, count: rows.count - 1)
    for (row, process) in zip(rows.dropFirst(), shown) {
      draw(process, places, row: row, on: &canvas)
    }
    drawSum(places, hiddenCount: processes.count - shown.count, on: &canvas)
  }

  /// Returns the processes to show in a table with room for `count` processes. Processes with problems have
  /// priority.
  static func chosen(of processes: [ProcessReport], count: Int) -> [ProcessReport] {
    let first = processes.filter { $0.connection != .live }
    let others = processes.filter { $0.connection == .live }
    return (first + others).prefix(count).sorted { $0.number < $1.number }
  }

  /// The positions of the table's columns. If there is not enough room, columns of numbers are left out, the
  /// last one first.
  private struct Places {
    let number: Range<Int>
    /// The column of the host; `nil` if all processes run on this machine.
    let host: Range<Int>?
    let processID: Range<Int>
    let program: Range<Int>
    let state: Range<Int>
    let counts: [Range<Int>]

    /// Computes the positions.
    ///
    /// - Parameters:
    ///   - columns: The columns of the table.
    ///   - hostWidth: The width of the longest host; 0 if all processes run on this machine.
    init(in columns: Range<Int>, hostWidth: Int) {
      number = 1..<4
      let isNarrow = columns.count < ProcessTableView.roomy
      let hostEnd = 5 + min(max(hostWidth, 4), isNarrow ? 10 : ProcessTableView.widestHost)
      host = hostWidth == 0 ? nil : 5..<hostEnd
      let idStart = hostWidth == 0 ? 5 : hostEnd + 1
      processID = idStart..<idStart + 7
      let stateWidth = columns.count >= ProcessTableView.roomy ? 16 : 13
      let room = columns.upperBound - 1 - processID.upperBound - 1 - stateWidth
      var widths: [Int] = []
      for count in countsOfProcesses {
        guard widths.reduce(9 + count.width, +) <= room else { break }
        widths.append(count.width)
      }
      let programWidth = min(20, room - widths.reduce(0, +))
      program = processID.upperBound + 1..<processID.upperBound + programWidth
      state = program.upperBound + 1..<program.upperBound + 1 + stateWidth
      var start = state.upperBound
      counts = widths.map { width in
        defer { start += width }
        return start..<start + width
      }
    }
  }

  private func drawHeadings(_ places: Places, on canvas: inout Canvas) {
    let row = rows.lowerBound
    let style = Style(.dim)
    canvas.writeRight("#", row: row, columns: places.number, style: style)
    if let host = places.host { canvas.write("HOST", row: row, columns: host, style: style) }
    canvas.writeRight("PID", row: row, columns: places.processID, style: style)
    canvas.write("PROGRAM", row: row, columns: places.program, style: style)
    canvas.write("STATE", row: row, columns: places.state, style: style)
    for (count, place) in zip(countsOfProcesses, places.counts) {
      canvas.writeRight(count.title, row: row, columns: place, style: style)
    }
  }

  private func draw(
    _ process: ProcessReport, _ places: Places, row: Int, on canvas: inout Canvas
  ) {
    let style = Style(process.isGone ? .dim : .text)
    canvas.writeRight("\(process.number)", row: row, columns: places.number, style: style)
    if let host = places.host {
      canvas.write(process.hello.host, row: row, columns: host, style: style)
    }
    canvas.writeRight(
      "\(process.hello.processID)", row: row, columns: places.processID, style: style)
    canvas.write(process.hello.processName, row: row, columns: places.program, style: style)
    canvas.write([state(of: process, places)], row: row, columns: places.state)
    drawCounts(
      process.counts, lostChanges: process.lostChanges, places, row: row, isDim: process.isGone,
      on: &canvas)
  }

  private func state(of process: ProcessReport, _ places: Places) -> Span {
    switch process.connection {
    case .live:
      let isReadOnly = dashboard.configuration.isReadOnly || process.hello.isReadOnly
      return Span(isReadOnly ? "ro" : "rw")
    case .silent(let duration):
      return Span("SILENT \(TimeText.coarse(duration))", .warning, isBold: true)
    case .reconnecting: return Span("RECONNECTING", .warning, isBold: true)
    case .ended(let moment, _):
      let time = dashboard.shown.hello.map { " \(TimeText.timeOfDay(moment, of: $0))" }
      let isRoomy = places.state.count > 15
      return Span("ENDED\(isRoomy ? time ?? "" : "")", .warning, isBold: true)
    }
  }

  private func drawSum(_ places: Places, hiddenCount: Int, on canvas: inout Canvas) {
    let style = Style(.strong, isBold: true)
    canvas.writeRight("sum", row: sum, columns: places.number, style: style)
    let more = hiddenCount > 0 ? ", +\(hiddenCount) not shown" : ""
    canvas.write(
      "\(processes.count) processes\(more)", row: sum,
      columns: (places.host ?? places.processID).lowerBound..<places.state.upperBound,
      style: Style(.strong))
    let monitored = dashboard.shown
    drawCounts(
      monitored.counts, lostChanges: monitored.lostChanges, places, row: sum, isDim: false,
      on: &canvas)
  }

  private func drawCounts(
    _ counts: StateCounts, lostChanges: UInt64, _ places: Places, row: Int, isDim: Bool,
    on canvas: inout Canvas
  ) {
    for (count, place) in zip(countsOfProcesses, places.counts) {
      let value = count.value(counts, lostChanges)
      canvas.writeRight(
        CountText.text(value, cells: place.count - 1), row: row, columns: place,
        style: Style(isDim || value == 0 ? .dim : count.role))
    }
  }
}

/// A column with a number for each process.
private struct ProcessCount: Sendable {
  let title: String
  let width: Int
  let role: Role
  let value: @Sendable (StateCounts, UInt64) -> Int
}

/// The columns of numbers in the table of processes, the most important first.
private let countsOfProcesses = [
  ProcessCount(title: "EXEC", width: 5, role: .executing) { counts, _ in counts.executing },
  ProcessCount(title: "READY", width: 6, role: .ready) { counts, _ in counts.ready },
  ProcessCount(title: "WAIT", width: 7, role: .waiting) { counts, _ in counts.waiting },
  ProcessCount(title: "FAIL", width: 5, role: .failed) { counts, _ in counts.failed },
  ProcessCount(title: "FIN", width: 8, role: .finished) { counts, _ in counts.finished },
  ProcessCount(title: "CANC", width: 6, role: .cancelled) { counts, _ in counts.cancelled },
  ProcessCount(title: "UNREC", width: 6, role: .warning) { _, lost in Int(clamping: lost) },
]

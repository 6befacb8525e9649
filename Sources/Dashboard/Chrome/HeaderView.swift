// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the rows above the list: the watched process, and the state of its queues.
struct HeaderView {
  let dashboard: Dashboard
  let layout: Layout

  func draw(on canvas: inout Canvas) {
    drawHeader(on: &canvas)
    drawBanners(on: &canvas)
    if let row = layout.bar { drawBar(row, on: &canvas) }
    if let rows = layout.processes, let row = layout.counts {
      ProcessTableView(dashboard: dashboard, rows: rows, sum: row).draw(on: &canvas)
    } else if let row = layout.counts {
      drawCounts(row, on: &canvas)
    }
    if let row = layout.rate {
      RateView(dashboard: dashboard, hasBars: layout.graph == nil).draw(row: row, on: &canvas)
    }
    if let row = layout.queues { drawQueues(row, on: &canvas) }
    if let rule = layout.graphRule, let rows = layout.graph {
      ThroughputView(dashboard: dashboard, rule: rule, rows: rows).draw(on: &canvas)
    }
  }

  private var monitored: MonitoredState { dashboard.shown }

  /// A part of the header's text, such as the uptime.
  private struct Piece {
    let span: Span
    /// The rank of this part of the header. If there is not enough room, the parts with the lowest ranks are
    /// removed first. A part without a rank is never removed.
    var rank: Int?
  }

  /// The minimum delay to be shown: if the monitor's updates are late by at least this time, the header shows
  /// the delay.
  private static let lateness = Duration.milliseconds(500)

  /// The minimum width of a header with the long text about events that were not recorded.
  private static let lostThreshold = 80

  /// The parts of the header that show how the process is watched, and the state of the connection.
  private var connection: [Piece] {
    let live = dashboard.live
    func warning(_ text: String) -> Piece { Piece(span: Span(text, .warning, isBold: true)) }
    if let replay = dashboard.replay {
      let role: Role = replay.isPlaying ? .executing : .warning
      return [Piece(span: Span("REPLAY \(replay.words)", role, isBold: true))]
    }
    if live.endedReason != nil {
      guard dashboard.isAttached else { return [warning("ENDED")] }
      // If several processes are watched, the dashboard does not know which of them have exited.
      let word = live.processes.isEmpty ? "EXITED" : "ENDED"
      guard let hello = live.hello, let endedAt = dashboard.connection.endedAt else {
        return [warning(word)]
      }
      return [warning("\(word) \(TimeText.timeOfDay(endedAt, of: hello))")]
    }
    if live.disconnectedReason != nil { return [warning("RECONNECTING")] }
    guard live.hello != nil else {
      let words = dashboard.connection.source == nil ? "not attached" : "CONNECTING"
      return [Piece(span: Span(words, .warning))]
    }
    var pieces: [Piece] = []
    if dashboard.isAttached {
      // If several processes are watched, some may be read-only. The table shows the mode of each process.
      let modes = Set(live.processes.filter { $0.ended == nil }.map(\.hello.isReadOnly))
      let mode = dashboard.isReadOnly ? "ro" : modes.count > 1 ? "rw/ro" : "rw"
      pieces.append(Piece(span: Span("ATTACHED \(mode)"), rank: 9))
    }
    if dashboard.paused != nil {
      pieces.append(warning("PAUSED"))
    } else if live.silence > .zero {
      pieces.append(warning("SILENT \(TimeText.coarse(live.silence))"))
    } else {
      let refresh = dashboard.screen.refresh
      let words = refresh.isDefault ? "LIVE" : "LIVE \(refresh.words)"
      // An attached process is live unless the header shows another state. Therefore a narrow header can
      // leave out the word "live".
      let rank = dashboard.isAttached ? 5 : nil
      pieces.append(Piece(span: Span(words, .executing, isBold: true), rank: rank))
    }
    pieces += troubles.map { warning($0) }
    if live.behind >= Self.lateness {
      pieces.append(warning("behind \(TimeText.coarse(live.behind))"))
    }
    return pieces
  }

  /// Words for the numbers of processes that do not answer, are reconnecting or have ended.
  private var troubles: [String] {
    let processes = dashboard.live.processes
    let counts = [
      (processes.count { if case .silent = $0.connection { true } else { false } }, "SILENT"),
      (processes.count { $0.connection == .reconnecting }, "RECONNECTING"),
      (processes.count { $0.ended != nil }, "ENDED"),
    ]
    return counts.compactMap { count, word in count == 0 ? nil : "\(count) \(word)" }
  }

  private func leftPieces(in canvas: Canvas) -> [Piece] {
    var pieces = [Piece(span: Span("opq-top", .strong, isBold: true), rank: 6)]
    let title = title(in: canvas)
    if !title.isEmpty { pieces.append(Piece(span: Span(title, .strong))) }
    pieces += connection
    if !dashboard.isAttached, dashboard.replay == nil, dashboard.refusal == .readOnly {
      pieces.append(Piece(span: Span("read-only", .warning)))
    }
    guard let hello = monitored.hello else { return pieces }
    // If several processes are watched, the header shows no uptime, because the processes started at
    // different times.
    if monitored.processes.isEmpty {
      let age = TimeText.duration(dashboard.shownTime - hello.processStarted)
      pieces.append(Piece(span: Span("up \(age)"), rank: 2))
    }
    let queueCount = monitored.queues.count
    let queues = CountText.text(queueCount, "queue")
    pieces.append(Piece(span: Span(queues, .dim), rank: 1))
    return pieces
  }

  private func rightPieces(columns: Int) -> [Piece] {
    guard let hello = monitored.hello else { return [] }
    var pieces: [Piece] = []
    if monitored.lostChanges > 0 {
      // If the header is too narrow, the time of day is removed before the number of state changes that were
      // not recorded.
      let count = CountText.text(Int(clamping: monitored.lostChanges))
      let words =
        columns < Self.lostThreshold
        ? "not recorded: \(count)" : "events not recorded: \(count) (counts exact)"
      pieces.append(Piece(span: Span(words, .warning), rank: 7))
    }
    if monitored.counts.failed > 0 {
      let words = "\(CountText.text(monitored.counts.failed)) failed"
      pieces.append(Piece(span: Span(words, .failed, isBold: true), rank: 7))
    }
    let warningCount = monitored.warnings.count
    if warningCount > 0 {
      pieces.append(
        Piece(span: Span("! \(CountText.text(warningCount))", .warning, isBold: true), rank: 8))
    }
    let time = TimeText.timeOfDay(dashboard.shownTime, of: hello)
    pieces.append(Piece(span: Span(time, .strong), rank: 4))
    return pieces
  }

  private func drawHeader(on canvas: inout Canvas) {
    var left = leftPieces(in: canvas)
    var right = rightPieces(columns: canvas.columns.count)
    let gap = 2
    func width(_ pieces: [Piece]) -> Int {
      pieces.reduce(0) { $0 + canvas.glyphs.width(of: $1.span.text) + gap }
    }
    while width(left) + width(right) > canvas.columns.count {
      guard let rank = (left + right).compactMap(\.rank).min() else { break }
      left.removeAll { $0.rank == rank }
      right.removeAll { $0.rank == rank }
    }
    let end = canvas.columns.upperBound
    var column = 1
    func write(_ pieces: [Piece]) {
      for piece in pieces where column < end {
        column = canvas.write([piece.span], row: layout.header, columns: column..<end) + gap
      }
    }
    write(left)
    column = max(column, right.isEmpty ? end : end - (width(right) - gap + 1))
    write(right)
  }

  private func title(in canvas: Canvas) -> String {
    if !monitored.processes.isEmpty { return "\(monitored.processes.count) processes" }
    let isDemo = dashboard.connection.source == .demo && !dashboard.configuration.runsJobs
    let hasTitle = isDemo || dashboard.showsJobs
    let ownTitle = hasTitle ? dashboard.configuration.title : ""
    let name = ownTitle.isEmpty ? monitored.hello?.processName ?? "" : ownTitle
    let limit = max(8, canvas.columns.count / 4)
    let clipped = name.clipped(to: limit)
    guard let hello = monitored.hello else { return clipped }
    let id = hello.processID == 0 ? "" : "[\(hello.processID)]"
    return "\(clipped)\(id)\(String(onHost: hello.host, limit: limit))"
  }

  /// Draws each deadlock and its fix side by side in a row below the header.
  private func drawBanners(on canvas: inout Canvas) {
    let text = WarningText(dashboard: dashboard, glyphs: canvas.glyphs)
    for (row, warning) in zip(layout.banners, monitored.warnings.lazy.filter(\.isDeadlock)) {
      canvas.fill(row: row, columns: canvas.columns, style: Style(.warning, isReversed: true))
      let glyphs = canvas.glyphs
      let label = " DEADLOCK "
      func width(_ parts: (String, String)) -> Int {
        glyphs.width(of: label + parts.0) + glyphs.width(of: parts.1)
      }
      let (long, short) = (text.sentence(warning), text.shortSentence(warning))
      let ways = [text.wayOut(warning), text.shortWayOut(warning)].map {
        "  \(glyphs.arrow) \($0)"
      }
      let candidates = [(long, ways[0]), (long, ways[1]), (short, ways[0]), (short, ways[1])]
      let (sentence, wayOut) =
        candidates.first { width($0) <= canvas.columns.count } ?? (short, ways[1])
      // The fix directly follows the sentence. If there is not enough room, the sentence is cut.
      let strong = Style(.warning, isReversed: true, isBold: true)
      let end = canvas.columns.upperBound
      let room = end - min(glyphs.width(of: wayOut), canvas.columns.count / 2)
      var column = canvas.write(label, row: row, columns: 0..<room, style: strong)
      column = canvas.write(
        sentence, row: row, columns: column..<room, style: Style(.warning, isReversed: true))
      canvas.write(wayOut, row: row, columns: column..<end, style: strong)
    }
  }

  private func drawBar(_ row: Int, on canvas: inout Canvas) {
    var columns = canvas.columns
    if !canvas.glyphs.isUnicode {
      // ASCII has no character for a solid block. Therefore brackets mark the ends of the bar.
      canvas.put("[", row: row, column: 0, style: Style(.dim))
      canvas.put("]", row: row, column: columns.upperBound - 1, style: Style(.dim))
      columns = 1..<columns.upperBound - 1
    }
    var column = columns.lowerBound
    for (share, width) in ProportionBar(counts: monitored.counts, width: columns.count).cells {
      canvas.fill(
        canvas.glyphs.share(of: share), row: row, columns: column..<column + width,
        style: Style(share.role))
      column += width
    }
  }

  private func drawCounts(_ row: Int, on canvas: inout Canvas) {
    let columns = canvas.columns.dropFirst()
    canvas.write(
      CountLine(monitored.counts).spans(cells: columns.count), row: row, columns: columns)
  }

  /// Draws the queues. If there is not enough room for all, the suspended queues are drawn first of all.
  private func drawQueues(_ row: Int, on canvas: inout Canvas) {
    let queues = monitored.queues
    let (end, gap) = (canvas.columns.upperBound, 3)
    var chosen: [Int: [Span]] = [:]
    var column = 1
    let order = dashboard.queuesByImportance
    for (rank, index) in order.enumerated() {
      let parts = queueParts(queues[index], glyphs: canvas.glyphs)
      let width = parts.reduce(0) { $0 + canvas.glyphs.width(of: $1.text) }
      // Some queues have no room in the row. The text that counts these queues needs more cells if some of
      // them are suspended.
      let next = rank + 1 < order.count ? queues[order[rank + 1]] : nil
      let reserve = next.map { monitored.isSuspended($0) ? 22 : 8 } ?? 0
      guard column + width + reserve <= end else { break }
      chosen[index] = parts
      column += width + gap
    }
    column = 1
    for index in chosen.keys.sorted() {
      column = canvas.write(chosen[index] ?? [], row: row, columns: column..<end) + gap
    }
    guard chosen.count < queues.count else { return }
    let words = dashboard.wordsForOtherQueues(than: chosen.keys)
    let isUrgent = words.contains("SUSPENDED")
    canvas.write([Span(words, isUrgent ? .held : .dim)], row: row, columns: column..<end)
  }

  private func queueParts(_ queue: QueueReport, glyphs: Glyphs) -> [Span] {
    let name = queue.label.clipped(to: 12)
    let running = CountText.text(queue.counts.executing)
    if monitored.isSuspended(queue) {
      let exec = queue.counts.executing > 0 ? ", \(running) exec" : ""
      return [
        Span("\(name) "), Span("SUSPENDED", .held, isBold: true),
        Span(" \(CountText.text(queue.counts.held)) held\(exec)", .held),
      ]
    }
    return [Span("\(name) ")] + QueueSlots(queue, in: dashboard, cells: 8).spans(glyphs)
  }
}

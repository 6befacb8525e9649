// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A sentence about the ready operation that a queue starts next, and about what it waits for.
struct QueueNextText {
  private let queue: QueueReport
  private let dashboard: Dashboard
  private let glyphs: Glyphs

  /// Creates the sentence about a queue.
  init(_ queue: QueueReport, in dashboard: Dashboard, glyphs: Glyphs) {
    self.queue = queue
    self.dashboard = dashboard
    self.glyphs = glyphs
  }

  private var monitored: MonitoredState { dashboard.shown }

  /// Draws the sentence. If there is not enough room, the reason is shorter or left out, and the name of the operation is
  /// cut.
  func draw(row: Int, columns: Range<Int>, on canvas: inout Canvas) {
    guard let id = monitored.runOrders[queue.id]?.ready.first, !monitored.hasEnded(queue) else {
      canvas.write([withoutOperation(cells: columns.count)], row: row, columns: columns)
      return
    }
    let start = canvas.write(
      [Span("next: "), Span("\(id)", .strong, isBold: true)], row: row, columns: columns)
    let reason = fitting(reasons(of: id, isOne: true), columns.upperBound - start) ?? ""
    let reasonStart = columns.upperBound - glyphs.width(of: reason)
    var end = start
    // The name needs at least a space and three cells.
    if let title = monitored.operations[id]?.title, reasonStart - start >= 4 {
      let room = start + 1..<min(reasonStart, start + 1 + Self.longestTitle)
      end = canvas.write(title.clipped(from: 0, toFill: room.count), row: row, columns: room)
    }
    canvas.write(reason, row: row, columns: end..<columns.upperBound)
  }

  /// The maximum number of cells of the operation's name.
  private static let longestTitle = 60

  /// Returns the first text that has room; `nil` if none has.
  private func fitting(_ texts: [String], _ cells: Int) -> String? {
    texts.first { glyphs.width(of: $0) <= cells }
  }

  /// The sentence if the next operation is unknown, or if there is none.
  private func withoutOperation(cells: Int) -> Span {
    let role: Role = monitored.hasEnded(queue) || queue.counts.ready == 0 ? .dim : .text
    return Span(fitting(textsWithoutOperation, cells) ?? textsWithoutOperation.last ?? "", role)
  }

  /// The sentences if the next operation is unknown, or if there is none, the longest first.
  private var textsWithoutOperation: [String] {
    if monitored.hasEnded(queue) {
      return ["the process of the queue has ended", "its process has ended", "ended"]
    }
    let (ready, waiting) = (queue.counts.ready, queue.counts.waiting)
    if ready > 0 {
      let count = "\(CountText.text(ready)) ready"
      let words = "\(count) operation\(ready == 1 ? "" : "s")"
      return reasons(of: nil, isOne: ready == 1).flatMap { [words + $0, count + $0] } + [
        words, count,
      ]
    }
    let none = ["no operation is ready", "none is ready"]
    guard waiting > 0 else { return none }
    let verb = waiting == 1 ? "is" : "are"
    return ["\(none[0]); \(CountText.text(waiting)) \(verb) waiting"] + none
  }

  /// Returns what the next operation waits for, as the end of a sentence about one or several operations, with a space
  /// before it, the longest form first; empty if this is not known. `id` is the next operation; `nil` if it is unknown.
  private func reasons(of id: OperationReport.ID?, isOne: Bool) -> [String] {
    knownReasons(of: id, isOne: isOne).map { " \($0)" }
  }

  private func knownReasons(of id: OperationReport.ID?, isOne: Bool) -> [String] {
    let waits = isOne ? "waits" : "wait"
    if queue.isSuspended {
      let key = dashboard.isReadOnly ? "" : " (S)"
      return [
        "\(isOne ? "starts" : "start") after the queue is resumed\(key)",
        "\(waits): suspended\(key)",
      ]
    }
    let details = id.flatMap { self.details(of: $0) }
    if let ahead = details?.first(where: { $0.kind == .barrierAhead }) {
      let barrier = ahead.operations.first.map { " \($0)" } ?? ""
      return [
        "\(waits) until the barrier\(barrier) has finished", "\(waits) for the barrier\(barrier)",
        "\(waits) for a barrier",
      ]
    }
    if queue.width == 0 {
      return ["cannot start, because the width of the queue is 0", "cannot start: width 0"]
    }
    let slot = "\(waits) for a free slot"
    if let width = queue.width, queue.counts.executing >= width {
      let slots = "(\(CountText.text(queue.counts.executing))/\(CountText.text(width)))"
      return monitored.deadlocked.queues.contains(queue.id)
        ? ["\(slot); a deadlock holds all slots \(slots)", "\(waits): deadlock \(slots)"]
        : ["\(slot); all are in use \(slots)", "\(slot) \(slots)", slot]
    }
    guard let kinds = details?.map(\.kind) else { return [] }
    if let limit = queue.startLimit, kinds.contains(.startLimitReached) {
      return [
        "\(waits) for the limit of starts, \(limit.text)", "\(waits) for the limit \(limit.text)",
        "\(waits) for the limit",
      ]
    }
    // Without the details of the operation, it is not known whether a barrier is ahead of it.
    return [kinds.contains(.noFreeSlot) ? slot : "can start now"]
  }

  private func details(of id: OperationReport.ID) -> [OperationDetail.Reason]? {
    guard let detail = monitored.detail, detail.id == id else { return nil }
    return detail.reasons
  }
}

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

  /// Draws the sentence. If there is not enough room, the name of the operation is cut.
  func draw(row: Int, columns: Range<Int>, on canvas: inout Canvas) {
    guard let id = monitored.runOrders[queue.id]?.ready.first, !monitored.hasEnded(queue) else {
      canvas.write([withoutOperation], row: row, columns: columns)
      return
    }
    let reason = reason(of: id, isOne: true)
    let start = canvas.write(
      [Span("next: "), Span("\(id)", .strong, isBold: true)], row: row, columns: columns)
    let reasonStart = max(start, columns.upperBound - glyphs.width(of: reason))
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

  /// The sentence if the next operation is unknown, or if there is none.
  private var withoutOperation: Span {
    if monitored.hasEnded(queue) { return Span("the process of the queue has ended", .dim) }
    let ready = queue.counts.ready
    guard ready > 0 else { return Span(withoutReady, .dim) }
    let noun = ready == 1 ? "ready operation" : "ready operations"
    return Span("\(CountText.text(ready)) \(noun)\(reason(of: nil, isOne: ready == 1))")
  }

  /// The sentence if no operation is ready.
  private var withoutReady: String {
    let count = queue.counts.waiting
    guard count > 0 else { return "no operation is ready" }
    return "no operation is ready; \(CountText.text(count)) \(count == 1 ? "is" : "are") waiting"
  }

  /// Returns what the next operation waits for, as the end of a sentence about one or several operations, with a space
  /// before it; empty if this is not known. `id` is the next operation; `nil` if it is unknown.
  private func reason(of id: OperationReport.ID?, isOne: Bool) -> String {
    knownReason(of: id, isOne: isOne).map { " \($0)" } ?? ""
  }

  private func knownReason(of id: OperationReport.ID?, isOne: Bool) -> String? {
    let waits = isOne ? "waits" : "wait"
    if queue.isSuspended {
      let key = dashboard.isReadOnly ? "" : " (S)"
      return "\(isOne ? "starts" : "start") after the queue is resumed\(key)"
    }
    if let id, let barrier = barrier(ahead: id) { return barrier }
    if queue.width == 0 { return "cannot start, because the width of the queue is 0" }
    if let width = queue.width, queue.counts.executing >= width {
      let slots = "\(CountText.text(queue.counts.executing))/\(CountText.text(width))"
      return monitored.deadlocked.queues.contains(queue.id)
        ? "\(waits) for a free slot; a deadlock holds all slots (\(slots))"
        : "\(waits) for a free slot; all are in use (\(slots))"
    }
    let kinds = id.flatMap { reasons(of: $0) }?.map(\.kind)
    if let limit = queue.startLimit, kinds?.contains(.startLimitReached) ?? true {
      return "\(waits) for the limit of starts, \(limit.text)"
    }
    // Without the details of the operation, it is not known whether a barrier is ahead of it.
    return kinds.map { $0.contains(.noFreeSlot) ? "\(waits) for a free slot" : "can start now" }
  }

  private func reasons(of id: OperationReport.ID) -> [OperationDetail.Reason]? {
    guard let detail = monitored.detail, detail.id == id else { return nil }
    return detail.reasons
  }

  private func barrier(ahead id: OperationReport.ID) -> String? {
    guard let reason = reasons(of: id)?.first(where: { $0.kind == .barrierAhead }) else {
      return nil
    }
    let barrier = reason.operations.first.map { " \($0)" } ?? ""
    return "waits until the barrier\(barrier) has finished"
  }
}

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

  /// The sentence.
  var spans: [Span] {
    if monitored.hasEnded(queue) { return [Span("the process of the queue has ended", .dim)] }
    guard let id = monitored.runOrders[queue.id]?.ready.first else {
      return [Span(withoutOperation, .dim)]
    }
    let title = monitored.operations[id].map { " \(glyphs.clipped($0.title, to: 24))" } ?? ""
    return [
      Span("next: "), Span("\(id)", .strong, isBold: true), Span("\(title) \(reason(of: id))"),
    ]
  }

  /// The sentence if no ready operation is known.
  private var withoutOperation: String {
    let counts = queue.counts
    if counts.ready > 0 {
      return counts.held > 0
        ? "ready operations start after the queue is resumed"
        : "the order of the ready operations is not known"
    }
    guard counts.waiting > 0 else { return "no operation is ready" }
    return "no operation is ready; \(CountText.text(counts.waiting)) "
      + (counts.waiting == 1 ? "is waiting" : "are waiting")
  }

  /// Returns what the next operation waits for.
  private func reason(of id: OperationReport.ID) -> String {
    if queue.isSuspended {
      let key = dashboard.isReadOnly ? "" : " (S)"
      return "starts after the queue is resumed\(key)"
    }
    if let barrier = barrier(ahead: id) { return barrier }
    if queue.width == 0 { return "does not start, because the width of the queue is 0" }
    if let width = queue.width, queue.counts.executing >= width {
      let slots = "\(CountText.text(queue.counts.executing))/\(CountText.text(width))"
      return monitored.deadlocked.queues.contains(queue.id)
        ? "waits for a free slot; a deadlock holds all slots (\(slots))"
        : "waits for a free slot; all are in use (\(slots))"
    }
    if let limit = queue.startLimit, waitsForLimit(id) {
      return "waits for the limit of starts, \(limit.text)"
    }
    let isBlocked = reasons(of: id)?.contains { $0.kind == .noFreeSlot } ?? false
    return isBlocked ? "waits for a free slot" : "can start now"
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

  /// Returns whether an operation that could have a slot waits for the limit of starts. Nothing else is known to keep
  /// it from starting until the process has reported its detail.
  private func waitsForLimit(_ id: OperationReport.ID) -> Bool {
    reasons(of: id)?.contains { $0.kind == .startLimitReached } ?? true
  }
}

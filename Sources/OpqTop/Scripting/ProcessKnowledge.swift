// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorClient
import MonitorProtocol

/// The data that a process has sent for an ``Inquiry``.
struct ProcessKnowledge {
  /// The time in which a newly watched process sends its operations, unless there are very many.
  static let patience = Duration.seconds(2)
  /// The maximum time for very many operations.
  static let longestPatience = Duration.seconds(10)
  /// The interval for checking whether this time has passed.
  private static let lookInterval = Duration.milliseconds(100)

  /// The received data, with the dashboard's texts.
  private(set) var words: PlainText

  /// The moment of a recording to which all data belong; `nil` for a process.
  var recordedTime: MonitorTime?

  private var clockLead = Duration.zero
  private var greeted: MonitorTime?
  private var firstUpdate: MonitorTime?

  init(_ form: InquiryForm) { words = PlainText(isUnicode: form.isUnicode) }

  /// The received data.
  private var state: ProcessState { words.source.process }
  /// The greeting of the process; `nil` before it has arrived.
  var hello: Hello? { words.source.hello }
  /// The queues of the process.
  var queues: [QueueReport] { state.queues }
  /// The requested operations, as last reported.
  var operations: OperationStore { state.operations }
  /// The detail of the requested operation.
  var detail: OperationDetail? { state.latest?.detail }

  /// Whether an update has arrived.
  var isFilled: Bool { hello != nil && firstUpdate != nil }

  /// Handles a greeting or an update.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) {
    words.take(message)
    switch message {
    case .hello(let hello):
      greeted = greeted ?? now
      clockLead = hello.clockLead(at: now)
    case .update:
      firstUpdate = firstUpdate ?? now
    case .commandResult, .silent, .disconnected, .ended: break
    }
  }

  /// Returns whether operations that were not reported until now are unknown to the process.
  func isComplete(at now: MonitorTime) -> Bool {
    if recordedTime != nil { return isFilled }
    guard let firstUpdate else {
      return greeted.map { now - $0 >= Self.longestPatience } ?? false
    }
    let keptCount = state.latest?.keptCount ?? 0
    let isAll = keptCount >= state.counts.unfinished
    return now - firstUpdate >= (isAll ? Self.patience : Self.longestPatience)
  }

  /// Returns when to check whether the data are complete; `nil` before the greeting, or if they
  /// are.
  func nextLook(at now: MonitorTime) -> MonitorTime? {
    guard let start = firstUpdate ?? greeted, !isComplete(at: now) else { return nil }
    return max(start + Self.patience, now + Self.lookInterval)
  }

  /// Returns a moment on the process's clock.
  func time(at now: MonitorTime) -> MonitorTime { recordedTime ?? now + clockLead }

  /// Returns a frame with these operations; `nil` before the greeting.
  func frame(of ids: some Sequence<OperationReport.ID>, at now: MonitorTime) -> BatchFrame? {
    hello.map { hello in
      BatchFrame(
        hello: hello, time: time(at: now), queues: queues,
        operations: Set(ids).compactMap { operations[$0] }, warnings: state.warnings, lostChanges: 0
      )
    }
  }

  /// Returns whether operations wait for an operation that is not in a queue, which therefore has not
  /// finished.
  func isAwaitedOutside(_ id: OperationReport.ID) -> Bool {
    state.warnings.contains { $0.kind == .neverEnqueuedDependency && $0.awaited.contains(id) }
  }

  /// Returns whether an unknown operation is older than a known one: it has left its queue, or was
  /// never in one. Ids are given out in ascending order.
  func hasPassed(_ id: OperationReport.ID) -> Bool {
    id < operations.largestID && !isAwaitedOutside(id)
  }

  /// Returns an interest in these operations, and in the operation with the largest id.
  static func interest(in ids: some Sequence<OperationReport.ID>) -> Interest {
    Interest(
      order: SortOrder(by: .id, isReversed: true), rowLimit: 1, operations: Set(ids))
  }
}

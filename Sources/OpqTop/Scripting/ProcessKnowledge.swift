// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorClient
import MonitorProtocol

/// The data that a process has sent to an ``Inquiry``.
struct ProcessKnowledge {
  /// The time within which a process sends all its operations after its first update, unless it has
  /// very many.
  static let patience = Duration.seconds(2)
  /// The maximum time within which a process with very many operations sends all of them.
  static let longestPatience = Duration.seconds(10)
  /// The interval at which the inquiry checks whether the process has had enough time to send all
  /// its operations.
  private static let lookInterval = Duration.milliseconds(100)

  /// The data that the process has sent, and the dashboard's texts about them.
  private(set) var words: PlainText

  /// If the data come from a recording, the moment that they describe; `nil` for a process.
  var recordedTime: MonitorTime?

  private var clockLead = Duration.zero
  private var greeted: MonitorTime?
  private var firstUpdate: MonitorTime?

  init(_ form: InquiryForm) { words = PlainText(isUnicode: form.isUnicode) }

  /// The state of the process according to its updates.
  private var state: ProcessState { words.source.process }
  /// The greeting of the process; `nil` before it has arrived.
  var hello: Hello? { words.source.hello }
  /// The queues of the process.
  var queues: [QueueReport] { state.queues }
  /// The requested operations with their last reports.
  var operations: OperationStore { state.operations }
  /// The details of the operation that the inquiry requests, such as the reasons why it does not
  /// run.
  var detail: OperationDetail? { state.latest?.detail }

  /// Returns the last log lines of an operation that the inquiry requests; `nil` before they have
  /// arrived.
  func log(of id: OperationReport.ID) -> OperationLog? { state.logs[id] }

  /// Whether the first update has arrived.
  var isFilled: Bool { hello != nil && firstUpdate != nil }

  /// Processes a greeting or an update.
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

  /// Returns whether the data are complete. If they are, the process does not know the operations
  /// that it has not reported.
  func isComplete(at now: MonitorTime) -> Bool {
    if recordedTime != nil { return isFilled }
    guard let firstUpdate else {
      return greeted.map { now - $0 >= Self.longestPatience } ?? false
    }
    let keptCount = state.latest?.keptUnfinishedCount ?? 0
    let isAll = keptCount >= state.counts.unfinished
    return now - firstUpdate >= (isAll ? Self.patience : Self.longestPatience)
  }

  /// Returns the time of the next check whether the data are complete; `nil` if they are complete,
  /// or before the greeting.
  func nextLook(at now: MonitorTime) -> MonitorTime? {
    guard let start = firstUpdate ?? greeted, !isComplete(at: now) else { return nil }
    return max(start + Self.patience, now + Self.lookInterval)
  }

  /// Converts a moment to the clock of the watched process.
  func time(at now: MonitorTime) -> MonitorTime { recordedTime ?? now + clockLead }

  /// Returns a frame with these operations; `nil` before the process's greeting.
  func frame(of ids: some Sequence<OperationReport.ID>, at now: MonitorTime) -> BatchFrame? {
    let known = operations
    return hello.map { hello in
      BatchFrame(
        hello: hello, time: time(at: now), queues: queues,
        operations: Set(ids).compactMap { operations[$0] }, warnings: state.warnings,
        lostChanges: 0,
        report: { known[$0] })
    }
  }

  /// Returns whether other operations wait for this operation although it is not in a queue. Such
  /// an operation has not finished.
  func isAwaitedOutside(_ id: OperationReport.ID) -> Bool {
    state.warnings.contains { $0.kind == .neverEnqueuedDependency && $0.awaited.contains(id) }
  }

  /// Returns whether an operation that is not reported has left its queue or was never in a queue.
  /// Ids are assigned in ascending order, so this is known if an operation with a larger id was
  /// reported.
  func hasPassed(_ id: OperationReport.ID) -> Bool {
    id < operations.largestID && !isAwaitedOutside(id)
  }

  /// Returns an interest that requests these operations and the operation with the largest id.
  static func interest(in ids: some Sequence<OperationReport.ID>) -> Interest {
    Interest(
      order: SortOrder(by: .id, isReversed: true), rowLimit: 1, operations: Set(ids))
  }
}

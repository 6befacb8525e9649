// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorClient
import MonitorProtocol

/// What a process has told an ``Inquiry``.
struct ProcessKnowledge {
  /// A process that is watched only now tells of what it has within this time, unless that is very much.
  static let patience = Duration.seconds(2)
  /// Very much does not take longer than this.
  static let longestPatience = Duration.seconds(10)
  /// How often it is looked whether that is over.
  private static let lookInterval = Duration.milliseconds(100)

  private(set) var hello: Hello?
  /// What it has told, in the dashboard's words.
  private(set) var words: PlainText

  /// The only moment of which anything is told, where that is a recording's; else `nil`.
  var recordedTime: MonitorTime?

  private var clockLead = Duration.zero
  private var greeted: MonitorTime?
  private var firstUpdate: MonitorTime?

  init(_ form: InquiryForm) { words = PlainText(isUnicode: form.isUnicode) }

  /// What it has told.
  private var state: ProcessState { words.state }
  /// Its queues.
  var queues: [QueueReport] { state.queues }
  /// The operations that were asked for, as they were told last.
  var operations: OperationStore { state.operations }
  /// What is known beyond its report of the operation that was asked for.
  var detail: OperationDetail? { state.latest?.detail }

  /// Whether there was an update.
  var isFilled: Bool { hello != nil && firstUpdate != nil }

  /// Takes in a greeting or an update.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) {
    words.take(message)
    switch message {
    case .hello(let hello):
      self.hello = hello
      greeted = greeted ?? now
      clockLead = hello.clockLead(at: now)
    case .update:
      firstUpdate = firstUpdate ?? now
    case .commandResult, .silent, .disconnected, .ended: break
    }
  }

  /// Whether what was not told of until now is not known to the process.
  func isComplete(at now: MonitorTime) -> Bool {
    if recordedTime != nil { return isFilled }
    guard let firstUpdate else {
      return greeted.map { now - $0 >= Self.longestPatience } ?? false
    }
    let keptCount = state.latest?.keptCount ?? 0
    let isAll = keptCount >= state.counts.unfinished
    return now - firstUpdate >= (isAll ? Self.patience : Self.longestPatience)
  }

  /// When to look whether it is complete; `nil` where nobody has greeted, or it is.
  func nextLook(at now: MonitorTime) -> MonitorTime? {
    guard let start = firstUpdate ?? greeted, !isComplete(at: now) else { return nil }
    return max(start + Self.patience, now + Self.lookInterval)
  }

  /// A moment on the process's clock.
  func time(at now: MonitorTime) -> MonitorTime { recordedTime ?? now + clockLead }

  /// A frame of these operations; `nil` before the process has greeted.
  func frame(of ids: some Sequence<OperationReport.ID>, at now: MonitorTime) -> BatchFrame? {
    hello.map { hello in
      BatchFrame(
        hello: hello, time: time(at: now), queues: queues,
        operations: Set(ids).compactMap { operations[$0] }, warnings: state.warnings, lostChanges: 0
      )
    }
  }

  /// Whether others wait for an operation that is in no queue: it is not over.
  func isAwaitedOutside(_ id: OperationReport.ID) -> Bool {
    state.warnings.contains { $0.kind == .neverEnqueuedDependency && $0.awaited.contains(id) }
  }

  /// Whether an operation that is not known was there before others that are: it is in no queue any more,
  /// or was never in one. Ids count up.
  func hasPassed(_ id: OperationReport.ID) -> Bool {
    id < operations.largestID && !isAwaitedOutside(id)
  }

  /// An interest in these operations, and in the one with the largest id.
  static func interest(in ids: some Sequence<OperationReport.ID>) -> Interest {
    Interest(
      order: SortOrder(by: .id, isReversed: true), rowLimit: 1, operations: Set(ids))
  }
}

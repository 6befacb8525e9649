// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol

/// What a monitor has told so far, for frames to be made of.
struct MonitorPicture {
  /// Why nothing more comes, as a sentence; `nil` while it does. A lost connection is an end, too: frames
  /// of what was known before it would say nothing.
  private(set) var endedReason: String?
  /// Whether the process does not answer: a frame shows what was known before that.
  private(set) var isSilent = false
  /// Whether it was said why nothing more comes.
  var isOverTold = false
  /// How far the clock of the watched process is ahead of this one's.
  private var clockLead = Duration.zero
  private var hello: Hello?
  private var queues: [QueueReport] = []
  private var operations: [OperationReport.ID: OperationReport] = [:]
  private var warnings: [MonitorWarning] = []
  /// How many changes of state its history has lost.
  private(set) var lostChanges: UInt64 = 0
  /// Which operations a frame holds; `nil` for all that the monitor tells of.
  private let filter: OperationFilter?

  /// Creates a picture of which nothing is known.
  init(filter: OperationFilter? = nil) { self.filter = filter }

  /// The process's id; `nil` before it has greeted.
  var processID: Int32? { hello?.processID }

  /// What it adds to a sum: where nothing more comes, only what is over.
  var counts: StateCounts {
    let counts = queues.reduce(StateCounts()) { $0 + $1.counts }
    return endedReason == nil ? counts : counts.over
  }

  /// Whether there is something to see.
  var isFilled: Bool { hello != nil && queues.contains { $0.counts.total > 0 } }

  /// Takes in one message.
  ///
  /// - Parameters:
  ///   - message: The message. What comes after the end is not taken.
  ///   - now: The present time on this process's clock.
  mutating func take(_ message: MonitorMessage, at now: MonitorTime) {
    guard endedReason == nil else { return }
    switch message {
    case .hello(let hello):
      self.hello = hello
      clockLead = hello.clockLead(at: now)
    case .update(let update):
      queues = update.queues
      for report in update.changed { operations[report.id] = report }
      for id in update.removed { operations[id] = nil }
      warnings = update.warnings
      lostChanges = update.lostChanges
    case .silent(let duration):
      isSilent = duration > .zero
    case .commandResult:
      break
    case .disconnected(let reason):
      endedReason = "the connection is lost: \(reason)"
    case .ended(let reason):
      endedReason = reason
    }
  }

  /// The frame of a moment on this process's clock; `nil` before the monitor has said whom it watches.
  func frame(at now: MonitorTime) -> Frame? {
    let time = now + clockLead
    return hello.map { hello in
      Frame(
        hello: hello, time: time, queues: queues, operations: matching(at: time),
        warnings: warnings, lostChanges: lostChanges)
    }
  }

  /// The monitor tells of those that warnings name, too, and ages go on between its messages.
  private func matching(at now: MonitorTime) -> [OperationReport] {
    guard let filter else { return Array(operations.values) }
    let names = Dictionary(queues.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    return operations.values.filter {
      filter.matches($0, queueName: names[$0.queue] ?? "", at: now)
    }
  }
}

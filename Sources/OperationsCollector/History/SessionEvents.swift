// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The events that one session sends, and the number of state changes that are missing from them.
struct SessionEvents {
  /// The maximum number of dependencies and of dependents whose times are compared with the times
  /// of an operation's events.
  private static let neighbourLimit = 1_000

  private var buffer = EventBuffer()
  /// The number of state changes that the session did not send because there were too many at once.
  private(set) var lostChanges: UInt64 = 0
  /// The number of state changes in `lostChanges` that happened while the viewer requested events.
  private(set) var lostEvents: UInt64 = 0
  /// The number of unrecorded state changes in the table that the session has already counted.
  private var knownLostSteps: UInt64

  init(_ interest: Interest, from table: CollectorTable) {
    knownLostSteps = table.lostSteps
    begin(interest, from: table)
  }

  /// Handles that the viewer has changed its request.
  mutating func change(from old: Interest, to new: Interest, in table: CollectorTable) {
    if (old.eventLimit > 0) != (new.eventLimit > 0) || old.filter != new.filter {
      begin(new, from: table)
    } else {
      buffer.setLimit(new.eventLimit)
    }
  }

  /// Begins the history with the recorded events of the running operations and of the last finished
  /// operations.
  private mutating func begin(_ interest: Interest, from table: CollectorTable) {
    let limit = interest.eventLimit
    buffer = EventBuffer()
    buffer.setLimit(limit)
    for id in table.running.prefix(limit) + table.lastFinished(limit) {
      guard let report = table.report(id) else { continue }
      noteSteps(from: nil, to: report, interest.filter, in: table)
    }
  }

  /// Adds the events for the state changes of an operation, if the viewer requests events.
  mutating func noteSteps(
    from old: OperationReport?, to new: OperationReport, _ filter: OperationFilter?,
    in table: CollectorTable
  ) {
    guard buffer.limit > 0 else { return }
    let queueName = table.queues[new.queue]?.name ?? ""
    var changes = OperationSteps(from: old, to: new, at: table.readingTime)
    let dependents = table.entries[new.id]?.dependents ?? []
    changes.order(
      after: new.dependencies.lazy.prefix(Self.neighbourLimit).compactMap { table.report($0) },
      before: dependents.lazy.prefix(Self.neighbourLimit).compactMap { table.report($0.id) })
    for step in changes.steps {
      if let filter {
        var report = new
        report.state = step.new
        guard filter.matches(report, queueName: queueName, at: step.time) else { continue }
      }
      buffer.add(OperationEvent(step, of: new))
    }
  }

  /// Returns the events since the last update, and counts the missing events.
  mutating func take(from table: CollectorTable) -> EventNews? {
    let lostSteps = table.lostSteps - knownLostSteps
    knownLostSteps = table.lostSteps
    var news = buffer.take()
    lostChanges += lostSteps + UInt64(news?.skippedCount ?? 0)
    if news?.isBeginning == false { news?.skippedCount += Int(lostSteps) }
    lostEvents += UInt64(news?.skippedCount ?? 0)
    return news
  }
}

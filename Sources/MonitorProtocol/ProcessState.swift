// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of a process, computed from its updates. The state has only the operations that the
/// viewer's interest includes.
package struct ProcessState: Sendable, Equatable {
  /// The last update without its operations, events and log lines; `nil` before the first update.
  package private(set) var latest: Update?
  /// The operations that the updates have reported.
  package private(set) var operations: OperationStore
  /// The last log lines of the operations whose lines the viewer has requested.
  package private(set) var logs = LogTails()
  /// The exact counts of all queues together. The counts come from the queues, not from the
  /// operations.
  package private(set) var counts = StateCounts()

  /// The maximum number of operations to keep; `nil` if the state keeps only the operations that
  /// the process keeps.
  private let keptLimit: Int?
  private let linksDependents: Bool

  /// Creates an empty state.
  ///
  /// - Parameters:
  ///   - keptLimit: The maximum number of operations to keep. If it is not `nil`, finished and
  ///     cancelled operations stay after the process has removed them. If it is `nil`, the state
  ///     keeps only the operations that the process keeps.
  ///   - linksDependents: Whether ``OperationStore/dependents(of:)`` is used.
  package init(
    keepingUpTo keptLimit: Int? = nil, linkingDependents linksDependents: Bool = false
  ) {
    self.keptLimit = keptLimit
    self.linksDependents = linksDependents
    operations = OperationStore(linkingDependents: linksDependents)
  }

  /// All existing queues, sorted by id.
  package var queues: [QueueReport] { latest?.queues ?? [] }
  /// The warnings, the most important first.
  package var warnings: [MonitorWarning] { latest?.warnings ?? [] }
  /// The number of state changes that the process did not record.
  package var lostChanges: UInt64 { latest?.lostChanges ?? 0 }

  /// The names of the queues.
  package var queueNames: [QueueReport.ID: String] {
    Dictionary(queues.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
  }

  /// Applies the next update.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - isWhole: Whether the update is complete. If it is, operations that are not in the update
  ///     no longer exist.
  package mutating func apply(_ update: Update, isWhole: Bool = false) {
    if let keptLimit {
      // An unfinished operation that is not in the complete update is removed, because it may be in
      // any state by now.
      if isWhole { operations.removeAll { !$0.state.isOver } }
      operations.apply(changed: update.changed, limit: keptLimit)
      operations.remove(update.removed) { !$0.state.isOver }
    } else {
      if isWhole { operations = OperationStore(linkingDependents: linksDependents) }
      operations.apply(changed: update.changed, removed: update.removed)
    }
    if isWhole, keptLimit == nil { logs = LogTails() }
    logs.apply(update.logs)
    counts = update.queues.counts
    latest = update.withoutOperations
  }

  /// The complete state as one update; `nil` before the first update.
  package var whole: Update? {
    var update = latest
    update?.changed = operations.all.sorted { $0.id < $1.id }
    update?.logs = logs.all
    return update
  }

  /// Returns a frame of the state at a moment. The frame has the operations that match the filter
  /// and the warnings of these kinds.
  package func frame(
    of hello: Hello, at time: MonitorTime, filter: OperationFilter? = nil,
    warningKinds: Set<MonitorWarning.Kind>? = nil
  ) -> BatchFrame {
    let names = filter == nil ? [:] : queueNames
    let all = operations
    var frame = BatchFrame(
      hello: hello, time: time, queues: queues,
      operations: operations.all.filter { report in
        filter?.matches(report, queueName: names[report.queue] ?? "", at: time) ?? true
      },
      warnings: warnings.filter { warningKinds?.contains($0.kind) ?? true },
      lostChanges: lostChanges, report: { all[$0] })
    let count = latest?.unstartedCompletionBlockCount ?? 0
    if count > 0 { frame.unstartedCompletionBlockCount = count }
    return frame
  }
}

extension Update {
  /// A copy of the update without operations, events and log lines.
  package var withoutOperations: Update {
    var update = self
    update.changed = []
    update.removed = []
    update.events = nil
    update.logs = []
    return update
  }
}

extension Sequence<QueueReport> {
  /// The sum of the counts of these queues.
  package var counts: StateCounts { reduce(StateCounts()) { $0 + $1.counts } }
}

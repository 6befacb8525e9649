// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a process had told up to a moment: everything, or everything within an interest.
package struct ProcessState: Sendable, Equatable {
  /// The last update, without its operations and events; `nil` before the first one.
  package private(set) var latest: Update?
  /// The operations that are known.
  package private(set) var operations: OperationStore
  /// The exact counts of all queues together, never counted from operations.
  package private(set) var counts = StateCounts()

  /// How many operations are kept at most, those that are over among them; `nil` for those alone that the
  /// process keeps.
  private let keptLimit: Int?
  private let linksDependents: Bool

  /// Creates a state in which nothing is known.
  ///
  /// - Parameters:
  ///   - keptLimit: How many operations are kept at most. What is over stays then, although the process does
  ///     not keep it any more. `nil`, the default, keeps what the process keeps.
  ///   - linksDependents: Whether ``OperationStore/dependents(of:)`` is used.
  package init(
    keepingUpTo keptLimit: Int? = nil, linkingDependents linksDependents: Bool = false
  ) {
    self.keptLimit = keptLimit
    self.linksDependents = linksDependents
    operations = OperationStore(linkingDependents: linksDependents)
  }

  /// Every live queue, by id.
  package var queues: [QueueReport] { latest?.queues ?? [] }
  /// What probably is not meant, what matters most first.
  package var warnings: [MonitorWarning] { latest?.warnings ?? [] }
  /// How many changes of the history were lost.
  package var lostChanges: UInt64 { latest?.lostChanges ?? 0 }

  /// The names of the queues.
  package var queueNames: [QueueReport.ID: String] {
    Dictionary(queues.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
  }

  /// Takes in the next update.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - isWhole: Whether it holds everything: what it does not name is gone.
  package mutating func apply(_ update: Update, isWhole: Bool = false) {
    if let keptLimit {
      // What is gone and is not over may be in any state by now.
      if isWhole { operations.removeAll { !$0.state.isOver } }
      operations.apply(changed: update.changed, limit: keptLimit)
      operations.remove(update.removed) { !$0.state.isOver }
    } else {
      if isWhole { operations = OperationStore(linkingDependents: linksDependents) }
      operations.apply(changed: update.changed, removed: update.removed)
    }
    counts = update.queues.counts
    latest = update.withoutOperations
  }

  /// All of it as one update; `nil` if nothing is known.
  package var whole: Update? {
    var update = latest
    update?.changed = operations.all.sorted { $0.id < $1.id }
    return update
  }

  /// The frame of a moment; of operations only those that the filter takes, and of warnings only those of
  /// these kinds.
  package func frame(
    of hello: Hello, at time: MonitorTime, filter: OperationFilter? = nil,
    warningKinds: Set<MonitorWarning.Kind>? = nil
  ) -> BatchFrame {
    let names = filter == nil ? [:] : queueNames
    return BatchFrame(
      hello: hello, time: time, queues: queues,
      operations: operations.all.filter { report in
        filter?.matches(report, queueName: names[report.queue] ?? "", at: time) ?? true
      },
      warnings: warnings.filter { warningKinds?.contains($0.kind) ?? true },
      lostChanges: lostChanges)
  }
}

extension Update {
  /// The same without what has changed and what has happened.
  package var withoutOperations: Update {
    var update = self
    update.changed = []
    update.removed = []
    update.events = nil
    return update
  }
}

extension Sequence<QueueReport> {
  /// The counts of all these queues together.
  package var counts: StateCounts { reduce(StateCounts()) { $0 + $1.counts } }
}

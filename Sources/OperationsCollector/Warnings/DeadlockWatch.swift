// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Decides when the collector searches for deadlocks, and stores the deadlocks.
///
/// The search examines every waiting operation. Therefore it runs at least one second after a
/// change, and takes at most about two percent of the time. It does not run if there are very many
/// operations.
struct DeadlockWatch {
  /// The maximum number of unfinished operations for a search. With more operations, the search
  /// would delay commands.
  static let operationLimit = 50_000
  private static let interval = Duration.seconds(1)
  private static let share = 50

  /// The warnings about the known deadlocks.
  private(set) var warnings: [MonitorWarning] = []
  /// The awaited operations that no queue contained at the last search. The program may still add
  /// them to a queue.
  private var candidates: Set<[OperationReport.ID]> = []
  private var isDirty = false
  private var due = MonitorTime(nanoseconds: .min / 2)

  /// Schedules a search for deadlocks after a change.
  mutating func noteChange(at now: MonitorTime) {
    if !isDirty { due = max(due, now + Self.interval) }
    isDirty = true
  }

  /// The time of the next search; `nil` if nothing has changed since the last search.
  var nextSearch: MonitorTime? { isDirty ? due : nil }

  /// Stores the result of a search.
  ///
  /// - Parameters:
  ///   - found: The deadlocks, without values that depend on the time.
  ///   - cost: The duration of the search.
  ///   - now: The time at which the search ended.
  /// - Returns: Whether the warnings have changed.
  mutating func take(_ found: [MonitorWarning], cost: Duration, at now: MonitorTime) -> Bool {
    due = now + max(Self.interval, cost * Self.share)
    isDirty = false
    let old = warnings
    warnings = found.filter {
      $0.kind != .neverEnqueuedDependency || candidates.contains($0.awaited)
    }
    candidates = Set(found.lazy.filter { $0.kind == .neverEnqueuedDependency }.map(\.awaited))
    // This search has found for the first time that operations wait for an operation that is in no
    // queue. Another search checks whether the program has added that operation to a queue.
    if warnings.count < found.count { isDirty = true }
    return warnings != old
  }
}

extension MonitorWarning {
  /// Creates the warning about a deadlock. The initializer does not set ``count``.
  init(_ deadlock: OperationDeadlock) {
    func ids(_ operations: [OperationReference]) -> [OperationReport.ID] {
      operations.map { OperationReport.ID($0.id.rawValue) }
    }
    switch deadlock {
    case .cycle(let members):
      self.init(kind: .cycle, operations: ids(members))
    case .slots(let holders):
      let firsts = ids(holders.compactMap(\.chain.first))
      var seen = Set(firsts)
      let lasts = ids(holders.compactMap(\.chain.last)).filter { seen.insert($0).inserted }
      self.init(
        kind: .slotDeadlock, operations: ids(holders.map(\.operation)),
        awaited: firsts + lasts,
        queue: (holders.first?.neededQueue.id).map { QueueReport.ID($0.rawValue) })
    case .neverAdded(let operation, let className, let waiting):
      self.init(
        kind: .neverEnqueuedDependency, operations: ids(waiting), awaited: ids([operation]),
        awaitedTitle: operation.name ?? className)
    }
  }
}

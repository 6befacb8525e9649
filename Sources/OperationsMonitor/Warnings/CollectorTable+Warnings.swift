// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

extension CollectorTable {
  /// So long an operation may run on after it was asked to cancel before it is said.
  static let cancellationPatience = Duration.seconds(3)
  /// Of so many dependents on it is said.
  static let dependentLimit = 10_000

  /// What is to be said of these kinds at this moment, what matters most first.
  func warnings(
    at now: MonitorTime, of kinds: Set<MonitorWarning.Kind> = MonitorWarning.Kind.usual
  ) -> [MonitorWarning] {
    let warnings =
      deadlockWatch.warnings + cancelledLongAgo(at: now)
      + queueConditions.warnings(of: queues, at: now) + fanOutWarnings
    return warnings.filter { kinds.contains($0.kind) }
  }

  /// The next moment after `now` at which there is more to say although nothing changes.
  func nextWarning(after now: MonitorTime) -> MonitorTime? {
    let cancellations = cancelling.compactMap { id in
      entries[id]?.report.cancelRequested.map { $0 + Self.cancellationPatience }
    }
    return (cancellations + [queueConditions.nextMoment(after: now)].compactMap { $0 })
      .filter { $0 > now }.min()
  }

  private var fanOutWarnings: [MonitorWarning] {
    fanOuts.filter { entries[$0]?.report.state.isOver == false }.sorted().map {
      MonitorWarning(
        kind: .fanOut, operations: [$0], count: entries[$0]?.report.dependentCount ?? 0)
    }
  }

  private func cancelledLongAgo(at now: MonitorTime) -> [MonitorWarning] {
    let reports = cancelling.compactMap { entries[$0]?.report }.filter { report in
      guard let asked = report.cancelRequested else { return false }
      return now - asked >= Self.cancellationPatience
    }
    guard !reports.isEmpty else { return [] }
    let oldestFirst = reports.sorted { SortKey($0) < SortKey($1) }
    return [
      MonitorWarning(
        kind: .cancelNotHonoured, operations: oldestFirst.map(\.id), count: reports.count,
        since: oldestFirst.first?.cancelRequested)
    ]
  }

  // MARK: Deadlocks

  /// Searches for deadlocks where it is time for that.
  ///
  /// - Returns: Whether there is something new to tell.
  func searchDeadlocksIfDue(at now: MonitorTime) -> Bool {
    guard let due = deadlockWatch.nextSearch, due <= now else { return false }
    let unfinished = queues.values.reduce(0) {
      $0 + $1.counts.waiting + $1.counts.ready + $1.counts.executing
    }
    guard unfinished <= DeadlockWatch.operationLimit else {
      return deadlockWatch.take([], cost: .zero, at: now)
    }
    let found = QueueRegistry.deadlocks.map { deadlock in
      var warning = MonitorWarning(deadlock)
      let concerned = Set(warning.operations).union(warning.awaited)
      warning.count = dependents(of: concerned).ids.count
      return warning
    }
    let end = ProcessFacts.now
    return deadlockWatch.take(found, cost: end - now, at: end)
  }
}

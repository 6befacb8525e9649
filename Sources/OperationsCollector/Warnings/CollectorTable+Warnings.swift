// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

extension CollectorTable {
  /// The time for which a cancelled operation may execute before a warning.
  static let cancellationPatience = Duration.seconds(3)
  /// The time for which an operation's own `isReady` may be `false` before a warning. Many
  /// operations become ready earlier.
  static let ownReadinessPatience = Duration.seconds(3)
  /// The maximum number of dependents of an operation without a warning.
  static let dependentLimit = 10_000

  /// Returns the warnings of these kinds at a moment, the most important first.
  func warnings(
    at now: MonitorTime, of kinds: Set<MonitorWarning.Kind> = MonitorWarning.Kind.usual
  ) -> [MonitorWarning] {
    var warnings =
      deadlockWatch.warnings + cancelledLongAgo(at: now) + heldUpByThemselvesForLong(at: now)
      + unstartedFinishes.warnings + priorityInversions(at: now)
      + threadCondition.warnings(at: now) + queueConditions.warnings(of: queues, at: now)
    if kinds.contains(.slow) { warnings += slowOperations(at: now) }
    warnings += fanOutWarnings + (leakWatch?.warnings ?? [])
    return warnings.filter { kinds.contains($0.kind) }
  }

  /// Returns the next moment after `now` at which warnings of these kinds may change even if no
  /// operation changes.
  func nextWarning(
    after now: MonitorTime, of kinds: Set<MonitorWarning.Kind> = MonitorWarning.Kind.usual
  ) -> MonitorTime? {
    var moments = cancelling.compactMap { id in
      entries[id]?.report.cancelRequested.map { $0 + Self.cancellationPatience }
    }
    let conditions = [
      queueConditions.nextMoment(after: now), heldUpByThemselves.nextMoment,
      inversions.candidates.nextMoment, threadCondition.nextMoment,
    ]
    moments += conditions.compactMap { $0 }
    if kinds.contains(.slow) { moments += limitedRuns(at: now).map(\.limit) }
    return moments.filter { $0 > now }.min()
  }

  /// Updates the conditions of the queues and of the thread pool that may cause warnings.
  func noteQueueConditions(at now: MonitorTime, threads: ThreadUse? = ThreadUse.current) {
    queueConditions.note(queues.values, mainQueue: mainQueue, at: now)
    threadCondition.note(threads, at: now)
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

  private func heldUpByThemselvesForLong(at now: MonitorTime) -> [MonitorWarning] {
    heldUpByThemselves.advance(to: now)
    let longest = heldUpByThemselves.due(MonitorWarning.operationLimit)
    guard let first = longest.first else { return [] }
    return [
      MonitorWarning(
        kind: .notReadyWithMetDependencies, operations: longest.map(\.id),
        count: heldUpByThemselves.dueCount, since: first.since)
    ]
  }

  // MARK: Slow operations

  private struct LimitedRun {
    let id: OperationReport.ID
    let started: MonitorTime
    let usual: Duration
    /// The time at which the execution of the operation counts as slow if it has not ended.
    let limit: MonitorTime
  }

  /// Returns the running operations with the lowest ids whose usual run time is known. Operations
  /// that were asked to cancel or are part of a deadlock are omitted, because they have their own
  /// warnings.
  private func limitedRuns(at now: MonitorTime) -> [LimitedRun] {
    let stuck = Set(deadlockWatch.warnings.lazy.flatMap(\.operations))
    let reports = running.prefix(SlowLimits.searchLimit).compactMap { report($0) }
      .filter { $0.state == .executing && !stuck.contains($0.id) }
    let statistics = kindTimes.statistics(
      of: Set(reports.lazy.map(\.kind)), in: times, at: now, isAtRest: reports.isEmpty)
    return reports.compactMap { report in
      let kind = report.kind
      guard let started = report.started,
        let usual = SlowLimits.usualTime(ofKind: kind, statistics[kind])
      else { return nil }
      return LimitedRun(
        id: report.id, started: started, usual: usual,
        limit: SlowLimits.moment(started: started, usual: usual))
    }
  }

  private func slowOperations(at now: MonitorTime) -> [MonitorWarning] {
    let slow = limitedRuns(at: now).filter { $0.limit <= now }
      .sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    guard let first = slow.first else { return [] }
    return [
      MonitorWarning(
        kind: .slow, operations: slow.map(\.id), count: slow.count, since: first.started,
        usual: first.usual)
    ]
  }

  // MARK: Leaks

  /// Searches for finished operations that still exist, if the search is due.
  ///
  /// - Returns: Whether the warnings have changed.
  func lookForLeaksIfDue(at now: MonitorTime) -> Bool {
    guard let due = leakWatch?.nextRound, due <= now else { return false }
    return leakWatch?.look(
      at: now, lateDependents: { lateDependents(of: $0) },
      isUnfinished: { entries[$0]?.report.state.isOver == false }) ?? false
  }

  // MARK: Deadlocks

  /// The time of the next search for deadlocks; `nil` if nothing has changed, or if no session
  /// requests warnings about deadlocks.
  var nextDeadlockSearch: MonitorTime? {
    warningKinds.contains(where: \.isDeadlock) ? deadlockWatch.nextSearch : nil
  }

  /// Searches for deadlocks, if the search is due.
  ///
  /// - Returns: Whether the warnings have changed.
  func searchDeadlocksIfDue(at now: MonitorTime) -> Bool {
    guard let due = nextDeadlockSearch, due <= now else { return false }
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
    let end = MonitorTime.now
    return deadlockWatch.take(found, cost: end - now, at: end)
  }
}

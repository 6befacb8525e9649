// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// What a collector knows of the process: pure, and used by its thread alone.
///
/// Unfinished operations are all kept. Of the finished ones the newest are, up to a number and an
/// age.
struct CollectorTable {
  /// How many finished operations are kept, and for how long.
  struct Retention {
    var count = 10_000
    var age: Duration = .seconds(60)
  }

  private struct Finished {
    let id: OperationReport.ID
    let time: MonitorTime
  }

  private(set) var reports: [OperationReport.ID: OperationReport] = [:]
  private(set) var queues: [QueueReport.ID: QueueReport] = [:]
  /// Unfinished operations, by which the operation itself can be found.
  private(set) var records: [OperationReport.ID: OperationRecord] = [:]
  /// For each unfinished operation those that wait for it.
  private var dependents: [OperationReport.ID: [OperationReport.ID]] = [:]
  /// The dependencies of each operation that have not been seen to finish.
  private var unmet: [OperationReport.ID: Set<OperationReport.ID>] = [:]
  /// The operations that change when their queue is suspended or resumed.
  private var ready: [QueueReport.ID: Set<OperationReport.ID>] = [:]
  /// Finished operations, the oldest first, from `finishedStart` on.
  private var finished: [Finished] = []
  private var finishedStart = 0
  private let retention: Retention

  /// What has changed since it was last taken.
  private(set) var changed: Set<OperationReport.ID> = []
  private(set) var removed: Set<OperationReport.ID> = []

  init(retention: Retention = Retention()) { self.retention = retention }

  /// Hands out what has changed and been removed since the last call.
  mutating func takeChanges() -> (
    changed: Set<OperationReport.ID>, removed: Set<OperationReport.ID>
  ) {
    defer {
      changed = []
      removed = []
    }
    return (changed, removed)
  }

  // MARK: News

  /// Takes over what a queue has said.
  mutating func apply(_ snapshot: QueueChanges) {
    let id = QueueReport.ID(snapshot.id.rawValue)
    let wasSuspended = queues[id]?.isSuspended
    queues[id] = QueueReport(
      id: id, name: snapshot.name, counts: StateCounts(snapshot),
      width: snapshot.maxConcurrentOperationCount < 0
        ? nil : snapshot.maxConcurrentOperationCount,
      isSuspended: snapshot.isSuspended)
    for (operation, record) in zip(snapshot.changed, snapshot.records) {
      apply(operation, record, isSuspended: snapshot.isSuspended)
    }
    if wasSuspended != snapshot.isSuspended {
      holdReadyOperations(of: id, isSuspended: snapshot.isSuspended)
    }
  }

  /// Forgets queues that no longer exist.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    queues = queues.filter { ids.contains($0.key) }
    ready = ready.filter { ids.contains($0.key) }
  }

  private mutating func apply(
    _ snapshot: RecordedOperation, _ record: OperationRecord, isSuspended: Bool
  ) {
    let id = OperationReport.ID(snapshot.id.rawValue)
    // News of what has been dropped already would bring it back for good.
    if reports[id]?.state.isOver == true { return }
    var report = OperationReport(snapshot, isSuspended: isSuspended)
    if report.state == .waiting {
      watchDependencies(of: id, snapshot)
      report.unmetDependencyCount = unmet[id]?.count ?? 0
    } else {
      unmet[id] = nil
    }
    let isReady = report.state == .ready || report.state == .held
    if isReady {
      ready[report.queue, default: []].insert(id)
    } else {
      ready[report.queue]?.remove(id)
    }
    reports[id] = report
    changed.insert(id)
    if report.state.isOver {
      records[id] = nil
      finished.append(Finished(id: id, time: report.finished ?? MonitorTime(nanoseconds: 0)))
      tellDependents(of: id)
    } else {
      records[id] = record
    }
  }

  private mutating func watchDependencies(
    of id: OperationReport.ID, _ snapshot: RecordedOperation
  ) {
    var open: Set<OperationReport.ID> = []
    for dependency in snapshot.unmetDependencies.lazy.map({ OperationReport.ID($0.rawValue) })
    where reports[dependency]?.state.isOver != true {
      open.insert(dependency)
      if unmet[id]?.contains(dependency) != true { dependents[dependency, default: []].append(id) }
    }
    unmet[id] = open
  }

  private mutating func tellDependents(of id: OperationReport.ID) {
    for dependent in dependents.removeValue(forKey: id) ?? [] {
      guard unmet[dependent]?.remove(id) != nil else { continue }
      reports[dependent]?.unmetDependencyCount = unmet[dependent]?.count ?? 0
      changed.insert(dependent)
    }
  }

  private mutating func holdReadyOperations(of queue: QueueReport.ID, isSuspended: Bool) {
    for id in ready[queue] ?? [] {
      reports[id]?.state = isSuspended ? .held : .ready
      changed.insert(id)
    }
  }

  // MARK: Retention

  /// Drops finished operations that are too many or too old.
  mutating func prune(now: MonitorTime) {
    while finishedStart < finished.count {
      let oldest = finished[finishedStart]
      let isKept =
        finished.count - finishedStart <= retention.count && now - oldest.time <= retention.age
      if isKept { break }
      finishedStart += 1
      reports[oldest.id] = nil
      changed.remove(oldest.id)
      removed.insert(oldest.id)
    }
    if finishedStart > 1_024, finishedStart > finished.count / 2 {
      finished.removeFirst(finishedStart)
      finishedStart = 0
    }
  }
}

// MARK: - From the library's words to the protocol's

extension StateCounts {
  init(_ snapshot: QueueChanges) {
    self.init(
      waiting: snapshot.waiting, ready: snapshot.ready,
      held: snapshot.isSuspended ? snapshot.ready : 0, executing: snapshot.executing,
      cancelling: snapshot.cancelling, finished: snapshot.finished, cancelled: snapshot.cancelled,
      total: snapshot.total)
  }
}

extension OperationState {
  /// What a monitor shows for what the library knows.
  init(_ state: Operation.State, isCancelled: Bool, isSuspended: Bool) {
    switch state {
    case .waiting: self = .waiting
    case .ready: self = isCancelled ? .cancelling : isSuspended ? .held : .ready
    case .executing: self = isCancelled ? .cancelling : .executing
    case .finished: self = isCancelled ? .cancelled : .finished
    }
  }
}

extension OperationReport {
  init(_ snapshot: RecordedOperation, isSuspended: Bool) {
    func time(_ nanoseconds: Int64?) -> MonitorTime? {
      nanoseconds.map { MonitorTime(nanoseconds: $0) }
    }
    self.init(
      id: ID(snapshot.id.rawValue), name: snapshot.name ?? "",
      className: String(describing: snapshot.type),
      queue: QueueReport.ID(snapshot.queue.rawValue),
      state: OperationState(
        snapshot.state, isCancelled: snapshot.isCancelled, isSuspended: isSuspended),
      priority: OperationPriority(rawValue: snapshot.priority.rawValue) ?? .normal,
      dependencies: snapshot.dependencies.map { ID($0.rawValue) },
      added: time(snapshot.added), becameReady: time(snapshot.becameReady),
      started: time(snapshot.started), cancelRequested: time(snapshot.cancelRequested),
      finished: time(snapshot.finished))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// What a queue says of itself to a collector.
package struct QueueChanges: Sendable {
  /// Identifies the queue.
  package let id: QueueID
  /// Whether it is `OperationQueue.main`.
  package let isMain: Bool
  /// Its name.
  package let name: String
  /// −1 where the system decides.
  package let maxConcurrentOperationCount: Int
  /// Whether it starts nothing new.
  package let isSuspended: Bool
  /// Operations that are not ready.
  package let waiting: Int
  /// Operations that are ready and have not started.
  package let ready: Int
  /// Operations that hold a slot.
  package let executing: Int
  /// Operations that were cancelled and have not finished.
  package let cancelling: Int
  /// Operations that finished without having been cancelled.
  package let finished: Int
  /// Operations that finished after having been cancelled.
  package let cancelled: Int
  /// Operations ever added.
  package let total: Int
  /// Barriers that have not finished; no operation counts them.
  package let barriers: Int
  /// Whether the first of them runs: then nothing else does.
  package let isBarrierRunning: Bool
  /// Barriers that have finished, ever, modulo 2^24.
  package let finishedBarriers: UInt32
  /// Operations that are new or have changed since the last time, each once.
  package internal(set) var changed: [RecordedOperation]
  /// The records of the same operations, by which they can be found again.
  package let records: [OperationRecord]
  /// Whether there are more changed ones than were asked for.
  package let hasMore: Bool
}

extension OperationQueue {
  /// Takes what has changed since the last call.
  ///
  /// - Parameters:
  ///   - recorder: Who keeps this queue's records; anybody else is given no operations.
  ///   - limit: The most changed operations to hand out at once.
  /// - Returns: The queue as it is now, and the operations that have changed.
  package final func takeRecordedChanges(
    for recorder: RecorderID, limit: Int
  ) -> QueueChanges {
    core.takeRecordedChanges(for: recorder, limit: limit, defaultName: defaultName)
  }
}

extension OperationQueue {
  /// The operation of a record, unless it has left this queue.
  package final func operation(of record: OperationRecord) -> Operation? {
    core.withScheduler { _, _ in record.operation?.takeUnretainedValue() }
  }
}

extension QueueCore {
  /// Describes an operation that is about to be added, on the adding thread, for a collector.
  @inline(never)
  func describe(_ operation: Operation) {
    operation.record = OperationRecord(
      RecordedOperation(describing: operation, queue: id), needsDescription: false)
  }

  /// - Parameters:
  ///   - recorder: Who keeps the records from now on.
  ///   - replaces: Whether it takes over from another one.
  ///   - wake: See `QueueRegistry`.
  func startRecording(
    _ recorder: RecorderID, replaces: Bool, wake: @escaping @Sendable () -> Void
  ) {
    withScheduler { scheduler, _ in
      var monitor = scheduler.monitor ?? QueueMonitor(queue: id)
      guard replaces || monitor.recorder == nil else { return }
      monitor.startRecording(recorder, wake: wake)
      var current = scheduler.operations.after(nil)
      while let operation = current {
        operation._withUnsafeGuaranteedRef {
          monitor.adopt($0, $0.status.load(ordering: .acquiring))
        }
        current = scheduler.operations.after(operation)
      }
      scheduler.monitor = monitor
    }
  }

  func stopRecording(_ recorder: RecorderID) {
    withScheduler { scheduler, _ in
      scheduler.monitor?.stopRecording(recorder)
      if scheduler.monitor?.isIdle == true { scheduler.monitor = nil }
    }
  }

  func takeRecordedChanges(
    for recorder: RecorderID, limit: Int, defaultName: String
  ) -> QueueChanges {
    // Counts and states in one critical section: else one of two operations that follow each other in
    // a slot could be told to run, and the one before it not to have ended.
    var (changes, undescribed) = withScheduler { scheduler, _ in
      let records = scheduler.monitor?.takeChangedRecords(for: recorder, limit: limit) ?? []
      let counts = scheduler.counts
      let changes = QueueChanges(
        id: id, isMain: isMain,
        name: scheduler.name.isEmpty ? defaultName : scheduler.name,
        maxConcurrentOperationCount: scheduler.maxConcurrentOperationCount,
        isSuspended: scheduler.isSuspended, waiting: counts.waiting, ready: counts.ready,
        executing: counts.executing, cancelling: counts.cancelling, finished: counts.finished,
        cancelled: counts.cancelled, total: counts.total,
        barriers: scheduler.barriers.count, isBarrierRunning: scheduler.isBarrierRunning,
        finishedBarriers: scheduler.barriers.finishedCount, changed: records.map(\.snapshot),
        records: records,
        hasMore: scheduler.monitor?.hasChanges(for: recorder) == true)
      return (changes, Self.needingDescription(records))
    }
    guard !undescribed.isEmpty else { return changes }
    // Outside the queue's lock: describing takes the operation's.
    for (index, operation) in undescribed {
      changes.changed[index].takeDescription(
        of: RecordedOperation(describing: operation, queue: id))
    }
    withScheduler { _, _ in
      for (index, _) in undescribed {
        changes.records[index].snapshot.takeDescription(of: changes.changed[index])
      }
    }
    return changes
  }

  /// The records whose operation still exists and is to be described: which of them, and the
  /// operation.
  private static func needingDescription(_ records: [OperationRecord]) -> [(Int, Operation)] {
    records.indices.compactMap { index in
      let record = records[index]
      guard record.needsDescription, let operation = record.operation else { return nil }
      // Now and not when it has been described: what changes meanwhile asks for it again.
      record.needsDescription = false
      return (index, operation.takeUnretainedValue())
    }
  }
}

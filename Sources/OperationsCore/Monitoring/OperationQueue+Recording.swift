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
  /// How many of `changed` were in the queue before, and had no record.
  package let adoptedCount: Int
  /// Whether there may be more like them.
  package let hasUnrecorded: Bool
  /// How many steps operations without one have taken since the last time.
  package let lostSteps: Int
}

extension OperationQueue {
  /// Takes what has changed since the last call.
  ///
  /// - Parameters:
  ///   - recorder: Who keeps this queue's records; anybody else is given no operations.
  ///   - limit: The most changed operations to hand out at once.
  ///   - adopting: The most of them that are in the queue and have no record yet; what runs comes
  ///     in addition.
  ///   - newRecords: How many operations that are added from now on have a record from the start;
  ///     `nil` leaves as many as there were. Of those that come after them, one that is still there next time is adopted then; of others the
  ///     steps are counted.
  /// - Returns: The queue as it is now, and the operations that have changed.
  package final func takeRecordedChanges(
    for recorder: RecorderID, limit: Int, adopting: Int = .max, newRecords: Int? = .max
  ) -> QueueChanges {
    core.takeRecordedChanges(
      for: recorder, limit: limit, adopting: adopting, newRecords: newRecords,
      defaultName: defaultName)
  }
}

extension OperationQueue {
  /// The operation of a record, unless it has left this queue.
  package final func operation(of record: OperationRecord) -> Operation? {
    core.withScheduler { _, _ in record.operation?.takeUnretainedValue() }
  }
}

extension QueueCore {
  /// Describes an operation that is about to be added, on the adding thread, for a collector; does
  /// nothing where so many have been added since the last reading that the collector could not keep up.
  @inline(never)
  func describe(_ operation: Operation) {
    // Read first: what is not changed stays in every processor's cache.
    guard newRecords.load(ordering: .relaxed) > 0,
      newRecords.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
    else { return }
    operation.record = OperationRecord(
      RecordedOperation(describing: operation, queue: id), needsDescription: false)
  }

  /// - Parameters:
  ///   - recorder: Who keeps the records from now on.
  ///   - replaces: Whether it takes over from another one.
  ///   - newRecords: See `takeRecordedChanges`; until that is called.
  ///   - wake: See `QueueRegistry`.
  func startRecording(
    _ recorder: RecorderID, replaces: Bool, newRecords: Int = .max,
    wake: @escaping @Sendable () -> Void
  ) {
    withScheduler { scheduler, _ in
      guard replaces || scheduler.monitor.recorder == nil else { return }
      scheduler.monitor.startRecording(recorder, first: scheduler.operations.first, wake: wake)
      self.newRecords.store(newRecords, ordering: .relaxed)
    }
  }

  func stopRecording(_ recorder: RecorderID) {
    withScheduler { scheduler, _ in
      if scheduler.monitor.recorder == recorder { newRecords.store(0, ordering: .relaxed) }
      scheduler.monitor.stopRecording(recorder)
    }
  }

  func takeRecordedChanges(
    for recorder: RecorderID, limit: Int, adopting: Int, newRecords: Int?, defaultName: String
  ) -> QueueChanges {
    // Counts and states in one critical section: else one of two operations that follow each other in
    // a slot could be told to run, and the one before it not to have ended.
    var (changes, undescribed) = withScheduler { scheduler, _ in
      let taken = scheduler.monitor.takeChangedRecords(
        for: recorder, limit: limit, adopting: adopting)
      if let newRecords, scheduler.monitor.recorder == recorder {
        self.newRecords.store(newRecords, ordering: .relaxed)
      }
      let counts = scheduler.counts
      let changes = QueueChanges(
        id: id, isMain: isMain,
        name: scheduler.name.isEmpty ? defaultName : scheduler.name,
        maxConcurrentOperationCount: scheduler.maxConcurrentOperationCount,
        isSuspended: scheduler.isSuspended, waiting: counts.waiting, ready: counts.ready,
        executing: counts.executing, cancelling: counts.cancelling, finished: counts.finished,
        cancelled: counts.cancelled, total: counts.total,
        barriers: scheduler.barriers.count, isBarrierRunning: scheduler.isBarrierRunning,
        finishedBarriers: scheduler.barriers.finishedCount, changed: taken.records.map(\.snapshot),
        records: taken.records, hasMore: taken.hasMore, adoptedCount: taken.adoptedCount,
        hasUnrecorded: taken.hasUnrecorded, lostSteps: taken.lostSteps)
      return (changes, Self.needingDescription(taken.records))
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

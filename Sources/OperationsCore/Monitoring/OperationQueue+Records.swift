// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The changes of a queue for a collector.
package struct QueueChanges: Sendable {
  /// Identifies the queue.
  package let id: QueueID
  /// Whether it is `OperationQueue.main`.
  package let isMain: Bool
  /// Its name.
  package let name: String
  /// −1 if the system decides.
  package let maxConcurrentOperationCount: Int
  /// Whether the queue is suspended.
  package let isSuspended: Bool
  /// The number of operations in each state, exact at the moment of this reading.
  package let counts: QueueSnapshot.Counts
  /// Barriers that have not finished. They are not included in the other counts.
  package let barriers: Int
  /// Whether the first of them executes. In that case no operation does.
  package let isBarrierRunning: Bool
  /// The number of all finished barriers, modulo 2^24.
  package let finishedBarriers: UInt32
  /// Operations that are new or have changed since the last reading, each once.
  package internal(set) var changed: [RecordedOperation]
  /// The records of the same operations, by which they can be found again.
  package let records: [OperationRecord]
  /// Whether there are more changed operations than were requested.
  package let hasMore: Bool
  /// The number of `changed` operations that were in the queue before without a record.
  package let adoptedCount: Int
  /// Whether there may be further such operations.
  package let hasUnrecorded: Bool
  /// The number of state changes of operations without a record since the last reading.
  package let lostSteps: Int
}

extension OperationQueue {
  /// Returns the changes since the last call.
  ///
  /// - Parameters:
  ///   - collector: The owner of this queue's records; other collectors get no operations.
  ///   - limit: The maximum number of changed operations to return at once.
  ///   - adopting: The maximum number of these that are in the queue and have no record yet.
  ///     Executing operations are returned in addition.
  ///   - newRecords: The number of operations added from now on that have a record from the start;
  ///     `nil` does not change it. Of further operations, those that still exist at the next
  ///     reading are adopted then; the state changes of the others are counted.
  /// - Returns: The present state of the queue, and the changed operations.
  package final func takeChanges(
    for collector: CollectorID, limit: Int, adopting: Int = .max, newRecords: Int? = .max
  ) -> QueueChanges {
    core.takeChanges(
      for: collector, limit: limit, adopting: adopting, newRecords: newRecords,
      defaultName: defaultName)
  }
}

extension OperationQueue {
  /// Returns the operation of a record, unless it has left this queue.
  package final func operation(of record: OperationRecord) -> Operation? {
    core.withScheduler { _, _ in record.operation?.takeUnretainedValue() }
  }
}

extension QueueCore {
  /// Describes an operation that is about to be added, on the adding thread, for a collector. Does
  /// nothing if so many operations were added since the last reading that the collector could not
  /// keep up.
  @inline(never)
  func describe(_ operation: Operation) {
    // The level is read first. It seldom changes, so it stays in the cache of every processor.
    guard newRecords.load(ordering: .relaxed) > 0,
      newRecords.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
    else { return }
    operation.record = OperationRecord(
      RecordedOperation(describing: operation, queue: id), needsDescription: false)
  }

  /// - Parameters:
  ///   - collector: The owner of the records from now on.
  ///   - replaces: Whether it replaces another collector.
  ///   - newRecords: See `takeChanges`; valid until that method is called.
  ///   - wake: See `QueueRegistry`.
  func keepRecords(
    for collector: CollectorID, replaces: Bool, newRecords: Int = .max,
    wake: @escaping @Sendable () -> Void
  ) {
    withScheduler { scheduler, _ in
      guard replaces || scheduler.monitor.collector == nil else { return }
      scheduler.monitor.keepRecords(for: collector, first: scheduler.operations.first, wake: wake)
      self.newRecords.store(newRecords, ordering: .relaxed)
    }
  }

  func dropRecords(of collector: CollectorID) {
    withScheduler { scheduler, _ in
      if scheduler.monitor.collector == collector { newRecords.store(0, ordering: .relaxed) }
      scheduler.monitor.dropRecords(of: collector)
    }
  }

  func takeChanges(
    for collector: CollectorID, limit: Int, adopting: Int, newRecords: Int?, defaultName: String
  ) -> QueueChanges {
    // Counts and states are read in one critical section. Otherwise, of two operations that use one
    // slot in turn, the second one could be reported as executing and the first one as unfinished.
    var (changes, undescribed) = withScheduler { scheduler, _ in
      let taken = scheduler.monitor.takeChangedRecords(
        for: collector, limit: limit, adopting: adopting)
      if let newRecords, scheduler.monitor.collector == collector {
        self.newRecords.store(newRecords, ordering: .relaxed)
      }
      let changes = QueueChanges(
        id: id, isMain: isMain,
        name: scheduler.name.isEmpty ? defaultName : scheduler.name,
        maxConcurrentOperationCount: scheduler.maxConcurrentOperationCount,
        isSuspended: scheduler.isSuspended, counts: scheduler.counts,
        barriers: scheduler.barriers.count, isBarrierRunning: scheduler.isBarrierRunning,
        finishedBarriers: scheduler.barriers.finishedCount, changed: taken.records.map(\.snapshot),
        records: taken.records, hasMore: taken.hasMore, adoptedCount: taken.adoptedCount,
        hasUnrecorded: taken.hasUnrecorded, lostSteps: taken.lostSteps)
      return (changes, Self.needingDescription(taken.records))
    }
    guard !undescribed.isEmpty else { return changes }
    // Outside the queue's lock, because describing takes the operation's lock.
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

  /// Returns the records whose operation still exists and must be described: their indices and
  /// operations.
  private static func needingDescription(_ records: [OperationRecord]) -> [(Int, Operation)] {
    records.indices.compactMap { index in
      let record = records[index]
      guard record.needsDescription, let operation = record.operation else { return nil }
      // The flag is cleared before the description is read, so that concurrent changes request
      // another one.
      record.needsDescription = false
      return (index, operation.takeUnretainedValue())
    }
  }
}

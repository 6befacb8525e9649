// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The changes of a queue since a collector's last reading.
package struct QueueChanges: Sendable {
  /// Identifies the queue.
  package let id: QueueID
  /// Whether the queue is `OperationQueue.main`.
  package let isMain: Bool
  /// The queue's name.
  package let name: String
  /// The width of the queue; −1 if the system decides.
  package let maxConcurrentOperationCount: Int
  /// Whether the queue is suspended.
  package let isSuspended: Bool
  /// The maximum number of operations that the queue starts in a period; `nil` for no limit.
  package let startLimit: OperationStartLimit?
  /// Whether the queue has started as many operations as its limit allows.
  package let isStartLimitReached: Bool
  /// The number of operations in each state, exact at the moment of this reading.
  package let counts: QueueSnapshot.Counts
  /// The number of operations that have begun to execute, since the queue was created. An operation that the queue has
  /// chosen counts before it begins, so the number decreases if such an operation is cancelled or is not ready.
  package let startedCount: Int
  /// The order in which the queue will start its ready operations, at the moment of this reading; `nil` if the caller
  /// has not requested it, or if as many operations have changed as the caller has requested.
  package internal(set) var readyOrder: ReadyOrder?
  /// The operations that are new or have changed since the last reading. Each operation is listed
  /// once.
  package internal(set) var changed: [RecordedOperation]
  /// The records of the operations in `changed`, by which the operations can be found again.
  package let records: [OperationRecord]
  /// The errors of the operations that have failed, and the reasons that code has given for cancellations.
  /// The key is the index of the operation in `changed`. The queue no longer has these errors.
  package let errors: [Int: any Error]
  /// Whether more operations have changed than the caller has requested.
  package let hasMore: Bool
  /// The number of operations in `changed` that had no record before this reading.
  package let adoptedCount: Int
  /// Whether the queue may contain further operations without a record.
  package let hasUnrecorded: Bool
  /// The number of state changes of operations without a record since the last reading.
  package let lostSteps: Int
}

extension OperationQueue {
  /// Returns the changes of the queue since the last call.
  ///
  /// - Parameters:
  ///   - collector: The calling collector. It gets operations only if it owns this queue's records.
  ///   - limit: The maximum number of changed operations to return at once.
  ///   - adopting: The maximum number of operations without a record that get a record in this
  ///     call. Up to 32 executing operations without a record get one in addition.
  ///   - newRecords: The number of operations that get a record when they are added, until the next
  ///     call; `nil` does not change this number. An operation that is added after them gets a
  ///     record at the next reading, if it still exists then. Otherwise, only its state changes are
  ///     counted.
  ///   - readyLimit: The maximum number of operations in the order of the ready operations; 0 if the
  ///     caller does not request it.
  /// - Returns: The present state of the queue, and the changed operations.
  package final func takeChanges(
    for collector: CollectorID, limit: Int, adopting: Int = .max, newRecords: Int? = .max,
    readyLimit: Int = 0
  ) -> QueueChanges {
    core.takeChanges(
      for: collector, limit: limit, adopting: adopting, newRecords: newRecords,
      readyLimit: readyLimit, defaultName: defaultName)
  }
}

extension OperationQueue {
  static let unstartedCompletionBlocks = Atomic(0)

  /// The number of completion blocks of finished operations that have not begun.
  package static var unstartedCompletionBlockCount: Int {
    unstartedCompletionBlocks.load(ordering: .relaxed)
  }

  /// Returns the operation of a record, unless it has left this queue.
  package final func operation(of record: OperationRecord) -> Operation? {
    core.withScheduler { _, _ in record.operation?.takeUnretainedValue() }
  }
}

extension QueueCore {
  /// Creates the record of an operation that is about to be added, on the adding thread. If more
  /// operations were added since the last reading than the collector allows, the method does
  /// nothing.
  @inline(never)
  func describe(_ operation: Operation) {
    // `newRecords` is read before it is decremented. If no collector records, the value is only
    // read, so the memory of the value stays in the cache of every processor.
    guard newRecords.load(ordering: .relaxed) > 0,
      newRecords.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
    else { return }
    operation.record = OperationRecord(
      RecordedOperation(describing: operation, queue: id), needsDescription: false)
  }

  /// Makes this queue store records for a collector.
  ///
  /// - Parameters:
  ///   - collector: The collector that owns the records from now on.
  ///   - replaces: Whether the collector replaces another collector. If this is `false` and the
  ///     queue already has a collector, the method does nothing.
  ///   - newRecords: The number of operations that get a record when they are added, until
  ///     `takeChanges` sets another number.
  ///   - wake: Called when there are changes since the last reading.
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
    let errors = withScheduler { scheduler, _ in
      if scheduler.monitor.collector == collector { newRecords.store(0, ordering: .relaxed) }
      return scheduler.monitor.dropRecords(of: collector)
    }
    // The errors are released here, outside the lock.
    withExtendedLifetime(errors) {}
  }

  func takeChanges(
    for collector: CollectorID, limit: Int, adopting: Int, newRecords: Int?, readyLimit: Int,
    defaultName: String
  ) -> QueueChanges {
    // Counts and states are read in one critical section. Otherwise, if two operations use the same
    // slot one after the other, a reading could report the second one as executing and the first
    // one as unfinished.
    var (changes, undescribed, ready) = withScheduler { scheduler, _ in
      let taken = scheduler.monitor.takeChangedRecords(
        for: collector, limit: limit, adopting: adopting)
      if let newRecords, scheduler.monitor.collector == collector {
        self.newRecords.store(newRecords, ordering: .relaxed)
      }
      let changes = QueueChanges(
        id: id, isMain: isMain,
        name: scheduler.name.isEmpty ? defaultName : scheduler.name,
        maxConcurrentOperationCount: scheduler.maxConcurrentOperationCount,
        isSuspended: scheduler.isSuspended, startLimit: scheduler.limiter?.limit,
        isStartLimitReached: scheduler.isStartLimitReached,
        counts: scheduler.counts.finishing(scheduler.monitor.finishedInSlots),
        startedCount: scheduler.startedCount,
        changed: taken.records.map(\.snapshot), records: taken.records, errors: taken.errors,
        hasMore: taken.hasMore,
        adoptedCount: taken.adoptedCount,
        hasUnrecorded: taken.hasUnrecorded, lostSteps: taken.lostSteps)
      // If the caller has not read all changes, its next reading contains the order.
      let ready =
        readyLimit > 0 && taken.records.count < limit ? scheduler.firstReady(readyLimit) : nil
      return (changes, Self.needingDescription(taken.records), ready)
    }
    changes.readyOrder = ready.map { ReadyOrder($0) }
    guard !undescribed.isEmpty else { return changes }
    // Operations are described outside the queue's lock, because describing acquires the locks of
    // other operations, and may release one of them.
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

  /// Returns the index and the operation of each record whose operation still exists and must be
  /// described.
  private static func needingDescription(_ records: [OperationRecord]) -> [(Int, Operation)] {
    records.indices.compactMap { index in
      let record = records[index]
      guard record.needsDescription, let operation = record.operation else { return nil }
      // The flag `needsDescription` is cleared before the operation is described. So if another
      // thread changes the operation at this moment, it sets the flag again, and the operation is
      // described once more.
      record.needsDescription = false
      return (index, operation.takeUnretainedValue())
    }
  }
}

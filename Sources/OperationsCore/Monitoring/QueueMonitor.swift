// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import Synchronization

/// The data that a queue stores for its monitors. Guarded by the queue's lock.
///
/// A queue reports changes in two ways. Records contain the present state: a changed record is
/// listed once, even if it changes several times, and no operation in the queue is missed.
/// Subscriptions contain the history: each subscription has a bounded buffer and counts the changes
/// that it drops.
///
/// Not every operation has a record from the start. Between two readings, a queue creates at most
/// as many records as the collector allows (see `QueueCore.describe`). Operations beyond this
/// number cost almost nothing. If such an operation still exists at the next reading, the reading
/// creates its record. Otherwise, only its state changes are counted.
struct QueueMonitor {
  let queue: QueueID
  /// Whether the queue has a monitor. If the queue has no monitor, only this flag is read.
  private(set) var isActive = false
  var subscriptions: [Subscription] = [] { didSet { noteWatching() } }
  /// Counts the operations that leave the queue; `nil` if there is no counter.
  var finishCounting: FinishCounting? { didSet { noteWatching() } }
  /// The collector that owns the records; `nil` if no collector records.
  private(set) var collector: CollectorID? { didSet { noteWatching() } }
  /// Whether the collector is the only monitor of the queue.
  private var hasOnlyCollector = false
  /// Finds the operations in the queue that have no record yet.
  private var unrecorded = UnrecordedOperations()
  /// The closure that wakes the collector; `nil` if no collector records.
  private(set) var wakeCollector: (@Sendable () -> Void)?
  /// The changed records, in the order of their first change. The records before the index
  /// `takenCount` were already returned to the collector.
  private var changedRecords: [OperationRecord] = []
  private var takenCount = 0
  private var isCollectorWoken = false
  /// The operations whose finish is recorded, although they still hold their slots.
  private(set) var finishedInSlots = QueueSnapshot.Counts()
  /// The band of an operation that ``retiringCount`` contains. No list has this band, and the band of an operation that
  /// holds a slot is not used otherwise.
  private static let retiringBand: UInt8 = 0b111
  /// The number of operations that hold a slot only to finish, because they were cancelled before their start.
  private(set) var retiringCount = 0
  /// Whether the queue's counts, width or suspension have changed.
  private var isQueueChanged = false

  init(queue: QueueID) { self.queue = queue }

  private mutating func noteWatching() {
    let hasOthers = !subscriptions.isEmpty || finishCounting != nil
    isActive = hasOthers || collector != nil
    hasOnlyCollector = !hasOthers && collector != nil
  }

  // MARK: Collector

  /// Begins to store records for a collector.
  ///
  /// - Parameters:
  ///   - collector: The collector that owns the records from now on.
  ///   - first: The first operation in the queue. No operation in the queue has a record of this
  ///     collector.
  ///   - wake: Called when there are changes since the last reading.
  mutating func keepRecords(
    for collector: CollectorID, first: Unmanaged<Operation>?, wake: @escaping @Sendable () -> Void
  ) {
    self.collector = collector
    wakeCollector = wake
    isCollectorWoken = false
    isQueueChanged = true
    finishedInSlots = QueueSnapshot.Counts()
    retiringCount = 0
    unrecorded = UnrecordedOperations(first: first)
  }

  /// Ends the storing of records.
  ///
  /// - Returns: The errors in the records. The caller must release them outside the queue's lock, because
  ///   that may run code of the user.
  mutating func dropRecords(of collector: CollectorID) -> [any Error] {
    guard self.collector == collector else { return [] }
    self.collector = nil
    wakeCollector = nil
    for record in changedRecords { record.isChanged = false }
    let errors = changedRecords.compactMap { $0.takeError() }
    changedRecords = []
    takenCount = 0
    finishedInSlots = QueueSnapshot.Counts()
    unrecorded = UnrecordedOperations()
    return errors
  }

  /// Returns at most `limit` changed records. After this call, a change wakes the collector again.
  ///
  /// - Parameters:
  ///   - collector: The calling collector. It gets records only if it owns them.
  ///   - limit: The maximum number of records.
  ///   - adopting: The maximum number of operations without a record that get a record now. Up to
  ///     32 executing operations without a record get one in addition.
  /// - Returns: The changed records, and the number of changes of operations without a record.
  mutating func takeChangedRecords(
    for collector: CollectorID, limit: Int, adopting: Int
  ) -> TakenChanges {
    guard self.collector == collector else { return TakenChanges() }
    var changes = TakenChanges()
    changes.records = Array(changedRecords[takenCount...].prefix(limit))
    for record in changes.records { record.isChanged = false }
    takenCount += changes.records.count
    // The list of changed records is emptied only after all of its records were returned. Moving
    // the remaining records after each call would cost time proportional to their number.
    if takenCount == changedRecords.count {
      changedRecords = []
      takenCount = 0
    }
    let room = min(adopting, limit - changes.records.count)
    let adopted = adoptRunning(for: collector) + adoptNext(room, of: limit, for: collector)
    changes.records += adopted
    changes.adoptedCount = adopted.count
    for (index, record) in changes.records.enumerated() {
      guard record.snapshot.hasFailed || record.snapshot.isCancelled else { continue }
      if let error = record.takeError() { changes.errors[index] = error }
    }
    changes.hasMore = !changedRecords.isEmpty
    changes.hasUnrecorded = unrecorded.first != nil
    changes.lostSteps = unrecorded.takeLostSteps()
    isCollectorWoken = false
    isQueueChanged = changes.hasMore
    return changes
  }

  // MARK: Adopting

  /// Creates records for executing operations without a record, which started after the last
  /// reading.
  private mutating func adoptRunning(for collector: CollectorID) -> [OperationRecord] {
    let running = unrecorded.takeRunning()
    guard !running.isEmpty else { return [] }
    let now = csystem_monotonic_nanoseconds()
    return running.map { operation in
      let record = adopt(operation, at: operation.place.stage, for: collector)
      if record.snapshot.started == nil {
        record.snapshot.started = now
        record.snapshot.isStartApproximate = true
      }
      return record
    }
  }

  /// Creates records for up to `count` operations without a record, in the order of the queue.
  /// Examines at most `limit` operations.
  private mutating func adoptNext(
    _ count: Int, of limit: Int, for collector: CollectorID
  ) -> [OperationRecord] {
    var adopted: [OperationRecord] = []
    var seenCount = 0
    while adopted.count < count, seenCount < limit, let operation = unrecorded.takeNext() {
      seenCount += 1
      if operation.record?.collector == collector { continue }
      adopted.append(adopt(operation, at: operation.place.stage, for: collector))
    }
    return adopted
  }

  /// Gives an operation a record with its state at this stage.
  private func adopt(
    _ operation: Operation, at stage: QueuePlace.Stage, for collector: CollectorID
  ) -> OperationRecord {
    let status = operation.status.load(ordering: .acquiring)
    let state = stage.state
    let old = operation.record?.snapshot
    let record = OperationRecord(
      RecordedOperation(identifying: operation, queue: queue), needsDescription: true)
    record.collector = collector
    record.snapshot.state = state
    record.snapshot.isCancelled = status.isCancelled
    record.snapshot.isHeldUpByItself = status.isHeldUpByItself
    record.snapshot.isExcluded = status.isExcluded
    record.snapshot.priority = Operation.QueuePriority(index: status.priorityIndex)
    // The times that an earlier collector recorded are still valid if the operation's state has not
    // changed since.
    record.snapshot.added = old?.added
    record.snapshot.cancelRequested = old?.cancelRequested
    if old?.state == state {
      record.snapshot.becameReady = old?.becameReady
      record.snapshot.started = old?.started
    }
    if state == .executing, record.snapshot.started == nil {
      record.snapshot.started = operation.knownStart
    }
    operation.record = record
    lead(record, to: operation)
    if status.isCancelled { record.noteCancellation(of: operation) }
    return record
  }

  // MARK: Events

  // The functions in this section are not inlined. Otherwise, they would enlarge the stack frames
  // of their callers, which would cost instructions in queues without a monitor too.

  @inline(never)
  mutating func didMove(
    _ operation: Operation, from old: QueuePlace.Stage, to new: QueuePlace.Stage,
    _ status: OperationStatus
  ) {
    if status.isCancelled { countRetiring(operation, from: old, to: new, status) }
    // If a queue changes too fast for records, this `if` handles each of its state changes, so it
    // must cost almost nothing.
    if hasOnlyCollector, !operation.mayHaveRecord {
      isQueueChanged = true
      return unrecorded.didMove(operation, from: old, to: new)
    }
    recordMove(of: operation, from: old, to: new, status)
  }

  /// Counts a cancelled operation while it holds a slot only to finish.
  @inline(never)
  private mutating func countRetiring(
    _ operation: Operation, from old: QueuePlace.Stage, to new: QueuePlace.Stage,
    _ status: OperationStatus
  ) {
    if new == .executing, status.has(.cancelled) {
      operation.place.band = Self.retiringBand
      retiringCount += 1
    } else if old == .executing, operation.place.band == Self.retiringBand {
      // If an earlier collector recorded when the operation was chosen, this collector has not counted it. While this
      // collector has counted others, the number is then too low by 1 until one of them ends.
      retiringCount = max(0, retiringCount - 1)
    }
  }

  @inline(never)
  private mutating func recordMove(
    of operation: Operation, from old: QueuePlace.Stage, to new: QueuePlace.Stage,
    _ status: OperationStatus
  ) {
    if new == .lingering { finishCounting?.didLeave(operation) }
    guard collector != nil || !subscriptions.isEmpty else { return }
    isQueueChanged = true
    let record = collector.flatMap { recordToChange(of: operation, from: old, to: new, for: $0) }
    if record == nil, subscriptions.isEmpty { return }
    let now = csystem_monotonic_nanoseconds()
    let state = new.state
    if let record {
      change(record, of: operation, to: state, status, wasAdded: old == .outside, at: now)
    }
    if !subscriptions.isEmpty {
      publish(operation, old == .outside ? nil : old.state, state, status, now)
    }
  }

  /// Stores a state change in a record.
  private mutating func change(
    _ record: OperationRecord, of operation: Operation, to state: OperationState,
    _ status: OperationStatus, wasAdded: Bool, at now: Int64
  ) {
    // If the finish was already recorded, the collector may have read and forgotten the operation.
    if record.snapshot.state == .finished {
      finishedInSlots.countEnd(of: record, by: -1)
      return record.noteEnd()
    }
    record.snapshot.note(state, status, wasAdded: wasAdded, at: now)
    lead(record, to: operation)
    if status.isCancelled { record.noteCancellation(of: operation) }
    if state == .finished {
      record.snapshot.reports = operation.reports
      record.noteFailure(operation.failure(status))
      record.noteEnd()
    }
    markChanged(record)
  }

  /// Records the finish of an operation before its dependents are notified, so that no record of a
  /// start precedes the record of a finish that it had to wait for. The operation is still in the
  /// queue, and leaves the counts of executing operations later.
  @inline(never)
  mutating func willNotifyDependents(_ operation: Operation, _ status: OperationStatus) {
    guard operation.place.stage == .executing, let record = record(of: operation),
      record.snapshot.state != .finished
    else { return }
    record.snapshot.note(
      .finished, status, wasAdded: false, at: csystem_monotonic_nanoseconds())
    record.snapshot.reports = operation.reports
    if status.isCancelled {
      record.noteCancellation(of: operation)
    } else {
      record.noteFailure(operation.withRare { $0?.error })
    }
    finishedInSlots.countEnd(of: record, by: 1)
    markChanged(record)
  }

  /// Returns the record of the operation whose state changes; `nil` if the operation has no record.
  private mutating func recordToChange(
    of operation: Operation, from old: QueuePlace.Stage, to new: QueuePlace.Stage,
    for collector: CollectorID
  ) -> OperationRecord? {
    if let record = record(of: operation, isNew: old == .outside) {
      if new == .lingering { unrecorded.didLeave(operation) }
      return record
    }
    unrecorded.didMove(operation, from: old, to: new)
    // An operation that a recorded operation waits for (`isAwaited`) gets a record. Otherwise, the
    // dependent could be reported as waiting forever. Both reads are sequentially consistent: the
    // thread that sets the flag creates the rarely used state before, and then reads the status.
    let rare = operation.extra.load(ordering: .sequentiallyConsistent).rare
    guard rare?.isAwaited.load(ordering: .sequentiallyConsistent) == true else {
      return nil
    }
    unrecorded.forget(operation)
    return adopt(operation, at: old, for: collector)
  }

  @inline(never)
  mutating func wasCancelled(_ operation: Operation, _ status: OperationStatus) {
    let now = csystem_monotonic_nanoseconds()
    let state = operation.place.stage.state
    isQueueChanged = true
    if let record = record(of: operation), !record.isForgettable {
      record.snapshot.isCancelled = true
      record.noteCancellation(of: operation)
      record.snapshot.cancelRequested = now
      markChanged(record)
    }
    if !subscriptions.isEmpty { publish(operation, state, state, status, now) }
  }

  @inline(never)
  mutating func descriptionDidChange(_ operation: Operation, _ status: OperationStatus) {
    guard let record = record(of: operation), !record.isForgettable else { return }
    record.needsDescription = true
    record.snapshot.priority = Operation.QueuePriority(index: status.priorityIndex)
    markChanged(record)
  }

  /// Records that the operation still waits, possibly for another reason.
  @inline(never)
  mutating func stillWaits(_ operation: Operation, _ status: OperationStatus) {
    guard let record = record(of: operation), !record.isForgettable else { return }
    guard
      record.snapshot.isHeldUpByItself != status.isHeldUpByItself
        || record.snapshot.isExcluded != status.isExcluded
    else { return }
    record.snapshot.isHeldUpByItself = status.isHeldUpByItself
    record.snapshot.isExcluded = status.isExcluded
    markChanged(record)
  }

  /// Records that the queue's name, width, suspension or limit of starts has changed, or that starts have become one
  /// period old.
  mutating func queueDidChange() { isQueueChanged = true }

  /// Whether there may be monitors that must be woken.
  var mayHaveWakes: Bool { isActive && !(hasOnlyCollector && isCollectorWoken) }

  /// Returns the closures that wake the monitors for which there are changes, and that were not
  /// woken since they last read changes. The caller must call the closures.
  mutating func takeWakes() -> [@Sendable () -> Void] {
    var wakes: [@Sendable () -> Void] = []
    if let late = finishCounting?.takeLateCount(), late > 0, let finishCounting {
      wakes.append { finishCounting.callCounter(late) }
    }
    if isQueueChanged, !isCollectorWoken, let wakeCollector {
      isCollectorWoken = true
      wakes.append(wakeCollector)
    }
    for index in subscriptions.indices
    where !subscriptions[index].isWoken && !subscriptions[index].changes.isEmpty {
      subscriptions[index].isWoken = true
      wakes.append(subscriptions[index].wake)
    }
    return wakes
  }

  // MARK: Records

  /// Returns the collector's record of an operation; `nil` if the operation has no such record. If
  /// the operation is just entering the queue, the collector becomes the owner of its record.
  @inline(__always)
  private func record(of operation: Operation, isNew: Bool = false) -> OperationRecord? {
    guard let record = operation.record else { return nil }
    if isNew, record.collector == nil { record.collector = collector }
    return record.collector == collector && collector != nil ? record : nil
  }

  /// Makes the record refer to the operation until the operation leaves the queue. The queue does
  /// not release the operation earlier.
  private func lead(_ record: OperationRecord, to operation: Operation) {
    if operation.place.isInQueue { record.lead(to: operation) }
  }

  private mutating func markChanged(_ record: OperationRecord) {
    isQueueChanged = true
    guard !record.isChanged else { return }
    record.isChanged = true
    changedRecords.append(record)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch

/// What a queue keeps while somebody watches it. Guarded by the queue's lock.
///
/// Two channels. Records are state: each changed one is listed once, however often it changes, and
/// nothing is lost. Subscriptions are history: a bounded buffer each, which counts what it loses.
struct QueueMonitor {
  /// One subscriber's buffer of state changes.
  struct Subscription {
    let id: UInt64
    let capacity: Int
    let wake: @Sendable () -> Void
    var changes: [OperationStateChange] = []
    /// Lost since the last change that is in `changes`.
    var lost = 0
    /// The subscriber has been told that there is something, or has not asked yet.
    var isWoken = false
  }

  let queue: QueueID
  var subscriptions: [Subscription] = []
  /// Who counts what leaves; `nil` while nobody does.
  var finishCounting: FinishCounting?
  /// Who keeps the records; `nil` while nobody does.
  private(set) var recorder: RecorderID?
  /// The recorder's; `nil` while there is none.
  private(set) var wakeCollector: (@Sendable () -> Void)?
  /// In the order of their first change; those before `takenCount` have been handed out.
  private var changedRecords: [OperationRecord] = []
  private var takenCount = 0
  private var isCollectorWoken = false
  /// Counts, width or suspension are news.
  private var isQueueChanged = false

  init(queue: QueueID) { self.queue = queue }

  var isIdle: Bool { subscriptions.isEmpty && wakeCollector == nil && finishCounting == nil }

  // MARK: Collector

  mutating func startRecording(
    _ recorder: RecorderID, wake: @escaping @Sendable () -> Void
  ) {
    self.recorder = recorder
    wakeCollector = wake
    isCollectorWoken = false
    isQueueChanged = true
  }

  mutating func stopRecording(_ recorder: RecorderID) {
    guard self.recorder == recorder else { return }
    self.recorder = nil
    wakeCollector = nil
    for record in changedRecords { record.isChanged = false }
    changedRecords = []
    takenCount = 0
  }

  /// Hands out at most `limit` changed records and arms the wake-up again.
  mutating func takeChangedRecords(
    for recorder: RecorderID, limit: Int
  ) -> [OperationRecord] {
    guard self.recorder == recorder else { return [] }
    let taken = Array(changedRecords[takenCount...].prefix(limit))
    for record in taken { record.isChanged = false }
    takenCount += taken.count
    // Only once all are taken: moving the rest up each time would cost their number each time.
    if takenCount == changedRecords.count {
      changedRecords = []
      takenCount = 0
    }
    isCollectorWoken = false
    isQueueChanged = !changedRecords.isEmpty
    return taken
  }

  func hasChanges(for recorder: RecorderID) -> Bool {
    self.recorder == recorder && !changedRecords.isEmpty
  }

  // MARK: Events

  // Out of line, for the sake of queues without a monitor: the room that these need in the stack frame
  // of their callers would cost instructions there too.

  /// Makes the record of an operation that was there before the collector.
  mutating func adopt(_ operation: Operation, _ status: OperationStatus) {
    let record = record(of: operation)
    record.snapshot.state = Self.state(of: operation.place.stage)
    record.snapshot.isCancelled = status.isCancelled
    record.snapshot.isHeldUpByItself = status.isHeldUpByItself
    record.snapshot.isExcluded = status.isExcluded
    record.snapshot.priority = Operation.QueuePriority(index: status.priorityIndex)
    markChanged(record)
  }

  @inline(never)
  mutating func didMove(
    _ operation: Operation, from old: QueuePlace.Stage, to new: QueuePlace.Stage,
    _ status: OperationStatus
  ) {
    if new == .lingering { finishCounting?.didLeave(operation) }
    if wakeCollector == nil, subscriptions.isEmpty { return }
    let now = csystem_monotonic_nanoseconds()
    let state = Self.state(of: new)
    isQueueChanged = true
    if wakeCollector != nil {
      let record = record(of: operation)
      record.snapshot.note(state, status, wasAdded: old == .outside, at: now)
      if state == .finished { record.operation = nil }
      markChanged(record)
    }
    if !subscriptions.isEmpty {
      publish(operation, old == .outside ? nil : Self.state(of: old), state, status, now)
    }
  }

  @inline(never)
  mutating func wasCancelled(_ operation: Operation, _ status: OperationStatus) {
    let now = csystem_monotonic_nanoseconds()
    let state = Self.state(of: operation.place.stage)
    isQueueChanged = true
    if wakeCollector != nil {
      let record = record(of: operation)
      record.snapshot.isCancelled = true
      record.snapshot.cancelRequested = now
      markChanged(record)
    }
    if !subscriptions.isEmpty { publish(operation, state, state, status, now) }
  }

  @inline(never)
  mutating func descriptionDidChange(_ operation: Operation, _ status: OperationStatus) {
    guard wakeCollector != nil else { return }
    let record = record(of: operation)
    record.needsDescription = true
    record.snapshot.priority = Operation.QueuePriority(index: status.priorityIndex)
    markChanged(record)
  }

  /// It goes on waiting, perhaps for another reason.
  @inline(never)
  mutating func stillWaits(_ operation: Operation, _ status: OperationStatus) {
    guard wakeCollector != nil else { return }
    let record = record(of: operation)
    guard
      record.snapshot.isHeldUpByItself != status.isHeldUpByItself
        || record.snapshot.isExcluded != status.isExcluded
    else { return }
    record.snapshot.isHeldUpByItself = status.isHeldUpByItself
    record.snapshot.isExcluded = status.isExcluded
    markChanged(record)
  }

  /// The queue's name, width or suspension has changed.
  mutating func queueDidChange() { isQueueChanged = true }

  /// Whom to wake now: everyone who has news and has not been woken since asking.
  mutating func takeWakes() -> [@Sendable () -> Void] {
    var wakes: [@Sendable () -> Void] = []
    if let late = finishCounting?.takeLateCount(), late > 0, let finishCounting {
      wakes.append { finishCounting.counter(late) }
    }
    if let wakeCollector, isQueueChanged, !isCollectorWoken {
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

  // MARK: Subscribers

  /// Hands out a subscriber's changes and arms its wake-up again.
  mutating func takeChanges(of id: UInt64) -> [OperationStateChange] {
    guard let index = subscriptions.firstIndex(where: { $0.id == id }) else { return [] }
    defer {
      subscriptions[index].changes = []
      subscriptions[index].isWoken = false
    }
    return subscriptions[index].changes
  }

  private mutating func publish(
    _ operation: Operation, _ old: Operation.State?, _ new: Operation.State,
    _ status: OperationStatus, _ now: Int64
  ) {
    for index in subscriptions.indices {
      // The newest are lost: what is kept stays without a gap, and the next one tells of it.
      if subscriptions[index].changes.count >= subscriptions[index].capacity {
        subscriptions[index].lost += 1
        continue
      }
      subscriptions[index].changes.append(
        OperationStateChange(
          operation: operation.id, queue: queue, oldState: old, newState: new,
          isCancelled: status.isCancelled, time: DispatchTime(uptimeNanoseconds: UInt64(now)),
          lost: subscriptions[index].lost))
      subscriptions[index].lost = 0
    }
  }

  // MARK: Records

  /// It leads to the operation until that has left the queue, which is before it may be released.
  @inline(never)
  private func record(of operation: Operation) -> OperationRecord {
    let record =
      operation.record
      ?? OperationRecord(
        RecordedOperation(identifying: operation, queue: queue), needsDescription: true)
    if operation.record == nil { operation.record = record }
    if operation.place.isInQueue { record.operation = .passUnretained(operation) }
    record.snapshot.barriersBefore = operation.place.segment.rawValue
    return record
  }

  private mutating func markChanged(_ record: OperationRecord) {
    isQueueChanged = true
    guard !record.isChanged else { return }
    record.isChanged = true
    changedRecords.append(record)
  }

  static func state(of stage: QueuePlace.Stage) -> Operation.State {
    switch stage {
    case .outside, .waiting: .waiting
    case .ready: .ready
    case .executing: .executing
    case .lingering, .gone: .finished
    }
  }
}

extension RecordedOperation {
  /// Takes over a new state and the time at which it was reached.
  mutating func note(
    _ newState: Operation.State, _ status: OperationStatus, wasAdded: Bool, at now: Int64
  ) {
    state = newState
    isCancelled = status.isCancelled
    isHeldUpByItself = status.isHeldUpByItself
    isExcluded = status.isExcluded
    priority = Operation.QueuePriority(index: status.priorityIndex)
    if wasAdded { added = now }
    switch newState {
    case .waiting:
      becameReady = nil
      // It was chosen, but its own `isReady` said no at the last moment.
      started = nil
    case .ready: becameReady = now
    case .executing: started = now
    case .finished:
      finished = now
      awaitedOperations = []
      awaitedQueues = []
    }
  }
}

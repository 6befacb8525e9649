// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// Identifies an owner of records. A queue's records have one owner at a time.
package struct CollectorID: Hashable, Sendable {
  private let rawValue: UInt64
  private static let last = Atomic<UInt64>(0)

  /// Creates an id that no other owner of records has.
  package init() { rawValue = Self.last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// The list of the process's queues, which does not keep the queues alive, and the collector that
/// records all of them.
package enum QueueRegistry {
  /// A queue that is not retained.
  ///
  /// This is not a weak reference, which would make each retain and release of the queue several
  /// times slower. The queue's `deinit` removes the entry, so the memory of a listed queue is valid
  /// while the lock is held.
  private struct ListedQueue {
    private let reference: Unmanaged<OperationQueue>
    /// The object that contains the queue's state. It is valid until the end of the queue's `deinit`.
    let core: QueueCore
    /// Whether monitors can see the queue. They cannot see queues for the library's own work.
    let isListed: Bool

    init(_ queue: OperationQueue, isListed: Bool) {
      reference = .passUnretained(queue)
      core = queue.core
      self.isListed = isListed
    }

    /// The queue; `nil` if its `deinit` has begun.
    var queue: OperationQueue? {
      swift_tryRetain(reference.toOpaque()) == nil ? nil : reference.takeRetainedValue()
    }
  }

  /// A queue that no longer exists or whose `deinit` has begun, with changes that the collector has not read.
  package struct DepartedQueue: Sendable {
    fileprivate let core: QueueCore
    /// Whether the queue's `deinit` has begun and has not ended.
    package let isDeparting: Bool

    /// Returns the changes since the last reading; see `OperationQueue.takeChanges`.
    package func takeChanges(for collector: CollectorID, limit: Int) -> QueueChanges {
      core.takeChanges(
        for: collector, limit: limit, adopting: 0, newRecords: nil, readyLimit: 0,
        defaultName: OperationQueue.defaultName(core.id))
    }
  }

  /// The maximum number of queues that are kept until the collector reads their last changes.
  private static let mostDepartedQueues = 1_024

  private struct State {
    /// The existing queues. The key is the address of the queue's `QueueCore`, the object that
    /// contains the state of the queue.
    var queues: [UnsafeRawPointer: ListedQueue] = [:]
    var collector: CollectorID?
    var newRecords = 0
    var wakeCollector: (@Sendable () -> Void)?
    /// The listed queues that no longer exist, and whose last changes the collector has not read.
    var departed: [DepartedQueue] = []
  }

  private static let state = Locked(State())
  /// Whether the monitor has done its work before the first queue exists.
  private static let isMonitorReady = Atomic(false)

  static func add(_ queue: OperationQueue, isListed: Bool = true) {
    // The environment variables for the monitor are read when the first queue is created, so that the
    // program need not be changed. The monitor may wait for a viewer. Another thread that creates a queue
    // at this time also calls the monitor, which makes the thread wait too.
    if isListed, !isMonitorReady.load(ordering: .acquiring) {
      if csystem_offer_monitor() { isMonitorReady.store(true, ordering: .releasing) }
    }
    state.withLock { state in
      state.queues[address(of: queue.core)] = ListedQueue(queue, isListed: isListed)
    }
    if isListed { joinCollector(queue) }
  }

  /// Makes a new queue store records if a collector records the other queues. If a collector begins
  /// or stops recording during this call, the queue begins or stops too.
  private static func joinCollector(_ queue: OperationQueue) {
    var joined: CollectorID?
    while true {
      let (collector, newRecords, wake) = state.withLock {
        ($0.collector, $0.newRecords, $0.wakeCollector)
      }
      if collector == joined { return }
      // The collector that this queue has joined is no longer the current collector. It may have
      // removed its records from all queues before this queue stored records for it.
      if let joined { queue.core.dropRecords(of: joined) }
      guard let collector, let wake else { return }
      queue.core.keepRecords(for: collector, replaces: false, newRecords: newRecords, wake: wake)
      joined = collector
      wake()
    }
  }

  static func remove(_ queue: OperationQueue) {
    let wake = state.withLock { state in
      let isListed = state.queues.removeValue(forKey: address(of: queue.core))?.isListed == true
      if isListed, state.collector != nil, state.departed.count < mostDepartedQueues {
        state.departed.append(DepartedQueue(core: queue.core, isDeparting: false))
      }
      return state.wakeCollector
    }
    wake?()
  }

  /// Returns the existing queues by id, and removes and returns the queues whose last changes the
  /// collector has not read: queues that no longer exist, 1,024 at most, and queues whose `deinit` has begun.
  package static func takeQueues() -> (existing: [OperationQueue], departed: [DepartedQueue]) {
    // The two lists are made at the same time, so that each queue is in one of them.
    let (listed, departed) = state.withLock { state in
      defer { state.departed = [] }
      return (retainedQueues(of: state), state.departed)
    }
    let departing = listed.compactMap {
      $0.queue == nil ? DepartedQueue(core: $0.core, isDeparting: true) : nil
    }
    return (listed.compactMap(\.queue).sorted { $0.id < $1.id }, departed + departing)
  }

  /// The existing queues, by id.
  package static var queues: [OperationQueue] {
    state.withLock { retainedQueues(of: $0) }.compactMap(\.queue).sorted { $0.id < $1.id }
  }

  /// Returns the queues that monitors can see. The queue is `nil` if its `deinit` has begun. The caller releases the
  /// queues outside the lock, because the last release calls ``remove(_:)``.
  private static func retainedQueues(
    of state: borrowing State
  ) -> [(core: QueueCore, queue: OperationQueue?)] {
    state.queues.values.filter(\.isListed).map { ($0.core, $0.queue) }
  }

  /// Makes the collector, if there is one, read the state again.
  static func wakeCollector() { state.withLock { $0.wakeCollector }?() }

  private static func address(of core: QueueCore) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(core).toOpaque())
  }

  /// Returns the existing queue whose `QueueCore` is at this address. Only the address is used, so
  /// the object at the address may no longer exist.
  static func queue(at core: Unmanaged<QueueCore>) -> OperationQueue? {
    state.withLock { $0.queues[UnsafeRawPointer(core.toOpaque())]?.queue }
  }

  /// The number of operations that were ever added to the existing queues.
  package static var totalCount: Int {
    queues.reduce(0) { $0 + $1.core.withScheduler { scheduler, _ in scheduler.counts.total } }
  }

  /// Makes every existing queue that stores no records, and every later queue, store records.
  ///
  /// No state change is missed between the first scan and the first record of a change. Earlier
  /// changes are unknown.
  ///
  /// - Parameters:
  ///   - collector: A new collector. The process has only one collector at a time.
  ///   - newRecords: The number of records that each queue may create until its changes are read;
  ///     see `takeChanges`.
  ///   - wake: Called on any thread, outside every lock, when there are changes since the last
  ///     reading; must not block.
  package static func keepRecords(
    for collector: CollectorID, newRecords: Int = .max, wake: @escaping @Sendable () -> Void
  ) {
    MonitorLevel.raise()
    state.withLock { state in
      state.collector = collector
      state.newRecords = newRecords
      state.wakeCollector = wake
    }
    for queue in queues {
      queue.core.keepRecords(for: collector, replaces: false, newRecords: newRecords, wake: wake)
    }
    wake()
  }

  /// Makes all queues drop their records, and ends the effect of
  /// ``keepRecords(for:newRecords:wake:)``.
  package static func dropRecords(of collector: CollectorID) {
    // The closure that wakes the collector is kept until every queue has released its copy, so that
    // no queue releases the last reference under a lock.
    let (wake, departed) = state.withLock { state in
      state.collector = nil
      defer { state.departed = [] }
      return (state.wakeCollector.take(), state.departed)
    }
    for queue in queues { queue.core.dropRecords(of: collector) }
    withExtendedLifetime((wake, departed)) {}
    MonitorLevel.lower()
  }
}

/// Whether a collector in this process needs data about single operations, and not only the number
/// of operations in each state. The check costs one load and one branch.
///
/// A thread that changes the name, the priority or the dependencies of an operation reads this
/// value after the change. A collector changes this value before its first reading of the queues.
/// Both accesses are sequentially consistent: either the thread sees the new value, or the
/// collector sees the change. On x86-64 a sequentially consistent load costs a relaxed load at
/// most.
enum MonitorLevel {
  private static let level = Atomic<Int>(0)

  @inline(__always)
  static var isOn: Bool { level.load(ordering: .sequentiallyConsistent) != 0 }

  static func raise() { level.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  static func lower() { level.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
}

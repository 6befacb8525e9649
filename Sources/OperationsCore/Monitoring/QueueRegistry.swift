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
    /// Whether monitors can see the queue. They cannot see queues for the library's own work.
    let isListed: Bool

    init(_ queue: OperationQueue, isListed: Bool) {
      reference = .passUnretained(queue)
      self.isListed = isListed
    }

    /// The queue; `nil` if its `deinit` has begun.
    var queue: OperationQueue? {
      swift_tryRetain(reference.toOpaque()) == nil ? nil : reference.takeRetainedValue()
    }
  }

  private struct State {
    /// The existing queues. The key is the address of the queue's `QueueCore`, the object that
    /// contains the state of the queue.
    var queues: [UnsafeRawPointer: ListedQueue] = [:]
    var collector: CollectorID?
    var newRecords = 0
    var wakeCollector: (@Sendable () -> Void)?
  }

  private static let state = Locked(State())
  private static let isMonitorOffered = Atomic(false)

  static func add(_ queue: OperationQueue, isListed: Bool = true) {
    // The environment variable for the monitor is read when the first queue is created, so that the
    // program need not be changed.
    if isListed, !isMonitorOffered.exchange(true, ordering: .relaxed) { csystem_offer_monitor() }
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
      state.queues[address(of: queue.core)] = nil
      return state.wakeCollector
    }
    wake?()
  }

  /// The existing queues, by id.
  package static var queues: [OperationQueue] {
    let all = state.withLock { $0.queues.values.compactMap { $0.isListed ? $0.queue : nil } }
    return all.sorted { $0.id < $1.id }
  }

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
    let wake = state.withLock { state in
      state.collector = nil
      return state.wakeCollector.take()
    }
    for queue in queues { queue.core.dropRecords(of: collector) }
    withExtendedLifetime(wake) {}
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

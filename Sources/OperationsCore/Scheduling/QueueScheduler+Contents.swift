// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension QueueScheduler {
  var slotLimit: Int {
    maxConcurrentOperationCount < 0 ? Int.max : maxConcurrentOperationCount
  }

  /// The value of ``hasWork`` for a queue without restraints and without an underlying queue.
  @inline(__always)
  var hasPlainWork: Bool { hasFreeSlot && (!ready.isEmpty || barriers.front == .due) }

  /// The value of ``hasWork`` for every other queue. The method is mutating, because a call that is not inlined would
  /// otherwise copy the scheduler.
  @inline(never)
  mutating func hasOtherWork() -> Bool { hasWork }

  /// The maximum number of workers that a queue requests.
  static let widthLimit: UInt32 = 1 << 16

  /// Whether some operations of the queue were not started.
  var hasPending: Bool {
    counts.executing < counts.unfinished || barriers.front == .due || barriers.front == .blocked
  }

  /// The operations that have not left the queue, in the order of addition.
  var allOperations: [Operation] {
    var all: [Operation] = []
    all.reserveCapacity(counts.unfinished)
    forEachOperation { all.append($0.takeUnretainedValue()) }
    return all
  }

  /// Whether a barrier was chosen to be started and has not finished.
  var isBarrierRunning: Bool { barriers.front == .running }

  /// The unfinished barriers, in the order of addition.
  var allBarriers: [Operation] { barriers.operations.map { $0.takeUnretainedValue() } }

  /// Whether all slots are in use, so that ready operations may have to wait until an executing
  /// operation finishes.
  var isFull: Bool {
    maxConcurrentOperationCount > 0 && counts.executing >= maxConcurrentOperationCount
  }

  /// The operations that hold a slot, in the order of addition.
  var slotHolders: [Operation] {
    var holders: [Operation] = []
    var current = operations.after(nil)
    while let operation = current, holders.count < counts.executing {
      operation._withUnsafeGuaranteedRef { if $0.place.stage == .executing { holders.append($0) } }
      current = operations.after(operation)
    }
    return holders
  }

  /// All operations in the order of addition, and the ready operations in the order in which they
  /// would start.
  var contents: QueueContents {
    var contents = QueueContents()
    contents.entries.reserveCapacity(counts.unfinished + barriers.count)
    let allBarriers = allBarriers
    var barriersSeen = 0
    func appendBarrier() {
      let barrier = allBarriers[barriersSeen]
      let isFirst = barriersSeen == 0
      barriersSeen += 1
      contents.entries.append(entry(ofBarrier: barrier, isFirst: isFirst))
    }
    forEachOperation { operation in
      operation._withUnsafeGuaranteedRef {
        let barriersAhead = barriers.countAhead(of: $0)
        while barriersSeen < barriersAhead { appendBarrier() }
        contents.entries.append(entry(of: $0, barriersAhead: barriersAhead))
      }
    }
    while barriersSeen < allBarriers.count { appendBarrier() }
    contents.readyOrder.reserveCapacity(counts.ready)
    forEachReady {
      contents.readyOrder.append($0.toOpaque())
      return true
    }
    return contents
  }

  private func forEachOperation(_ body: (Unmanaged<Operation>) -> Void) {
    var current = operations.after(nil)
    while let operation = current {
      body(operation)
      current = operations.after(operation)
    }
  }

  /// Calls `body` with the ready operations, and the barrier if it is due, in the order in which
  /// they would start, until `body` returns `false`.
  func forEachReady(_ body: (Unmanaged<Operation>) -> Bool) {
    guard ready.forEach(body) else { return }
    for (index, barrier) in barriers.operations.enumerated() {
      if index == 0, barriers.front == .due, !body(barrier) { return }
      guard barriers.readyOperations(behind: index).forEach(body) else { return }
    }
  }

  /// Returns the ready operations in the order in which they would start, up to a limit.
  ///
  /// The time does not depend on the number of ready operations: the method reads at most `limit` operations, and the
  /// lists behind at most `limit` barriers.
  func firstReady(_ limit: Int) -> FirstReady {
    let limit = max(0, limit)
    var first: [Unmanaged<Operation>] = []
    first.reserveCapacity(min(limit, counts.ready))
    var lastAddress = 0
    func append(_ operation: Unmanaged<Operation>) -> Bool {
      guard first.count < limit else { return false }
      first.append(operation)
      // If many operations are ready, their memory is not in a processor cache. Operations that were added one after
      // the other often have equal distances, so the memory of the following ones is fetched before it is read.
      let address = Int(bitPattern: operation.toOpaque())
      let distance = address &- lastAddress
      lastAddress = address
      csystem_prefetch_two_lines(operation.toOpaque())
      if let next = UnsafeRawPointer(bitPattern: address &+ distance) {
        csystem_prefetch_two_lines(next)
        csystem_prefetch_two_lines(next + distance)
      }
      return true
    }
    var hasRoom = ready.forEach(append)
    for (index, _) in barriers.operations.prefix(limit).enumerated() {
      guard hasRoom, first.count < counts.ready else { break }
      hasRoom = barriers.readyOperations(behind: index).forEach(append)
    }
    // The operations are retained together, because each of these accesses waits for the earlier ones.
    return FirstReady(
      operations: first.map { $0.takeUnretainedValue() }, isCut: first.count < counts.ready)
  }

  /// The number of operations that have begun to execute; see ``QueueChanges/startedCount``.
  var startedCount: Int {
    counts.executing + counts.finished + counts.cancelled - unstartedCount - monitor.retiringCount
  }

  private func entry(of operation: Operation, barriersAhead: Int) -> QueueContents.Entry {
    let record = operation.rare?.record?.snapshot
    return QueueContents.Entry(
      operation: operation, state: operation.place.stage.state, isBarrier: false,
      isCancelled: operation.place.isCountedAsCancelling, barriersAhead: barriersAhead,
      added: record?.added, becameReady: record?.becameReady, started: record?.started)
  }

  private func entry(ofBarrier barrier: Operation, isFirst: Bool) -> QueueContents.Entry {
    let state: OperationState =
      switch barriers.front {
      case .due where isFirst: .ready
      case .running where isFirst: .executing
      case .none, .blocked, .due, .running: .waiting
      }
    return QueueContents.Entry(
      operation: barrier, state: state, isBarrier: true,
      isCancelled: barrier.status.load(ordering: .acquiring).isCancelled, barriersAhead: 0)
  }
}

// MARK: - Tests

/// The content of a queue's scheduler at one moment, for tests that run random programs.
package struct SchedulerContent {
  /// The number of operations of the queue in each state.
  package let counts: QueueSnapshot.Counts
  /// The barriers of the queue that have not finished.
  package let barriers: [Operation]
  /// For each operation, the number of barriers that were added before it; empty if the queue has no
  /// barriers.
  package fileprivate(set) var segments: [Operation: Int] = [:]
  /// Whether a worker would find an operation to start.
  package let hasWork: Bool
  /// Whether the queue has no operations and no barriers.
  package let isEmpty: Bool
}

extension OperationQueue {
  /// The content of the queue's scheduler, read in one critical section.
  package final var schedulerContent: SchedulerContent {
    let (content, operations, segments) = core.withScheduler { scheduler, _ in
      let barriers = scheduler.allBarriers
      let operations = barriers.isEmpty ? [] : scheduler.allOperations
      let content = SchedulerContent(
        counts: scheduler.counts, barriers: barriers, hasWork: scheduler.hasWork,
        isEmpty: scheduler.isEmpty)
      return (content, operations, operations.map { Int($0.place.segment.rawValue) })
    }
    // A subclass may override `hash`, so the dictionary is created outside the lock.
    var result = content
    result.segments = Dictionary(uniqueKeysWithValues: zip(operations, segments))
    return result
  }

  /// Whether the library still has to do work of its own on a thread, such as reading an overridden
  /// `isReady`.
  package static var hasDuties: Bool { duties.operationCount > 0 }
}

extension Operation {
  /// The operation that the calling thread executes.
  package static var executedByThisThread: Operation? { CurrentWork.operation }

  /// Whether the operation has finished and has left its queue.
  package final var hasLeftQueue: Bool { status.load(ordering: .acquiring).has(.retired) }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Ensures that each operation that leaves a queue is counted once. Guarded by the queue's lock.
///
/// Most operations are counted just before they leave, so that a thread that waits for an operation
/// finds it counted. An operation that was leaving when counting began is counted after it has
/// left.
struct FinishCounting {
  let counter: @Sendable (Int) -> Void
  /// The operations that were counted and are still in the queue or are about to enter it.
  private var countedEarly: Set<ObjectIdentifier> = []
  private var lateCount = 0

  init(counter: @escaping @Sendable (Int) -> Void) { self.counter = counter }

  /// Records that the operation is about to leave its queue, and that the caller counts it.
  mutating func willLeave(_ operation: Operation) {
    countedEarly.insert(ObjectIdentifier(operation))
  }

  mutating func didLeave(_ operation: Operation) {
    if countedEarly.remove(ObjectIdentifier(operation)) == nil { lateCount += 1 }
  }

  /// Returns the number of operations that have left the queue without being counted. Each
  /// operation is included in the result of only one call.
  mutating func takeLateCount() -> Int {
    defer { lateCount = 0 }
    return lateCount
  }

  /// Calls the counter, which is the closure that was passed to `countFinishes`, with the number of
  /// operations that were counted late. If this thread is a worker that may not run user code,
  /// another thread calls the counter.
  func callCounter(_ late: Int) {
    guard CurrentWork.isBetweenOperations else { return counter(late) }
    let counter = counter
    OperationQueue.completions.addOperation { counter(late) }
  }
}

extension OperationQueue {
  /// Calls `counter` once for each operation that leaves the queue from now on, whether it finished
  /// or was cancelled. Barriers are not counted.
  ///
  /// Operations that are in the queue when this method returns are counted. Operations that have
  /// left by then are not. An operation is counted before it leaves, so that a thread that waits
  /// for the operation or for the queue finds it counted. The only exception is an operation that
  /// is leaving while counting begins. Counting does not end while the queue exists. If the method
  /// is called again, the new counter replaces the previous one.
  ///
  /// - Parameter counter: Receives the number of operations, mostly 1. Called outside every lock of
  ///   this library, on the thread that has finished the operation or on a thread of the library,
  ///   possibly under a lock of a subclass, and on several threads at once. The queue retains it, so
  ///   it must not retain the queue.
  package final func countFinishes(_ counter: @escaping @Sendable (Int) -> Void) {
    let replaced = core.withScheduler { scheduler, _ in
      let replaced = scheduler.monitor.finishCounting
      scheduler.monitor.finishCounting = FinishCounting(counter: counter)
      return replaced
    }
    withExtendedLifetime(replaced) {}
    // The flag `isObserved` is set after the counter was stored, so that a thread that sees the
    // flag finds the counter. Because of the flag, each thread that finishes an operation calls
    // `announceRetirement`.
    core.insert(.observed)
  }
}

extension QueueCore {
  /// Counts an operation that is about to leave its queue, if counting has begun.
  func countFinish(of operation: Operation) {
    let counter = withScheduler { scheduler, _ in
      scheduler.monitor.finishCounting?.willLeave(operation)
      return scheduler.monitor.finishCounting?.counter
    }
    counter?(1)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Sees to it that each operation that leaves a queue is counted once. Guarded by the queue's lock.
///
/// Most are counted just before they leave, so that whoever waits for one finds it counted. One that
/// was leaving when counting began is counted after it has left.
struct FinishCounting {
  let counter: @Sendable (Int) -> Void
  /// Counted, and still in the queue or on their way into it.
  private var countedEarly: Set<ObjectIdentifier> = []
  private var lateCount = 0

  init(counter: @escaping @Sendable (Int) -> Void) { self.counter = counter }

  /// The operation is about to leave, and its caller counts it.
  mutating func willLeave(_ operation: Operation) {
    countedEarly.insert(ObjectIdentifier(operation))
  }

  mutating func didLeave(_ operation: Operation) {
    if countedEarly.remove(ObjectIdentifier(operation)) == nil { lateCount += 1 }
  }

  /// How many have left without being counted; they count as counted from now on.
  mutating func takeLateCount() -> Int {
    defer { lateCount = 0 }
    return lateCount
  }
}

extension OperationQueue {
  /// Calls `counter` once for each operation that leaves the queue from now on, however it has
  /// finished; barriers are none.
  ///
  /// What is in the queue when this returns is counted, and what has left by then is not. An
  /// operation is counted before it leaves: whoever waits for it, or for the queue, finds that done,
  /// but for one that is just leaving while this begins. For the rest of the queue's life, and once:
  /// a second counter takes the place of the first.
  ///
  /// - Parameter counter: Given how many there are, mostly 1. Called outside every lock of this
  ///   library, on the thread that has finished the operation, perhaps under a lock of a subclass's,
  ///   and on several threads at once. Retained by the queue: must not retain it.
  package final func countFinishes(_ counter: @escaping @Sendable (Int) -> Void) {
    let replaced = core.withScheduler { scheduler, _ in
      let replaced = scheduler.monitor.finishCounting
      scheduler.monitor.finishCounting = FinishCounting(counter: counter)
      return replaced
    }
    withExtendedLifetime(replaced) {}
    // After the counter is there: who sees this finds it. Leads every finish by way of
    // `announceRetirement`.
    core.isObserved.store(true, ordering: .sequentiallyConsistent)
  }
}

extension QueueCore {
  /// Counts an operation that is about to leave, if somebody wants to know.
  func countFinish(of operation: Operation) {
    let counter = withScheduler { scheduler, _ in
      scheduler.monitor.finishCounting?.willLeave(operation)
      return scheduler.monitor.finishCounting?.counter
    }
    counter?(1)
  }
}

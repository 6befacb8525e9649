// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension Operation {
  final func performWait() {
    // If an observer waited for the operation that it observes, it would wait for its own return.
    // This is checked first, because a worker that calls observers of an operation still counts as
    // executing the operation.
    if Delivery.isUnderWay(for: self) { return }
    if status.load(ordering: .acquiring).allowsWaitersToContinue { return }
    CurrentWork.retireWhatHasRun()
    if CurrentWork.isInside(self) {
      return OperationMisuse.raise(
        .waitOnSelf, "-[Operation waitUntilFinished]: \(description) waits for itself")
    }
    if status.load(ordering: .acquiring).isPending, MainDispatchQueue.isHeldHere, isPendingOnMain {
      return OperationMisuse.raise(
        .waitOnMainThread,
        "-[Operation waitUntilFinished]: \(description) has not started and needs the main thread, "
          + "which would wait for itself")
    }
    checkProcessBeforeWait()
    if csystem_is_forked_child() { checkThreadsBeforeWait() }
    CurrentWork.waiting(for: .operation(self)) { waitUntilRetired() }
  }

  /// Ends the process if it is a forked child, which would wait forever because it has no threads
  /// that execute operations of queues.
  fileprivate final func checkProcessBeforeWait() {
    if status.load(ordering: .acquiring).has(.enqueued) {
      ForkedProcess.check("to wait for an operation that is in a queue")
    }
  }

  /// Ends the process, a forked child, if it has only this thread, which would wait forever.
  ///
  /// For example, a thread of the parent has started the operation. A thread that the child has
  /// created may finish it. Therefore the number of threads decides.
  @inline(never)
  private final func checkThreadsBeforeWait() {
    // The status of the operation is read after the threads are counted. A thread that is no longer
    // counted may have finished the operation before the thread ended.
    if csystem_has_one_thread(), !status.load(ordering: .acquiring).allowsWaitersToContinue {
      ForkedProcess.refuse("to wait for an operation that none of its threads can finish")
    }
  }

  /// Ends the process if it is a forked child and expects this operation's queue to start the
  /// operation.
  final func checkProcessBeforeChange() {
    let status = status.load(ordering: .acquiring)
    if status.isPending, status.has(.enqueued) {
      ForkedProcess.check("to change an operation that is in a queue")
    }
  }

  /// Whether the operation has not started, and is in a queue whose operations run on the main
  /// dispatch queue.
  private final var isPendingOnMain: Bool {
    let status = status.load(ordering: .acquiring)
    guard status.isPending, !status.has(.dispatched), let queue = enqueuedQueue else {
      return false
    }
    // The queue is found by its address, because the operation may have finished and the queue may
    // be deallocated.
    return QueueRegistry.queue(at: queue)?.core.isOnMainDispatchQueue == true
  }

  /// Blocks the thread until the operation has left its queue and the queue's observers were
  /// notified. The thread sleeps on the low half of the operation's status word, which changes when
  /// a flag changes.
  final func waitUntilRetired() {
    while true {
      let current = status.load(ordering: .acquiring)
      if current.allowsWaitersToContinue { return }
      guard current.has(.hasWaiters) else {
        update { _ = $0.addWaiter() }
        continue
      }
      // The flags are the low half of the status word in memory, because Linux runs Swift only on
      // little-endian machines.
      withUnsafePointer(to: status) {
        ThreadShortage.wait($0, while: UInt32(truncatingIfNeeded: current.rawValue))
      }
    }
  }

  /// Waits until no other thread pins the operation, and then pins it. The queue does not release a
  /// pinned operation.
  final func pinWhenUnpinned() { waitUntil { $0.pin() } }

  /// Applies an event to the status until the event succeeds.
  ///
  /// Between two attempts, the thread sleeps for at most a millisecond. It does not spin, because
  /// the thread that keeps the event from succeeding may have a lower priority and need this
  /// processor. This method is called only for a refused batch, while an operation of the batch
  /// finishes or its priority is set.
  final func waitUntil(_ event: (inout OperationStatus) -> Bool) {
    while !update(event) {
      let seen = UInt32(truncatingIfNeeded: status.load(ordering: .relaxed).rawValue)
      withUnsafePointer(to: status) { _ = csystem_futex_wait($0, seen, 1_000_000) }
    }
  }

  final func wakeWaiters() {
    withUnsafePointer(to: status) { csystem_futex_wake($0, Int32.max) }
    let waiters = withRare { rare in
      defer { rare?.waiters = [:] }
      return rare?.waiters ?? [:]
    }
    for waiter in waiters.values { waiter.wake() }
  }

  /// Whether a task or a group waits for the operation. Waiting threads do not count, because they
  /// are not registered.
  final var hasRegisteredWaiters: Bool {
    status.load(ordering: .acquiring).has(.hasWaiters) && withRare { $0?.waiters.isEmpty == false }
  }

  /// Makes the library wake `waiter` when the operation has left its queue and the queue's
  /// observers were notified.
  ///
  /// - Returns: `false` if this has already happened. In that case the waiter was not added.
  final func addWaiter(_ waiter: any Waiter) -> Bool {
    // The thread that retires the operation first allows waiters to continue, then reads the flag
    // `hasWaiters`, and then acquires the lock. If this thread sets `hasWaiters` before that, the
    // waiter is in the list when the other thread has acquired the lock.
    makeRare { rare in
      let isEarly = update { $0.addWaiter() }
      if isEarly { rare.waiters[ObjectIdentifier(waiter)] = waiter }
      return isEarly
    }
  }

  /// Waits like ``OperationSupplement/waitUntilFinished()``, even if the waiting task is cancelled.
  final func finishedRegardless() async {
    let task = WaitingTask()
    guard addWaiter(task) else { return }
    checkProcessBeforeWait()
    await escalating { await task.waitRegardless() }
  }

  /// Removes a waiter that no longer waits. If the waiter is not in the list, nothing happens.
  final func removeWaiter(_ waiter: any Waiter) {
    withRare { rare in _ = rare?.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
  }
}

extension OperationSupplement where Self: Operation {
  /// Waits until the operation has finished, without blocking a thread.
  ///
  /// In asynchronous code, `await operation.waitUntilFinished()` calls this method. In synchronous
  /// code, the call is ``Operation/waitUntilFinished()``, which blocks the thread.
  ///
  /// When the method returns, the operation's dependents have been released and it has left its
  /// queue. It returns without delay if this has already happened. Any number of tasks can wait
  /// repeatedly. Cancelling a waiting task ends its wait and does not affect the operation. The
  /// wait for an operation that is never started does not end, and neither does the wait for the
  /// operation that contains the call. If the operation was neither added to a
  /// queue nor started, the library reports an ``OperationDiagnostic`` after one second.
  ///
  /// - Returns: Whether the operation has finished; `false` if the waiting task was cancelled
  ///   before that.
  @discardableResult
  public func waitUntilFinished() async -> Bool {
    if status.load(ordering: .acquiring).allowsWaitersToContinue { return true }
    let task = WaitingTask()
    guard addWaiter(task) else { return true }
    checkProcessBeforeWait()
    let isFinished = await CurrentWork.awaiting(.operation(self)) {
      await UnaddedAwait.watching(self) { await escalating { await task.wait() } }
    }
    if !isFinished { removeWaiter(task) }
    return isFinished
  }
}

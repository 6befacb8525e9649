// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch

extension QueueScheduler {
  /// Handles an added operation that may take a place of an admitted caller, or that a closed queue refuses.
  @inline(never)
  mutating func watchAddition(
    of operation: Operation, _ status: OperationStatus, _ effects: inout QueueEffects
  ) {
    admissions.operationWasAdded()
    if isClosed { withholdLate(operation, status, &effects) }
    watchAdditions()
  }

  /// Updates whether ``watchAddition(of:_:_:)`` must be called for added operations, and ``admit(_:)`` at the end of
  /// each critical section.
  mutating func watchAdditions() {
    watchesAdditions = isClosed || admissions.hasPlaces
    hasLine = admissions.isWaiting
  }

  /// Admits waiting callers if there is room, at the end of a critical section.
  @inline(never)
  mutating func admit(_ effects: inout QueueEffects) {
    let admitted =
      isClosed
      ? admissions.close()
      : admissions.admit(counts, now: csystem_monotonic_nanoseconds())
    if !admitted.isEmpty { effects.mutableWakeups.waiters += admitted }
    if let time = admissions.takeTimer() { effects.mutableWakeups.admissionTime = time }
    watchAdditions()
  }
}

extension QueueCore {
  /// Wakes waiting threads and tasks.
  ///
  /// When this thread wakes a task, the executor of the task may run the task on this thread. The task may wait for the
  /// operation that a worker has taken and not started yet. So in that case, another thread wakes the tasks.
  @inline(never)
  func wake(_ waiters: [any Waiter]) {
    guard CurrentWork.isBetweenOperations else {
      for waiter in waiters { waiter.wake() }
      return
    }
    let tasks = waiters.filter { $0 is WaitingTask }
    for waiter in waiters where !(waiter is WaitingTask) { waiter.wake() }
    if tasks.isEmpty { return }
    OperationQueue.duties.addOperation { for task in tasks { task.wake() } }
  }

  /// Handles the arrival of a caller that waits until the queue has fewer operations than `limit`.
  ///
  /// - Returns: `nil` if the caller may continue at once, or if the queue is closed. Otherwise the serial number of the
  ///   arrival, and `waiter` is woken when the caller may continue, or when the queue is closed.
  func arrive(_ waiter: any Waiter, limit: Int) -> Int? {
    let caller = withUnsafeCurrentTask { $0.map { UInt64(truncatingIfNeeded: $0.hashValue) } }
    return withScheduler { scheduler, _ in
      if scheduler.isClosed { return nil }
      let number = scheduler.admissions.arrive(
        waiter, limit: limit, caller ?? csystem_thread_number(), scheduler.counts,
        now: csystem_monotonic_nanoseconds())
      scheduler.watchAdditions()
      return number
    }
  }

  /// Removes a caller that no longer waits, because its task was cancelled.
  ///
  /// - Parameter number: The serial number of the caller's arrival.
  func leaveLine(_ number: Int) {
    withScheduler { scheduler, _ in
      scheduler.admissions.leave(number)
      scheduler.watchAdditions()
    }
  }

  /// Ends the places of admitted callers, which have added no operation, at a time of the monotonic clock.
  @inline(never)
  func endPlaces(at time: Int64) {
    let owner = owner.takeUnretainedValue()
    let delay = max(0, time - csystem_monotonic_nanoseconds()) + 1_000_000
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) {
      owner.core.withScheduler { scheduler, _ in
        scheduler.admissions.timeHasPassed(csystem_monotonic_nanoseconds())
      }
    }
  }
}

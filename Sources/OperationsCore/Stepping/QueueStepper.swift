// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The work of a queue that a test does by hand, besides the operations that can start: the tasks that can
/// continue.
final class QueueStepper: Sendable {
  private struct State {
    /// The tasks that can continue on the queue, in the order in which they were resumed.
    var jobs: [UnownedJob] = []
    /// The number of changes after which a step may have become possible.
    var changeCount: UInt64 = 0
    var waiters: [WaitingTask] = []
  }

  private let state = Locked(State())

  var jobCount: Int { state.withLock { $0.jobs.count } }
  var changeCount: UInt64 { state.withLock { $0.changeCount } }

  /// Adds a task that can continue.
  func add(_ job: UnownedJob) {
    state.withLock { $0.jobs.append(job) }
    noteChange()
  }

  /// Removes and returns a task that can continue; `nil` if there is none with this index.
  func takeJob(at index: Int) -> UnownedJob? {
    state.withLock { $0.jobs.indices.contains(index) ? $0.jobs.remove(at: index) : nil }
  }

  /// Handles that a step may have become possible.
  func noteChange() {
    let waiters = state.withLock { state in
      state.changeCount += 1
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.wake() }
  }

  /// Suspends the calling task until the number of changes differs from `count`, or until the task is
  /// cancelled.
  func waitForChange(after count: UInt64) async {
    let task = WaitingTask()
    let mustWait = state.withLock { state in
      guard state.changeCount == count else { return false }
      state.waiters.append(task)
      return true
    }
    if mustWait { _ = await task.wait() }
  }
}

extension QueueStepper: Waiter {
  func wake() { noteChange() }
}

extension QueueCore {
  fileprivate func makeStepped() {
    withScheduler { scheduler, _ in
      scheduler.restraints.insert(.stepped)
      scheduler.stepper = QueueStepper()
    }
    // Threads that add work to such a queue then notify the stepper instead of a worker.
    isOnDispatch.store(true, ordering: .sequentiallyConsistent)
  }
}

extension QueueCore {
  /// Adds a task that can continue, if a test steps the queue. Returns whether it does.
  func addStep(_ job: UnownedJob) -> Bool {
    guard let stepper = scheduler.withLock({ $0.stepper }) else { return false }
    stepper.add(job)
    return true
  }
}

/// The steps of a queue after ``makeStepped()``. A test calls these methods.
extension OperationQueue {
  /// Makes no thread start operations of this queue, so that only a test starts them.
  ///
  /// - Precondition: The queue has no operations, and no other thread adds one before this call returns.
  package final func makeStepped() { core.makeStepped() }

  private var stepper: QueueStepper? { core.scheduler.withLock { $0.stepper } }

  /// The operations that can start now, in the order in which they would start, also the barrier if it is due.
  package final var startableOperations: [Operation] {
    core.withScheduler { scheduler, _ in scheduler.startable }
  }

  /// Whether operations or barriers of the queue have not finished.
  package final var hasUnfinishedWork: Bool {
    core.withScheduler { scheduler, _ in !scheduler.isEmpty }
  }

  /// The number of tasks that can continue on the queue.
  package final var continuableTaskCount: Int { stepper?.jobCount ?? 0 }

  /// Starts an operation on the calling thread. The call returns when a synchronous operation has finished, and
  /// when an asynchronous operation awaits something or has finished.
  ///
  /// - Parameter chosen: The operation; `nil` for the first one.
  /// - Returns: The operation that was started; `nil` if it cannot start, or if its queue took it back, because its
  ///   `isReady` is `false` or another operation holds one of its exclusions.
  package final func startStep(_ chosen: Operation? = nil) -> Operation? {
    let taken = core.withScheduler { scheduler, _ in scheduler.takeForStep(chosen) }
    guard let taken else { return nil }
    let operation = taken.reference.takeUnretainedValue()
    core.execute(taken)
    // An operation that was started stays marked as chosen, and one that the queue took back does not.
    return operation.status.load(ordering: .acquiring).has(.dispatched) ? operation : nil
  }

  /// Continues a task of the queue on the calling thread until it awaits something or ends.
  ///
  /// - Parameter index: The index of the task in the order in which the tasks were resumed.
  /// - Returns: Whether a task has this index.
  package final func continueTask(at index: Int) -> Bool {
    guard let job = stepper?.takeJob(at: index) else { return false }
    core.resume(job)
    return true
  }

  /// Suspends the calling task until a step is possible, or the queue is empty, or the task is cancelled.
  package final func waitForStep() async {
    guard let stepper else { return }
    while !Task.isCancelled {
      let changeCount = stepper.changeCount
      if continuableTaskCount > 0 || !startableOperations.isEmpty { return }
      guard core.withScheduler({ scheduler, _ in scheduler.addWaiterForEmpty(stepper) }) else {
        return
      }
      await stepper.waitForChange(after: changeCount)
    }
    core.withScheduler { scheduler, _ in scheduler.removeWaiterForEmpty(stepper) }
  }
}

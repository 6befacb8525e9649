// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueCore {
  /// Retires the operation that a worker has executed, if any, and takes the next one, in one
  /// critical section.
  ///
  /// - Parameters:
  ///   - work: The finished work of the worker.
  ///   - takes: Whether to take an operation. If it is `false`, the worker only retires the executed one, and counts
  ///     as searching after that.
  ///   - isSearching: Whether the worker counts as searching. The method sets the value to `true` if
  ///     it finds no operation, and otherwise to `false`.
  /// - Returns: The operation to start, which the scheduler has marked as chosen.
  @inline(__always)
  func takeNext(
    after work: consuming FinishedWork, takes: Bool, isSearching: inout Bool
  ) -> StartableOperation? {
    if isObserved { retireSeparately(&work) }
    let mustAnnounce = work.operation.map { !$0.isBarrier } ?? false
    let next = takeNextUnannounced(after: work, takes: takes, isSearching: &isSearching)
    // Another thread announces that the operation has left the queue. This thread must not run
    // observers, because it holds its next operation or counts as searching.
    if mustAnnounce, isObserved {
      announceContentsElsewhere()
    }
    return next
  }

  @inline(__always)
  private func takeNextUnannounced(
    after work: FinishedWork, takes: Bool, isSearching: inout Bool
  ) -> StartableOperation? {
    var work = work
    while true {
      var effects = QueueEffects()
      let (next, isLate, isRetired) = retireAndTake(
        after: work, takes: takes, &effects, isSearching: isSearching)
      if isLate {
        performLate(after: isRetired ? nil : work.operation, &effects, isSearching: &isSearching)
        work = FinishedWork()
        continue
      }
      if next == nil, effects.wakesTask {
        performLate(after: nil, &effects, isSearching: &isSearching)
        work = FinishedWork()
        continue
      }
      if next == nil {
        // This worker counts as searching before it wakes waiters. So if the waiters add
        // operations, they need not request another worker.
        if !isSearching { gate.startSearching() }
        isSearching = true
      } else if isSearching {
        isSearching = false
        // A thread that has pushed an operation since the inbox was read has woken no worker,
        // because this worker was searching.
        if hasMail { effects.hasWork = true }
      }
      performBetweenOperations(&effects)
      return next
    }
  }

  /// Makes the finished operation leave the queue and takes the next operation, in the critical
  /// section.
  ///
  /// - Returns: The operation to start; whether user code must run before an operation is taken;
  ///   and whether the finished operation was retired. If it was retired, another thread may
  ///   release it.
  // Each function that `retireAndTake` calls is called in only one place, so that the compiler
  // inlines all of them.
  @inline(__always)
  private func retireAndTake(
    after work: FinishedWork, takes: Bool, _ effects: inout QueueEffects, isSearching: Bool
  ) -> (next: StartableOperation?, isLate: Bool, isRetired: Bool) {
    scheduler.withLock { scheduler in
      readInbox(&scheduler, &effects)
      if let first = work.madeReady.first { scheduler.takeIn(first, &effects) }
      var isRetired = true
      if let finished = work.operation { isRetired = finished.retire(&scheduler, &effects) }
      let isLate = effects.runsUsersCode(after: work.operation) || !isRetired
      var next: StartableOperation?
      // If the scheduler had no operation to start, and the inbox was read after that, the loop
      // asks the scheduler again.
      repeat {
        if takes, !isLate { next = scheduler.takeNextForWorker() }
      } while publishWidth(&scheduler, &effects) && next == nil
      // A worker that has found an operation stops counting as searching under the lock. So a
      // thread that frees a slot or adds work in a later critical section finds that no worker
      // searches, and wakes one.
      if isSearching, next != nil { gate.stopSearching() }
      scheduler.endSection(&effects)
      return (next, isLate, isRetired)
    }
  }

  /// Runs the work between two critical sections, which may be the user's code.
  ///
  /// During this work, the worker neither holds an operation nor counts as searching, because the
  /// user's code may wait for another operation of this queue.
  ///
  /// - Parameters:
  ///   - finished: The operation that could not be retired, because its finish must be announced
  ///     first.
  ///   - effects: The actions that remain after the critical section.
  ///   - isSearching: Whether the worker counts as searching. After the call, the value is `false`.
  @inline(never)
  private func performLate(
    after finished: FinishedBlock?, _ effects: inout QueueEffects, isSearching: inout Bool
  ) {
    if isSearching { gate.stopSearching() }
    isSearching = false
    if hasMail { effects.hasWork = true }
    CurrentWork.passNextQueueOn(CurrentWork.scope)
    // This worker requests another worker before it wakes a task. If the task's executor runs the
    // task on this thread, the task may wait for an operation that the other worker starts.
    if effects.hasWork { wakeWorker() }
    effects.hasWork = false
    notify(&effects)
    // The operation leaves its queue (is retired) before objects are released: a `deinit` may need
    // its slot, or end the thread.
    finished?.retire(from: self)
    effects.releaseOperations()
    if effects.releasesOwner { owner.release() }
  }

  /// Performs the effects like ``perform(_:)``, on a worker that holds its next operation or counts
  /// as searching. No user code may run here.
  ///
  /// The critical section has found that no release runs user code. Since then, another thread may
  /// have added objects to an operation that is released here. A callback of a monitor may run user
  /// code too. In these cases, ``CurrentWork/isBetweenOperations`` makes another thread run the code.
  @inline(__always)
  private func performBetweenOperations(_ effects: inout QueueEffects) {
    let mayRunUsersCode = effects.releasesOperations || effects.wakeups != nil
    let scope = mayRunUsersCode ? CurrentWork.scope : nil
    scope?.pointee.isBetweenOperations = true
    performInline(&effects)
    scope?.pointee.isBetweenOperations = false
  }

  private func pushAgain(_ chain: inout OperationChain) {
    while let operation = chain.popFirst() { operation._withUnsafeGuaranteedRef { pushAgain($0) } }
  }

  /// Makes the finished operation leave the queue in a separate critical section, and announces the
  /// change.
  @inline(never)
  func retireSeparately(_ work: inout FinishedWork) {
    CurrentWork.passNextQueueOn(CurrentWork.scope)
    pushAgain(&work.madeReady)
    guard let finished = work.operation else { return }
    finished.retire(from: self)
    work.operation = nil
  }

  /// Handles that a worker stops serving the queue while the queue may have more work. The worker
  /// does not count as searching.
  func leave(after work: consuming FinishedWork) {
    if work.operation == nil { withScheduler { _, _ in } }
    retireSeparately(&work)
  }

  /// Returns whether a worker that found no operation and gave up must search again. During its search,
  /// another thread may have freed a slot, resumed the queue or pushed an operation. That thread requested no
  /// worker, because this one was searching.
  func hasWorkAfterSearch() -> Bool {
    var effects = QueueEffects()
    scheduler.withLock { scheduler in
      scheduler.endSection(&effects)
      letGoOfOwner(scheduler, &effects)
    }
    let hasWork = effects.hasWork || hasMail
    effects.hasWork = false
    perform(&effects)
    return hasWork
  }

  // MARK: Bringing in workers

  /// Requests a worker for added operations.
  ///
  /// A waiting request of the queue may have no thread that could serve it, if the system started
  /// neither a worker nor the sampler. In that case, this thread tries again to start them.
  @inline(__always)
  func wakeWorkerAfterAdding() {
    if ThreadShortage.exists { ThreadShortage.retry() }
    let admitsWorkers = gate.admitsWorkers
    if admitsWorkers, gate.claimSearch() {
      pool.serve(self)
    } else if isOnDispatch.load(ordering: .sequentiallyConsistent) {
      submitBlocks()
    } else if !admitsWorkers {
      let count = additionsWithoutWorkers.load(ordering: .relaxed) &+ 1
      additionsWithoutWorkers.store(count, ordering: .relaxed)
      if count.isMultiple(of: Self.additionsPerReading) { readInboxAsAdder() }
    }
  }

  /// The number of additions without a worker after which the adding thread reads the inbox.
  private static let additionsPerReading: UInt32 = 1_024

  /// Reads the inbox on a thread that adds operations, while no worker may start operations, for example because the
  /// queue is suspended. The added operations are still in this processor's cache. Otherwise, the thread that
  /// resumes the queue would read all of them from memory at once.
  @inline(never)
  private func readInboxAsAdder() {
    var effects = QueueEffects()
    inSection(&effects) { _, _ in }
    guard effects.releasesOperations || effects.wakeups != nil else { return perform(&effects) }
    // The thread may hold a lock of the user, so another thread runs the user's code: a `deinit` or a waiting task.
    let owner = owner.retain()
    OperationQueue.completions.addOperation { [effects] in
      var effects = effects
      self.perform(&effects)
      owner.release()
    }
  }

  /// Requests a worker if one is missing. If the operations run on a dispatch queue, this method
  /// submits the missing blocks.
  @inline(__always)
  func wakeWorker() {
    if gate.claimWorker() {
      pool.serve(self)
    } else if isOnDispatch.load(ordering: .sequentiallyConsistent) {
      submitBlocks()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueCore {
  /// Retires the operation that a worker has executed, if any, and takes the next one, in one
  /// critical section.
  ///
  /// - Parameters:
  ///   - work: The finished work of the worker.
  ///   - isSearching: Whether the worker counts as searching. Afterwards it does if it has found
  ///     nothing.
  /// - Returns: The operation to start, dispatched.
  @inline(__always)
  func takeNext(
    after work: consuming FinishedWork, isSearching: inout Bool
  ) -> StartableOperation? {
    if isObserved.load(ordering: .sequentiallyConsistent) { retireSeparately(&work) }
    let mustAnnounce = work.operation.map { !$0.isBarrier } ?? false
    let next = takeNextUnannounced(after: work, isSearching: &isSearching)
    // Another thread announces, because this thread holds its next operation or counts as searching.
    if mustAnnounce, isObserved.load(ordering: .sequentiallyConsistent) {
      announceContentsElsewhere()
    }
    return next
  }

  @inline(__always)
  private func takeNextUnannounced(
    after work: FinishedWork, isSearching: inout Bool
  ) -> StartableOperation? {
    var work = work
    while true {
      var effects = QueueEffects()
      let (next, isLate, isRetired) = retireAndTake(
        after: work, &effects, isSearching: isSearching)
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
        // The search begins before waiters are woken, so that operations that they add need no other worker.
        if !isSearching { gate.startSearching() }
        isSearching = true
      } else if isSearching {
        isSearching = false
        // A thread that has pushed since the inbox was read has woken no worker, because this one searched.
        if hasMail { effects.hasWork = true }
      }
      performBetweenOperations(&effects)
      return next
    }
  }

  /// Retires the finished operation and takes the next one, in the critical section.
  ///
  /// - Returns: The operation to start, whether user code comes before that is taken, and whether
  ///   the finished operation was retired. If it was, another thread may release it.
  // Each step is called in only one place, so that all of them are inlined.
  @inline(__always)
  private func retireAndTake(
    after work: FinishedWork, _ effects: inout QueueEffects, isSearching: Bool
  ) -> (next: StartableOperation?, isLate: Bool, isRetired: Bool) {
    scheduler.withLock { scheduler in
      readInbox(&scheduler, &effects)
      if let first = work.madeReady.first { scheduler.takeIn(first, &effects) }
      var isRetired = true
      if let finished = work.operation { isRetired = finished.retire(&scheduler, &effects) }
      let isLate = effects.runsUsersCode(after: work.operation) || !isRetired
      var next: StartableOperation?
      // The search is repeated if no operation was found and the inbox was read meanwhile.
      repeat {
        if !isLate { next = scheduler.takeNextForWorker() }
      } while publishWidth(&scheduler, &effects) && next == nil
      // Under the lock: a later section that frees a slot or adds work finds that no worker
      // searches, and wakes one.
      if isSearching, next != nil { gate.stopSearching() }
      scheduler.endSection(&effects)
      return (next, isLate, isRetired)
    }
  }

  /// Runs the work between two critical sections, which may be the user's code.
  ///
  /// Meanwhile the worker neither holds an operation nor counts as searching: what it runs may wait for
  /// another operation of this queue.
  ///
  /// - Parameters:
  ///   - finished: The operation that could not be retired, because its finish must be announced first.
  ///   - effects: The actions that remain after the critical section.
  ///   - isSearching: Whether the worker counts as searching. Afterwards it does not.
  @inline(never)
  private func performLate(
    after finished: FinishedBlock?, _ effects: inout QueueEffects, isSearching: inout Bool
  ) {
    if isSearching { gate.stopSearching() }
    isSearching = false
    if hasMail { effects.hasWork = true }
    CurrentWork.passNextQueueOn(CurrentWork.scope)
    // Before a task is woken: if its executor runs it here, it may wait for what this worker brings in.
    if effects.hasWork { wakeWorker() }
    effects.hasWork = false
    notify(&effects)
    // The operation is retired before the releases: a `deinit` may need its slot, or end the thread.
    finished?.retire(from: self)
    effects.releaseOperations()
    if effects.releasesOwner { owner.release() }
  }

  /// Performs the effects like ``perform(_:)``, on a worker that holds its next operation or counts
  /// as searching. No user code may run here.
  ///
  /// The critical section has decided that none runs. Since then, another thread may have added
  /// objects to an operation that is released here: see ``CurrentWork/isBetweenOperations``.
  @inline(__always)
  private func performBetweenOperations(_ effects: inout QueueEffects) {
    let scope = effects.releasesOperations ? CurrentWork.scope : nil
    scope?.pointee.isBetweenOperations = true
    performInline(&effects)
    scope?.pointee.isBetweenOperations = false
  }

  /// Retires the finished work in a separate critical section, and announces the change.
  @inline(never)
  func retireSeparately(_ work: inout FinishedWork) {
    CurrentWork.passNextQueueOn(CurrentWork.scope)
    pushAgain(&work.madeReady)
    guard let finished = work.operation else { return }
    finished.retire(from: self)
    work.operation = nil
  }

  /// Handles that a worker that was not searching leaves, although there may be more work.
  func leave(after work: consuming FinishedWork) {
    if work.operation == nil { withScheduler { _, _ in } }
    retireSeparately(&work)
  }

  // MARK: Bringing in workers

  /// Brings in a worker for added operations.
  ///
  /// The queue's request may wait because earlier threads could not be started, not even the
  /// sampler. Then this thread tries again to start them.
  @inline(__always)
  func wakeWorkerAfterAdding() {
    if ThreadShortage.exists { ThreadShortage.retry() }
    wakeWorker()
  }

  /// Brings in a worker if one is missing, or submits the missing blocks.
  @inline(__always)
  func wakeWorker() {
    if gate.claimWorker() {
      pool.serve(self)
    } else if isOnDispatch.load(ordering: .sequentiallyConsistent) {
      submitBlocks()
    }
  }
}

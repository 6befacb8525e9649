// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueCore {
  /// A worker has done with an operation, or comes for the first time, and takes the next one:
  /// one critical section for both.
  ///
  /// - Parameters:
  ///   - work: What the worker has done, if there is something.
  ///   - isSearching: Whether the worker counts as searching. Afterwards it does if it has found nothing.
  /// - Returns: The operation to start, dispatched.
  @inline(__always)
  func takeNext(
    after work: consuming FinishedWork, isSearching: inout Bool
  ) -> StartableOperation? {
    if isObserved.load(ordering: .sequentiallyConsistent) { finishAnnouncing(&work) }
    let mustAnnounce = work.operation.map { !$0.isBarrier } ?? false
    let next = takeNextUnannounced(after: work, isSearching: &isSearching)
    if mustAnnounce { announceContentsAfterwards() }
    return next
  }

  @inline(__always)
  private func takeNextUnannounced(
    after work: FinishedWork, isSearching: inout Bool
  ) -> StartableOperation? {
    var work = work
    while true {
      var effects = QueueEffects()
      let (next, isLate) = retireAndTake(after: work, &effects)
      if isLate {
        work = performLate(after: work, &effects, isSearching: &isSearching)
        continue
      }
      if next == nil {
        // Before waiters are woken: what they add at once needs no other worker.
        if !isSearching { gate.startSearching() }
        isSearching = true
      } else if isSearching {
        // Before others are woken: no worker is woken while one searches.
        gate.stopSearching()
        isSearching = false
        // Who pushed since the inbox was read has woken nobody for that reason.
        if hasMail { effects.hasWork = true }
      }
      performBetweenOperations(&effects)
      return next
    }
  }

  /// The critical section.
  ///
  /// - Returns: The operation to start, and whether the user's code comes before that is taken.
  // Each step is called in one place only, so that all of them are inlined.
  @inline(__always)
  private func retireAndTake(
    after work: FinishedWork, _ effects: inout QueueEffects
  ) -> (next: StartableOperation?, isLate: Bool) {
    scheduler.withLock { scheduler in
      readInbox(&scheduler, &effects)
      if let first = work.madeReady.first { scheduler.admit(first, &effects) }
      var isLate = false
      if let finished = work.operation { isLate = !finished.retire(&scheduler, &effects) }
      if effects.runsUsersCode(after: work.operation) { isLate = true }
      var next: Unmanaged<Operation>?
      // Once more if nothing was found and the inbox was read since.
      repeat {
        if !isLate { next = scheduler.takeNextForWorker() }
      } while publishWidth(&scheduler, &effects) && next == nil
      scheduler.endSection(&effects)
      return (next.map(StartableOperation.init), isLate)
    }
  }

  /// Runs what comes between two critical sections, which may be the user's code.
  ///
  /// Meanwhile the worker neither holds an operation nor counts as searching: what it runs may wait for
  /// another operation of this queue.
  ///
  /// - Returns: What is still to be retired.
  @inline(never)
  private func performLate(
    after work: FinishedWork, _ effects: inout QueueEffects, isSearching: inout Bool
  ) -> FinishedWork {
    // Before it is released. Else an observer has come while it ran, which must hear of the finish first.
    let finished = work.operation.flatMap { $0.isRetired ? nil : $0 }
    if isSearching { gate.stopSearching() }
    isSearching = false
    if hasMail { effects.hasWork = true }
    perform(&effects)
    finished?.finishTelling()
    return FinishedWork(operation: finished)
  }

  /// As ``perform(_:)``, on a worker that holds its next operation, or counts as searching: nothing of
  /// the user's may run here.
  @inline(__always)
  private func performBetweenOperations(_ effects: inout QueueEffects) {
    let frame = effects.mayReleaseDependencies ? CurrentWork.frame : nil
    frame?.pointee.isBetweenOperations = true
    performInline(&effects)
    frame?.pointee.isBetweenOperations = false
  }

  /// Retires what was done in a critical section of its own, and announces that.
  @inline(never)
  func finishAnnouncing(_ work: inout FinishedWork) {
    pushAgain(&work.madeReady)
    guard let finished = work.operation else { return }
    finished.retire(from: self)
    work.operation = nil
  }

  /// A worker that was not searching leaves although there may be more to do.
  func leave(after work: consuming FinishedWork) {
    if work.operation == nil { withScheduler { _, _ in } }
    finishAnnouncing(&work)
  }
}

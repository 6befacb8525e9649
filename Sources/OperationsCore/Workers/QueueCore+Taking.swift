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
    var effects = QueueEffects()
    // Late if the user's code comes before the next operation is taken.
    let (next, isLate) = scheduler.withLock { scheduler -> (StartableOperation?, Bool) in
      readInbox(&scheduler, &effects)
      if let first = work.madeReady.first { scheduler.admit(first, &effects) }
      if let finished = work.operation, !finished.retire(&scheduler, &effects) {
        scheduler.endSection(&effects)
        return (nil, true)
      }
      if effects.mayRunUsersCode(after: work.operation) {
        publishWidth(&scheduler, &effects)
        scheduler.endSection(&effects)
        return (nil, true)
      }
      var next = scheduler.takeNextForWorker()
      if publishWidth(&scheduler, &effects), next == nil { next = scheduler.takeNextForWorker() }
      scheduler.endSection(&effects)
      return (next.map(StartableOperation.init), false)
    }
    if isLate { return takeNextLate(after: work, &effects, isSearching: &isSearching) }
    if next == nil {
      // Before waiters are woken: what they add at once needs no other worker.
      if !isSearching { gate.startSearching() }
      isSearching = true
    } else if isSearching {
      // Before others are woken: nobody is while one searches.
      gate.stopSearching()
      isSearching = false
      // Who pushed since the inbox was read has woken nobody for that reason.
      if hasMail { effects.hasWork = true }
    }
    perform(&effects)
    return next
  }

  /// Runs what comes between two critical sections, which may be the user's code.
  ///
  /// Meanwhile the worker neither holds an operation nor counts as searching: what it runs may wait for
  /// another operation of this queue.
  @inline(never)
  private func takeNextLate(
    after work: FinishedWork, _ effects: inout QueueEffects, isSearching: inout Bool
  ) -> StartableOperation? {
    // Before it is released. Else an observer has come while it ran, which must hear of the finish first.
    let finished = work.operation.flatMap { $0.isRetired ? nil : $0 }
    if isSearching { gate.stopSearching() }
    isSearching = false
    if hasMail { effects.hasWork = true }
    perform(&effects)
    finished?.finishTelling()
    return takeNextUnannounced(
      after: FinishedWork(operation: finished), isSearching: &isSearching)
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

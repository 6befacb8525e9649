// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Worker {
  /// Returns whether this thread of a background queue should serve another queue, or end so that another
  /// thread can serve a queue that is not in the background.
  @inline(never)
  func mustHandOverInBackground(
    _ queue: QueueCore, after count: Int, since turn: UInt32
  ) -> Bool {
    if pool.hasWaiting(besides: queue) { return true }
    guard pool.hasWaitingInBackground(besides: queue) else { return false }
    return pool.wantsFewerWorkers || count.isMultiple(of: Self.turn) || pool.turnNumber != turn
  }

  /// Stops serving a queue whose quality of service has changed, so that it needs another kind of thread.
  @inline(never)
  func leave(
    _ queue: QueueCore, after work: consuming FinishedWork, isSearching: Bool,
    _ scope: UnsafeMutablePointer<CurrentWork.Scope>
  ) {
    if isSearching { queue.gate.stopSearching() }
    CurrentWork.passNextQueueOn(scope)
    queue.leave(after: work)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationQueueSupplement where Self: OperationQueue {
  /// Blocks until the queue has fewer unfinished operations than a limit, so that a producer does not add operations
  /// faster than the queue finishes them.
  ///
  /// ```swift
  /// while let page = reader.next(), queue.waitUntilOperationCount(isBelow: 100) {
  ///   queue.addOperation { index(page) }
  /// }
  /// ```
  ///
  /// The callers continue in the order of their arrival, threads and tasks alike. A caller waits behind an earlier one
  /// even if its own limit is higher. One caller continues for each free place: a caller that continues counts as an
  /// operation until it adds one. If each producer waits before it adds an operation, and adds the operation within a
  /// second, the queue never has more operations than the limit.
  ///
  /// The place of a caller that adds no operation ends after one second. It ends earlier if another caller adds an
  /// operation, or if the caller calls this method again before any operation was added. An operation of a caller that
  /// has not waited takes a place too. A batch takes as many places as it has operations, but the caller has only one.
  ///
  /// The method counts the operations in ``OperationQueue/operationCount``. Barriers do not count. While the queue is
  /// suspended, no operation finishes, so the callers wait. An operation of the queue can call this method, but then it
  /// counts itself, and the wait never ends if all slots of the queue wait in this way. If the queue is closed, waiting
  /// callers continue at once. Can be called on any thread.
  ///
  /// - Parameter limit: The limit. A number below 1 counts as 1, so that the caller waits until the queue has no
  ///   operations.
  /// - Returns: Whether an operation can be added; `false` if the queue is closed.
  /// - Precondition: With the limit 1, the caller is not inside one of the queue's own operations. The caller is not on
  ///   the main thread if only this thread can start the operations that it waits for.
  @available(
    *, noasync,
    message:
      "Blocks a thread. In an asynchronous function, call `try await waitUntilOperationCount(isBelow:)`"
  )
  @discardableResult
  public func waitUntilOperationCount(isBelow limit: Int) -> Bool {
    CurrentWork.retireWhatHasRun()
    let method = "-[OperationQueue waitUntilOperationCountIsBelow:]"
    guard mayWaitForCount(below: limit, method) else { return !core.isClosed }
    if core.isOnMainDispatchQueue, MainDispatchQueue.isHeldHere, core.hasPending,
      givenOperationCount >= limit
    {
      refuseToWaitOnMain(method)
      return !core.isClosed
    }
    let latch = Latch()
    if core.arrive(latch, limit: limit) != nil {
      ForkedProcess.check("to wait for the operations of a queue")
      latch.wait()
    }
    return !core.isClosed
  }

  /// Waits until the queue has fewer unfinished operations than a limit, without blocking a thread.
  ///
  /// ```swift
  /// for try await page in pages {
  ///   try await queue.waitUntilOperationCount(isBelow: 100)
  ///   queue.addOperation { index(page) }
  /// }
  /// ```
  ///
  /// The rules of the blocking method apply. If the waiting task is cancelled, the wait ends, and the task leaves the
  /// line without an effect on the other callers.
  ///
  /// - Parameter limit: The limit. A number below 1 counts as 1.
  /// - Throws: `CancellationError` if the task was cancelled before it could continue. ``OperationQueueClosedError`` if
  ///   the queue is closed.
  /// - Precondition: With the limit 1, the caller is not inside one of the queue's own operations.
  public func waitUntilOperationCount(isBelow limit: Int) async throws {
    try Task.checkCancellation()
    guard mayWaitForCount(below: limit, "-[OperationQueue waitUntilOperationCountIsBelow:]") else {
      return
    }
    let task = WaitingTask()
    if let number = core.arrive(task, limit: limit) {
      ForkedProcess.check("to wait for the operations of a queue")
      guard await task.wait() else {
        core.leaveLine(number)
        throw CancellationError()
      }
    }
    if core.isClosed { throw OperationQueueClosedError(queue: core.id, name: givenName) }
  }
}

extension OperationQueue {
  /// The number of unfinished operations, without an override of a subclass.
  fileprivate final var givenOperationCount: Int {
    core.withScheduler { scheduler, _ in scheduler.counts.unfinished }
  }

  /// Returns whether the caller can wait until the queue has fewer operations than `limit`. Inside an operation of
  /// the queue, the count cannot become 0, and the method reports the mistake.
  fileprivate final func mayWaitForCount(below limit: Int, _ method: String) -> Bool {
    limit > 1 || !isInsideOwnOperation(method)
  }
}

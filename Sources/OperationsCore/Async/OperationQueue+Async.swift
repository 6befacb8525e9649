// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationQueueSupplement where Self: OperationQueue {
  /// Adds an asynchronous function as an ``AsyncOperation``.
  ///
  /// The operation holds a slot of the queue until the function has returned or thrown, and no
  /// thread while it awaits something. The method is not called `addOperation`, because every
  /// throwing closure would then be considered asynchronous, and its error would be stored without
  /// being reported.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``.
  ///   - body: Called once, in a new task, unless the operation is cancelled before it starts.
  /// - Returns: The operation. Its ``AsyncOperationSupplement/value`` is the function's result.
  @discardableResult
  public func addAsyncOperation<Output: Sendable>(
    name: String? = nil, _ body: @escaping @Sendable () async throws -> Output
  ) -> AsyncOperation<Output> {
    let operation = AsyncOperation(body)
    if let name { operation.name = name }
    addOperation(operation)
    return operation
  }

  /// Waits, without blocking a thread, until the queue is empty for a moment. Barriers and
  /// operations that are added during the wait are included.
  ///
  /// Returns without delay if the queue is empty. Any number of tasks can wait. Cancelling a
  /// waiting task ends its wait and does not affect the queue. If an operation of this queue calls
  /// the method in its own work, it waits for itself, and the wait ends only if the task is
  /// cancelled.
  ///
  /// - Returns: Whether the queue was empty; `false` if the waiting task was cancelled first.
  @discardableResult
  public func waitForAll() async -> Bool {
    let task = WaitingTask()
    guard core.withScheduler({ scheduler, _ in scheduler.addWaiterForEmpty(task) }) else {
      return true
    }
    ForkedProcess.check("to wait for the operations of a queue")
    let wasEmpty = await task.wait()
    if !wasEmpty { core.withScheduler { scheduler, _ in scheduler.removeWaiterForEmpty(task) } }
    return wasEmpty
  }
}

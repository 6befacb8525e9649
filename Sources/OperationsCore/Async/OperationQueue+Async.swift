// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationQueueSupplement where Self: OperationQueue {
  /// Adds an asynchronous function as an ``AsyncOperation``.
  ///
  /// It holds a slot of the queue until it has returned or thrown, and no thread while it awaits
  /// something. Not called `addOperation`, because every closure that throws would then be taken for an
  /// asynchronous one, and its error be kept where nobody looks.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``.
  ///   - body: Called once, in a task of its own, unless the operation is cancelled before it starts.
  /// - Returns: The operation: its ``AsyncOperationSupplement/value`` is what the function returns.
  @discardableResult
  public func addAsyncOperation<Output: Sendable>(
    name: String? = nil, _ body: @escaping @Sendable () async throws -> Output
  ) -> AsyncOperation<Output> {
    let operation = AsyncOperation(body)
    if let name { operation.name = name }
    addOperation(operation)
    return operation
  }

  /// Waits until the queue is empty at a moment, barriers and what is added meanwhile included, without
  /// blocking a thread.
  ///
  /// Returns without delay where it is empty. Any number of tasks may wait. Cancelling a task that waits
  /// ends its wait and does not touch the queue. In the work of one of the queue's own operations it
  /// would wait for itself, until the task is cancelled.
  ///
  /// - Returns: Whether the queue was empty; `false` where the waiting task was cancelled before that.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationQueueSupplement where Self: OperationQueue {
  /// Adds a synchronous function with a result as a ``ResultOperation``.
  ///
  /// The function runs on a thread of the queue, and may block this thread. The `name` has no default, so
  /// that each call without a name adds a block that has no result, as in Foundation.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - body: Called once, unless the operation is cancelled before it starts.
  /// - Returns: The operation. Its ``ResultOperationSupplement/value`` is the function's result.
  @discardableResult
  public func addOperation<Output: Sendable>(
    name: String?, _ body: @escaping @Sendable () throws -> Output
  ) -> ResultOperation<Output> {
    adding(ResultOperation(name: name, body))
  }

  /// Adds an asynchronous function with a result as an ``AsyncOperation``.
  ///
  /// The operation holds a slot of the queue until the function has returned or thrown, and no
  /// thread while it awaits something. The method is not called `addOperation`, because every
  /// throwing closure would then be considered asynchronous, and its error would be stored without
  /// being reported.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - inheritsTaskLocalValues: Whether the function has the task-local values of the caller; see
  ///     ``AsyncOperation``.
  ///   - body: Called once, in a new task on the queue's threads, unless the operation is cancelled before
  ///     it starts.
  /// - Returns: The operation. Its ``ResultOperationSupplement/value`` is the function's result.
  @discardableResult
  public func addAsyncOperation<Output: Sendable>(
    name: String? = nil, inheritsTaskLocalValues: Bool = false,
    _ body: @escaping @Sendable () async throws -> Output
  ) -> AsyncOperation<Output> {
    adding(AsyncOperation(name: name, inheritsTaskLocalValues: inheritsTaskLocalValues, body))
  }

  /// Adds an operation that continues with the values of several operations; see
  /// `AsyncOperation.init(name:after:body:)`.
  ///
  /// ```swift
  /// let sum = queue.addAsyncOperation(name: "sum", after: one, another) { $0 + $1 }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The new operation's ``Operation/name``; `nil` for none.
  ///   - first: The first operation whose value the new operation needs. It can be in any queue.
  ///   - others: The other operations whose values the new operation needs.
  ///   - body: Called with the values, in the order of the operations.
  /// - Returns: The new operation.
  @discardableResult
  public func addAsyncOperation<First: Sendable, each Other: Sendable, Output: Sendable>(
    name: String? = nil, after first: ResultOperation<First>,
    _ others: repeat ResultOperation<each Other>,
    body: @escaping @Sendable (First, repeat each Other) async throws -> Output
  ) -> AsyncOperation<Output> {
    adding(AsyncOperation(name: name, after: first, repeat each others, body: body))
  }

  /// Adds an operation that continues with the values of all operations of an array; see
  /// `AsyncOperation.init(name:after:body:)`.
  ///
  /// - Parameters:
  ///   - name: The new operation's ``Operation/name``; `nil` for none.
  ///   - operations: The operations whose values the new operation needs. They can be in any queue.
  ///   - body: Called with the values, in the order of the operations.
  /// - Returns: The new operation.
  @discardableResult
  public func addAsyncOperation<Input: Sendable, Output: Sendable>(
    name: String? = nil, after operations: [ResultOperation<Input>],
    body: @escaping @Sendable ([Input]) async throws -> Output
  ) -> AsyncOperation<Output> {
    adding(AsyncOperation(name: name, after: operations, body: body))
  }

  private func adding<Added: Operation>(_ operation: Added) -> Added {
    addOperation(operation)
    return operation
  }

  /// Adds several operations in one step, without waiting for them: their priorities decide which one
  /// starts first.
  ///
  /// This method calls ``OperationQueue/addOperations(_:waitUntilFinished:)``. It can also be called in
  /// asynchronous code.
  ///
  /// - Parameter operations: The operations. If one of them cannot be added, none of them is added.
  /// - Precondition: None of the operations is or was in a queue, or was started.
  public func addOperations(_ operations: [Operation]) {
    addOperations(operations, waitUntilFinished: false)
  }

  /// An executor that runs tasks on the threads of the queue.
  ///
  /// ```swift
  /// let lines = await withTaskExecutorPreference(queue.taskExecutor) { countLines(of: files) }
  /// ```
  ///
  /// Pass it to `withTaskExecutorPreference` or to `Task(executorPreference:)`. Its tasks are not
  /// operations: they take no slot of the queue, do not appear in ``OperationQueue/operations``, and run
  /// even if the queue is suspended, has the width 0 or has been released. They can block their threads.
  /// The threads are those of the library, and their number follows the rules for a queue of this width.
  /// If the queue has an ``OperationQueue/underlyingQueue``, the tasks run there.
  ///
  /// Code that is isolated to an actor runs on that actor, and not on this executor. The top-level code of
  /// `main.swift` is isolated to the main actor. Call a `@concurrent` function from there.
  ///
  /// The work of an ``AsyncOperation`` runs on this executor. Can be read on any thread.
  public var taskExecutor: any TaskExecutor { core }

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
  public func waitUntilAllOperationsAreFinished() async -> Bool {
    let task = WaitingTask()
    guard core.withScheduler({ scheduler, _ in scheduler.addWaiterForEmpty(task) }) else {
      return true
    }
    ForkedProcess.check("to wait for the operations of a queue")
    let wasEmpty = await CurrentWork.awaiting(.queue(self)) { await task.wait() }
    if !wasEmpty { core.withScheduler { scheduler, _ in scheduler.removeWaiterForEmpty(task) } }
    return wasEmpty
  }
}

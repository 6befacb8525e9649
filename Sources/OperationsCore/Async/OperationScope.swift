// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The operations that are added to a queue inside a call of
/// ``OperationQueueSupplement/withOperations(isolation:_:)``.
///
/// The body of that call receives the scope, and adds operations through it. An operation of the scope can add further
/// operations through the scope while it has not finished. Every member can be used on any thread.
public final class OperationScope: Sendable {
  /// The queue to which the scope adds its operations.
  public let queue: OperationQueue
  private let state = Locked(OperationScopeState())

  init(on queue: OperationQueue) { self.queue = queue }

  // MARK: Adding

  /// Adds an operation to the queue and to the scope.
  ///
  /// If the scope was cancelled, the operation is cancelled before it is added.
  ///
  /// - Precondition: The scope has not ended. The operation is not and was not in a queue, and was not started.
  public func addOperation(_ operation: Operation) {
    switch state.withLock({ $0.join(operation) }) {
    case .ended: return refuse(operation)
    case .joined(let number, let isCancelled):
      if isCancelled { operation.cancel() }
      do {
        try queue.tryAddOperation(operation)
      } catch {
        remove(number)
        return OperationMisuse.raise(error.kind, error.description)
      }
      if !operation.addWaiter(ScopeMember(number, of: self)) { remove(number) }
    }
  }

  /// Adds several operations to the scope, and to the queue in one step: their priorities decide which one starts
  /// first. The rules of ``addOperation(_:)-(Operation)`` apply.
  public func addOperations(_ operations: [Operation]) {
    var numbers: [Int] = []
    for operation in operations {
      switch state.withLock({ $0.join(operation) }) {
      case .ended: refuse(operation)
      case .joined(let number, let isCancelled):
        if isCancelled { operation.cancel() }
        numbers.append(number)
      }
    }
    guard numbers.count == operations.count else { return numbers.forEach(remove) }
    do {
      try queue.tryAddOperations(operations)
    } catch {
      numbers.forEach(remove)
      return OperationMisuse.raise(error.kind, error.description)
    }
    for (operation, number) in zip(operations, numbers)
    where !operation.addWaiter(ScopeMember(number, of: self)) { remove(number) }
  }

  /// Adds a block as a ``BlockOperation`` with the queue's quality of service at this moment.
  ///
  /// - Returns: The operation.
  /// - Precondition: The scope has not ended.
  @discardableResult
  public func addOperation(_ block: @escaping @Sendable () -> Void) -> BlockOperation {
    let operation = BlockOperation(block: block)
    if !queue.core.hasDefaultQualityOfService {
      operation.qualityOfService = queue.core.qualityOfService
    }
    addOperation(operation)
    return operation
  }

  /// Adds a synchronous function with a result, as ``OperationQueueSupplement/addOperation(name:_:)`` does.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - body: Called once, unless the operation is cancelled before it starts.
  /// - Returns: The operation. Its ``ResultOperationSupplement/value`` is the function's result.
  /// - Precondition: The scope has not ended.
  @discardableResult
  public func addOperation<Output: Sendable>(
    name: String?, _ body: @escaping @Sendable () throws -> Output
  ) -> ResultOperation<Output> {
    let operation = ResultOperation(name: name, body)
    addOperation(operation)
    return operation
  }

  /// Adds an asynchronous function with a result, as ``OperationQueueSupplement/addAsyncOperation(name:inheritsTaskLocalValues:_:)`` does.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - body: Called once, in a new task on the queue's threads, unless the operation is cancelled before it starts.
  /// - Returns: The operation. Its ``ResultOperationSupplement/value`` is the function's result.
  /// - Precondition: The scope has not ended.
  @discardableResult
  public func addAsyncOperation<Output: Sendable>(
    name: String? = nil, _ body: @escaping @Sendable () async throws -> Output
  ) -> AsyncOperation<Output> {
    let operation = AsyncOperation(name: name, body)
    addOperation(operation)
    return operation
  }

  // MARK: Cancelling

  /// Whether the scope was cancelled. Operations that are added to a cancelled scope are cancelled.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels the operations of the scope, and those that are added later. Other operations of the queue are not
  /// cancelled. The operation that was added last is cancelled first, so that none starts because an earlier one has
  /// ended. A second call, or a call after the end of the scope, has no effect.
  public func cancelAll() { cancel(state.withLock { $0.cancel(byTask: false) }) }

  /// Cancels the operations of the scope, because the task of the scope was cancelled.
  ///
  /// The runtime may hold a lock of the task when it calls this method, and `cancel()` may be code of the user. So
  /// another thread cancels the operations.
  func taskWasCancelled() {
    let operations = state.withLock { $0.cancel(byTask: true) }
    if operations.isEmpty { return }
    OperationQueue.duties.addOperation { self.cancel(operations) }
  }

  private func cancel(_ operations: [Operation]) {
    for operation in operations.reversed() { operation.cancel() }
  }

  // MARK: Ending

  /// Waits until all operations of the scope have finished, and ends the scope.
  ///
  /// - Returns: Whether the cancellation of the task has cancelled operations of the scope.
  func end() async -> Bool {
    while true {
      switch state.withLock({ $0.end() }) {
      case .ended(let isInterrupted): return isInterrupted
      case .waits(let number, let operation):
        _ = await CurrentWork.awaiting(.operation(operation)) {
          await operation.finishedRegardless()
          return true
        }
        remove(number)
      }
    }
  }

  fileprivate func remove(_ number: Int) {
    // The operation is released after the lock, because its `deinit` may run code of the user.
    let operation = state.withLock { $0.leave(number) }
    withExtendedLifetime(operation) {}
  }

  /// Refuses an operation that is added after the end of the scope. The operation is cancelled and finishes, so that
  /// code that waits for it continues if the mistake is handled.
  private func refuse(_ operation: Operation) {
    OperationMisuse.raise(
      .scopeHasEnded,
      "-[OperationScope addOperation:]: \(operation.description) cannot be added: the scope has ended, because "
        + "withOperations has returned")
    operation.cancel()
    _ = OperationQueue.refused.core.add(operation)
  }
}

/// Notifies a scope when one of its operations has left the queue.
private final class ScopeMember: Waiter {
  private let number: Int
  private let scope: OperationScope

  init(_ number: Int, of scope: OperationScope) {
    self.number = number
    self.scope = scope
  }

  func wake() { scope.remove(number) }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Calls a function that adds operations to this queue through a scope, and waits until all operations of the scope
  /// have finished.
  ///
  /// ```swift
  /// let total = try await queue.withOperations { scope in
  ///   let sizes = files.map { file in scope.addAsyncOperation { try await size(of: file) } }
  ///   var total = 0
  ///   for size in sizes { total += try await size.value }
  ///   return total
  /// }
  /// ```
  ///
  /// When the method returns or throws, every operation that was added through the scope has finished and left the
  /// queue, including the operations that operations of the scope have added through it. Other operations of the queue
  /// are neither awaited nor cancelled.
  ///
  /// If the body throws, the operations of the scope are cancelled and awaited, and the method throws the same error.
  /// If the task is cancelled, the operations of the scope are cancelled at once, while the body continues, and they
  /// are awaited. A failed operation cancels nothing and is not reported by this method: its error is in its
  /// ``ResultOperationSupplement/value``, which the body can await, and in its `error`. To fail with the first error,
  /// await the values in the body, or use a ``GroupOperation`` that fails fast.
  ///
  /// Scopes can be nested, on one queue or on several. Like all operations, cancelled ones need a free slot to finish.
  /// If the queue is suspended, the method waits until it is resumed. An operation of the queue that calls this method
  /// holds its slot meanwhile, so the operations of the scope need other slots.
  ///
  /// - Parameters:
  ///   - isolation: The actor on which the body runs; the caller's by default.
  ///   - body: Called once. It receives the scope, which must not be used after this method has returned.
  /// - Returns: The value of the body.
  /// - Throws: The error of the body. `CancellationError` if the body has returned, but the cancellation of the task has
  ///   cancelled operations of the scope.
  @discardableResult
  public func withOperations<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (OperationScope) async throws -> Value
  ) async throws -> Value {
    let scope = OperationScope(on: self)
    return try await withTaskCancellationHandler {
      let value: Value
      do {
        value = try await body(scope)
      } catch {
        scope.cancelAll()
        _ = await scope.end()
        throw error
      }
      if await scope.end() { throw CancellationError() }
      return value
    } onCancel: {
      scope.taskWasCancelled()
    }
  }
}

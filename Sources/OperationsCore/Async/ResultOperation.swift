// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation whose work returns a value or throws an error.
///
/// ```swift
/// let size = queue.addOperation(name: "count lines") { try countLines(of: file) }
/// print(try await size.value)
/// ```
///
/// The work is a synchronous closure. It runs on a thread of the queue, and may block this thread. For
/// asynchronous work, use the subclass ``AsyncOperation``. Both have a
/// ``ResultOperationSupplement/value``, a ``ResultOperationSupplement/result``, and methods that add
/// operations which continue with the value, such as ``ResultOperationSupplement/then(on:name:_:)``.
///
/// If the closure throws, the operation has failed with this error. An operation that was cancelled
/// before it started does not call its closure. The closure decides how to react to a later
/// cancellation: it can read ``OperationSupplement/current`` and the operation's `isCancelled`, and
/// throw `CancellationError`.
///
/// Do not subclass this class. To override the work, subclass ``AsyncOperation`` or ``Operation``.
// Unchecked `Sendable` conformance for the reason given at `Operation`. The operation's lock guards
// `work`.
open class ResultOperation<Output: Sendable>: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var work: ResultWork<Output>

  /// Creates an operation that calls a synchronous closure.
  ///
  /// - Parameters:
  ///   - name: The operation's ``Operation/name``; `nil` for none.
  ///   - priority: The operation's ``Operation/queuePriority``.
  ///   - dependencies: The operations that must finish before this one can start.
  ///   - body: Called at most once, on a thread of the operation's queue, or on the thread that calls
  ///     `start()`. It is released before threads and tasks that wait for the operation continue, even
  ///     if it was not called because the operation was cancelled.
  /// - Precondition: The closure does not wait for this operation.
  public init(
    name: String? = nil, priority: QueuePriority = .normal, dependencies: [Operation] = [],
    _ body: @escaping @Sendable () throws -> Output
  ) {
    work = ResultWork(body: .synchronous(body))
    super.init()
    configure(name, priority, dependencies)
  }

  /// Creates an asynchronous operation.
  init(asynchronous body: (@Sendable () async throws -> Output)?) {
    work = ResultWork(body: body.map { .asynchronous($0) })
    super.init()
  }

  /// Releases the closure before the list of dependencies. Without this call, the closure would be
  /// released after the list, because Swift releases the stored properties of a subclass after
  /// those of its superclass. A closure often captures operations that its operation depends on. If
  /// the closure had the last references to these operations, its release would release a chain of
  /// operations recursively. With this order, the list of dependencies has the last references, and
  /// is released without recursion.
  deinit { discardWork() }

  /// Does nothing. The operation does its work in its closure, or in ``AsyncOperation/run()``.
  public final override func main() {}

  // MARK: Inside

  final func configure(
    _ name: String?, _ priority: QueuePriority, _ dependencies: [Operation]
  ) {
    if let name { self.name = name }
    if priority != .normal { queuePriority = priority }
    for dependency in dependencies { addDependency(dependency) }
  }

  /// The result of the finished operation.
  ///
  /// - Precondition: The operation has finished.
  final var finalResult: Result<Output, any Error> {
    guard let result = finalResultSoFar else {
      preconditionFailure("The operation has finished without a result")
    }
    return result
  }

  /// Returns the value. If the operation has not finished, because a dependency was removed, waits for it.
  final func finalValue() async throws -> Output {
    if let result = finalResultSoFar { return try result.get() }
    return try await value
  }

  /// The same value as ``ResultOperationSupplement/result``. A subclass may hide that property, but
  /// not this one.
  final var finalResultSoFar: Result<Output, any Error>? {
    guard status.load(ordering: .acquiring).isFinished else { return nil }
    return withWork { $0.outcome } ?? .failure(error ?? CancellationError())
  }

  /// Calls the synchronous closure.
  override func runBody() -> Bool {
    guard case .synchronous(let body) = withWork({ $0.beginBody(keepsBody: true) }) else {
      return true
    }
    let outcome = keepingError(Result(catching: body))
    withWork { $0.end(outcome) }
    return true
  }

  /// Stores the error of the work as the error of the operation.
  ///
  /// - Returns: The result of the operation. If the operation was cancelled and the work has thrown
  ///   `CancellationError`, the result has the reason of the cancellation.
  final func keepingError(
    _ outcome: Result<Output, any Error>
  ) -> Result<Output, any Error> {
    guard case .failure(let error) = outcome else { return outcome }
    if error is CancellationError, isCancelled { return .failure(self.error ?? error) }
    keepError(error)
    return outcome
  }

  /// Whether the operation releases its work before threads and tasks that wait for the operation
  /// continue. The value is always `true`, because the operation releases its closure at that time.
  final override var releasesWorkFirst: Bool { true }

  final override func takeWork(mayRunAgain: Bool) -> Any? { withWork { $0.takeBody() } }

  final func withWork<Value>(_ body: (inout ResultWork<Output>) -> Value) -> Value {
    lock.lock()
    defer { lock.unlock() }
    return body(&work)
  }
}

/// The members of ``ResultOperation`` that a subclass may redeclare, like those of
/// ``OperationSupplement``.
///
/// Only ``ResultOperation`` conforms to this protocol.
public protocol ResultOperationSupplement: OperationSupplement {
  /// The type of the operation's result.
  associatedtype Output: Sendable
}

extension ResultOperation: ResultOperationSupplement {}

extension ResultOperationSupplement {
  /// The returned value or the error of the operation's work; `nil` until the operation has finished.
  ///
  /// If the operation was cancelled before it started, or has thrown `CancellationError` because it
  /// was cancelled, the result is the reason that was passed to `cancel(with:)`, or
  /// `CancellationError` if there was none. This property can be read on any thread.
  ///
  /// An error of the work is also the operation's `error`. An operation that was cancelled without a
  /// reason has no `error`.
  public var result: Result<Output, any Error>? { resultOperation.finalResultSoFar }

  /// The value that the operation's work has returned, after the operation has finished.
  ///
  /// Any number of tasks can wait for the value. Cancelling a waiting task ends its wait and does
  /// not affect the operation. If the waiting task has a higher priority than the operation, the
  /// operation is raised to it; see <doc:PrioritiesAndWidths>. The wait for an operation that is never
  /// started does not end, even if the operation is cancelled. The same is true for an operation that waits for itself in its
  /// own work.
  ///
  /// - Throws: The error in ``result``. Also `CancellationError`, if the waiting task was cancelled
  ///   before the operation had finished.
  public var value: Output {
    get async throws {
      let operation = resultOperation
      guard await operation.waitUntilFinished() else { throw CancellationError() }
      return try operation.finalResult.get()
    }
  }

  /// The operation itself.
  var resultOperation: ResultOperation<Output> {
    guard let operation = self as? ResultOperation<Output> else {
      preconditionFailure("Only ResultOperation conforms to ResultOperationSupplement")
    }
    return operation
  }
}

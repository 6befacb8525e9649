// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation that calls one function and stores its result or error.
///
/// This class corresponds to `NSInvocationOperation` in Objective-C. It has a closure instead of a
/// target, a selector and an argument:
///
/// ```swift
/// let operation = InvocationOperation { try checksum(of: file) }
/// queue.addOperations([operation], waitUntilFinished: true)
/// let sum = try operation.result
/// ```
///
/// Source: Apple, "NSInvocationOperation".
// Unchecked `Sendable` conformance for the reason given at `Operation`. The operation's lock guards
// `body` and `outcome`.
open class InvocationOperation<Result: Sendable>: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var body: (@Sendable () throws -> Result)?
  /// Whether `body` was called or is about to be called.
  @exclusivity(unchecked) private final var hasBegun = false
  @exclusivity(unchecked) private final var outcome: Swift.Result<Result, any Error>?

  /// Creates an operation that calls `body`.
  ///
  /// - Parameter body: Called at most once, on the thread that executes the operation. It is
  ///   released before threads and tasks that wait for the operation continue, even if it was not
  ///   called because the operation was cancelled.
  public init(_ body: @escaping @Sendable () throws -> Result) {
    self.body = body
    super.init()
  }

  /// Releases the body, and only after that the dependencies. Without this `deinit`, the stored
  /// body would be released after the dependencies; see ``AsyncOperation``.
  deinit { discardWork() }

  /// The result of the body; `nil` until the operation has finished.
  ///
  /// This property can be read on any thread. If the operation was cancelled after its body had
  /// begun, its result is the result of the body. If a subclass overrides ``main()`` and does not
  /// call `super`, the result stays `nil`.
  ///
  /// - Throws: The error of the body. If the body did not run because the operation was cancelled,
  ///   ``InvocationOperationError/cancelled``. If the body returns `Void`,
  ///   ``InvocationOperationError/voidResult``.
  public final var result: Result? {
    get throws {
      let status = status.load(ordering: .acquiring)
      guard status.isFinished else { return nil }
      guard let outcome = outcomeSoFar else {
        if status.isCancelled { throw InvocationOperationError.cancelled }
        return nil
      }
      let value = try outcome.get()
      if Result.self == Void.self { throw InvocationOperationError.voidResult }
      return value
    }
  }

  /// Calls the body and stores its result.
  open override func main() {
    guard let body = beginBody() else { return }
    // A separate function returns the body, so that the body is neither called nor released under
    // the lock.
    let outcome = Swift.Result(catching: body)
    if case .failure(let error) = outcome { keepError(error) }
    keep(outcome)
  }

  /// Whether the operation releases its work before waiting threads and tasks continue. The value
  /// is always `true`, because an invocation operation releases its body at that time.
  final override var releasesWorkFirst: Bool { true }

  final override func takeWork(mayRunAgain: Bool) -> Any? {
    lock.lock()
    defer { lock.unlock() }
    return body.take()
  }

  /// Returns the body at the first call, and `nil` at each further call.
  ///
  /// If ``Operation/start()`` has begun, the operation keeps the body until it finishes, because
  /// the release of captured objects may need the operation's slot.
  private final func beginBody() -> (@Sendable () throws -> Result)? {
    lock.lock()
    defer { lock.unlock() }
    if hasBegun { return nil }
    hasBegun = true
    return status.load(ordering: .acquiring).has(.startClaimed) ? body : body.take()
  }

  private final func keep(_ outcome: Swift.Result<Result, any Error>) {
    lock.lock()
    defer { lock.unlock() }
    self.outcome = outcome
  }

  final var outcomeSoFar: Swift.Result<Result, any Error>? {
    lock.lock()
    defer { lock.unlock() }
    return outcome
  }
}

/// The reason why a finished ``InvocationOperation`` has no result.
///
/// Source: Apple, "NSInvocationOperation", "Result Exceptions".
public struct InvocationOperationError: Error, Hashable, CustomStringConvertible {
  /// The reasons why an ``InvocationOperation`` has no result.
  public enum Code: Sendable, Hashable {
    /// The operation has no result, because it was cancelled before its body ran.
    case cancelled
    /// The operation has no result, because its body returns `Void`.
    case voidResult
  }

  /// The reason why the operation has no result.
  public let code: Code

  /// Creates an error with the reason why an operation has no result.
  public init(code: Code) { self.code = code }

  /// The operation was cancelled before its body ran. Corresponds to Foundation's
  /// `NSInvocationOperationCancelledException`.
  public static let cancelled = InvocationOperationError(code: .cancelled)

  /// The body returns `Void`. Corresponds to Foundation's
  /// `NSInvocationOperationVoidResultException`.
  public static let voidResult = InvocationOperationError(code: .voidResult)

  /// The reason why an operation has no result, as one sentence for people.
  public var description: String {
    switch code {
    case .cancelled: "The operation was cancelled before it ran, so it has no result."
    case .voidResult: "The operation's body returns nothing, so it has no result."
    }
  }
}

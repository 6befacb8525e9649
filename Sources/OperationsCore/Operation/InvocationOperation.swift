// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An operation that calls one function and keeps what it returned or threw.
///
/// What `NSInvocationOperation` is in Objective-C, with a closure for target, selector and argument:
///
/// ```swift
/// let operation = InvocationOperation { try checksum(of: file) }
/// queue.addOperations([operation], waitUntilFinished: true)
/// let sum = try operation.result
/// ```
///
/// Source: Apple, "NSInvocationOperation".
// Unchecked for the reason given at `Operation`; `body` and `outcome` are guarded by its lock.
open class InvocationOperation<Result: Sendable>: Operation, @unchecked Sendable {
  @exclusivity(unchecked) private final var body: (@Sendable () throws -> Result)?
  /// Whether `body` was called, or is about to be.
  @exclusivity(unchecked) private final var hasBegun = false
  @exclusivity(unchecked) private final var outcome: Swift.Result<Result, any Error>?

  /// Creates an operation that calls `body`.
  ///
  /// - Parameter body: Called once at most, on the thread that the operation runs on, and released
  ///   before those who wait for the operation go on, whether it was called or, because the operation
  ///   was cancelled, was not.
  public init(_ body: @escaping @Sendable () throws -> Result) {
    self.body = body
    super.init()
  }

  /// Before the dependencies go, and not after them, as stored properties do; see ``AsyncOperation``.
  deinit { discardWork() }

  /// What the body returned; `nil` until the operation has finished.
  ///
  /// May be asked for on any thread, as often as wanted. An operation that was cancelled once its
  /// body ran has the result of that like any other. In a subclass that overrides ``main()`` and
  /// does not call `super` it stays `nil`.
  ///
  /// - Throws: What the body threw. Where it did not run because the operation was cancelled,
  ///   ``InvocationOperationError/cancelled``. Where it returns `Void`,
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

  /// Calls the body and keeps what comes of it.
  open override func main() {
    guard let body = beginBody() else { return }
    // In a function of its own, so that the body cannot go under the lock.
    let outcome = Swift.Result(catching: body)
    if case .failure(let error) = outcome { keepError(error) }
    keep(outcome)
  }

  /// As documented at `init`.
  final override var releasesWorkFirst: Bool { true }

  final override func takeWork(mayRunAgain: Bool) -> Any? {
    lock.lock()
    defer { lock.unlock() }
    return body.take()
  }

  /// Returns the body, once.
  ///
  /// If ``Operation/start()`` has begun, the body stays until the operation finishes: what it captured may
  /// need the slot when it is released.
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

/// Why a finished ``InvocationOperation`` has no result to give.
///
/// Source: Apple, "NSInvocationOperation", "Result Exceptions".
public struct InvocationOperationError: Error, Hashable, CustomStringConvertible {
  /// Which reason.
  public enum Code: Sendable, Hashable {
    /// The operation was cancelled before its body ran; it never will.
    case cancelled
    /// The body returns `Void`: that it has returned is all there is to know.
    case voidResult
  }

  /// Which reason.
  public let code: Code

  /// An error for the given reason.
  public init(code: Code) { self.code = code }

  /// Foundation's `NSInvocationOperationCancelledException`.
  public static let cancelled = InvocationOperationError(code: .cancelled)

  /// Foundation's `NSInvocationOperationVoidResultException`.
  public static let voidResult = InvocationOperationError(code: .voidResult)

  /// The reason as one sentence, for people.
  public var description: String {
    switch code {
    case .cancelled: "The operation was cancelled before it ran, so it has no result."
    case .voidResult: "The operation's body returns nothing, so it has no result."
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The work of an operation with a result: its closure until the operation has finished, and then its
/// result. Guarded by the operation's lock.
struct ResultWork<Output: Sendable> {
  /// The closure of an operation.
  enum Body {
    case synchronous(@Sendable () throws -> Output)
    case asynchronous(@Sendable () async throws -> Output)
  }

  private var body: Body?
  /// Whether the operation's closure was called or is about to be called.
  private var hasBegun = false
  private(set) var outcome: Result<Output, any Error>?

  init(body: Body?) { self.body = body }

  /// Whether the operation has a closure that was not called.
  var hasBody: Bool { body != nil && !hasBegun }

  /// Removes and returns the closure, which will not be called later.
  mutating func takeBody() -> Body? { body.take() }

  /// Returns the closure at the first call, and `nil` at every further call.
  ///
  /// - Parameter keepsBody: Whether the closure is released when the operation finishes, and not by the
  ///   caller.
  /// - Returns: The closure; `nil` if it was called before, or if the operation has none.
  mutating func beginBody(keepsBody: Bool) -> Body? {
    if hasBegun { return nil }
    hasBegun = true
    return keepsBody ? body : body.take()
  }

  /// Stores the result of the work.
  mutating func end(_ outcome: Result<Output, any Error>) { self.outcome = outcome }
}

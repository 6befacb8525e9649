// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension AsyncOperation {
  /// Creates an operation that continues with the result of this operation.
  ///
  /// ```swift
  /// let page = AsyncOperation { try await download(address) }
  /// let title = page.then { page in try await findTitle(in: page) }
  /// queue.addOperation(page)
  /// queue.addOperation(title)
  /// ```
  ///
  /// The new operation depends on this one and requires its success: if this one fails or is
  /// cancelled, the new one is cancelled with a ``DependencyError`` and does not run. It is not in
  /// a queue yet; add it to any queue. It retains this operation, as every operation retains its
  /// dependencies.
  ///
  /// - Parameter body: Called with the result of this operation.
  /// - Returns: The new operation.
  public final func then<New: Sendable>(
    _ body: @escaping @Sendable (Output) async throws -> New
  ) -> AsyncOperation<New> {
    let next = AsyncOperation<New> { [self] in try await body(value) }
    next.addDependency(self, requires: .success)
    return next
  }
}

extension InvocationOperation {
  /// Creates an operation that continues with the result of this one, as
  /// ``AsyncOperation/then(_:)`` does.
  ///
  /// - Parameter body: Called with the result of this operation.
  /// - Returns: The new operation, which is not in a queue.
  public final func then<New: Sendable>(
    _ body: @escaping @Sendable (Result) async throws -> New
  ) -> AsyncOperation<New> {
    let next = AsyncOperation<New> { [self] in
      // An operation of a subclass that does not call `super.main()` finishes successfully without
      // a result.
      guard let outcome = outcomeSoFar else { throw InvocationOperationError.cancelled }
      return try await body(outcome.get())
    }
    next.addDependency(self, requires: .success)
    return next
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The requirement for a dependency; see ``OperationSupplement/addDependency(_:requires:)``.
@nonexhaustive
public enum DependencyRequirement: Sendable, Hashable {
  /// The dependency must finish, successfully or not.
  case completion
  /// The dependency must finish without a cancellation and without a recorded error.
  case success
}

/// The reason for the cancellation of an operation that required the success of a dependency.
public struct OperationDependencyError: Error, Sendable, CustomStringConvertible {
  /// The dependency that failed or was cancelled.
  public let dependency: OperationReference
  /// The operation that failed first: ``dependency`` itself, or an operation whose success
  /// ``dependency`` required, directly or through other operations.
  public let origin: OperationReference
  /// The error of ``origin``; `nil` if ``origin`` was cancelled without a reason. It is never a
  /// ``OperationDependencyError``.
  public let underlyingError: (any Error)?

  /// Creates the error for a finished operation; `nil` if the operation has succeeded.
  init?(of operation: Operation) {
    let error = operation.error
    // The overridable property `isCancelled` is not read, because the thread that finishes the
    // operation may hold a lock of the subclass.
    let isCancelled = operation.status.load(ordering: .acquiring).isCancelled
    guard error != nil || isCancelled else { return nil }
    dependency = OperationReference(operation)
    // The error contains only the first cause, because the last error of a long chain would
    // otherwise retain all earlier errors.
    let cause = error as? OperationDependencyError
    origin = cause?.origin ?? dependency
    underlyingError = cause == nil ? error : cause?.underlyingError
  }

  /// The cause as text, for example "operation #3 “fetch” was cancelled".
  public var description: String {
    let cause = underlyingError.map { "failed: \($0)" } ?? "was cancelled"
    return dependency == origin
      ? "operation \(dependency) \(cause)"
      : "operation \(dependency) was cancelled because operation \(origin) \(cause)"
  }
}

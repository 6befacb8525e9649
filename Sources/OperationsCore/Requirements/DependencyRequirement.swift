// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// What an operation asks of a dependency; see ``OperationSupplement/addDependency(_:requires:)``.
public enum DependencyRequirement: Sendable, Hashable {
  /// That it finishes, in whatever way.
  case completion
  /// That it finishes, was not cancelled, and has recorded no error.
  case success
}

/// Why an operation was cancelled that required a dependency to succeed.
public struct DependencyError: Error, Sendable, CustomStringConvertible {
  /// The dependency.
  public let dependency: OperationReference
  /// The operation with which it began: ``dependency`` itself, or what that has required in turn,
  /// directly or through others.
  public let origin: OperationReference
  /// What went wrong with ``origin``; `nil` where it was cancelled and has recorded no reason. Never a
  /// ``DependencyError``.
  public let underlyingError: (any Error)?

  /// The error for an operation that has finished; `nil` where it has succeeded.
  init?(of operation: Operation) {
    let error = operation.error
    // Not by the overridable property: the finishing thread may hold a lock of the subclass's.
    let isCancelled = operation.status.load(ordering: .acquiring).isCancelled
    guard error != nil || isCancelled else { return nil }
    dependency = OperationReference(operation)
    // Flat, or the last one of a long chain would hold all that went before it.
    let cause = error as? DependencyError
    origin = cause?.origin ?? dependency
    underlyingError = cause == nil ? error : cause?.underlyingError
  }

  /// "operation #3 “fetch” was cancelled", or what went wrong there.
  public var description: String {
    let cause = underlyingError.map { "failed: \($0)" } ?? "was cancelled"
    return dependency == origin
      ? "operation \(dependency) \(cause)"
      : "operation \(dependency) was cancelled because operation \(origin) \(cause)"
  }
}

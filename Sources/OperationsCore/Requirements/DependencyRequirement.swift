// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

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
  /// What went wrong there; `nil` where it was cancelled and has recorded no reason.
  public let underlyingError: (any Error)?

  /// The error for an operation that has finished; `nil` where it has succeeded.
  init?(of operation: Operation) {
    let error = operation.error
    guard error != nil || operation.isCancelled else { return nil }
    dependency = OperationReference(operation)
    underlyingError = error
  }

  /// "operation #3 “fetch” was cancelled", or what went wrong there.
  public var description: String {
    underlyingError.map { "operation \(dependency) failed: \($0)" }
      ?? "operation \(dependency) was cancelled"
  }
}

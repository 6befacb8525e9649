// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The operations whose changes the calling thread is announcing to observers. The thread must not
/// wait for such an operation, because it would wait for itself. The type also stores the operation
/// whose base class must return the flags of a finished operation.
enum Delivery {
  /// The purpose of a scope, which records that a thread announces a change or reads a property of
  /// an operation.
  private enum Purpose {
    /// The thread announces a change of an operation to its observers.
    case change
    /// The thread announces a change that the base class of an operation has made. The announcing
    /// method can be overridden.
    case ownChange
    /// The thread reads an overridable property of an operation. During this time, the flags of the
    /// base class have the values of a finished operation.
    case question
  }

  /// A call during which the thread announces a change or reads a property. A scope is stored on
  /// the stack of the thread. The scopes of a thread form a list that begins with the innermost
  /// scope.
  private struct Scope {
    let operation: Unmanaged<Operation>
    let purpose: Purpose
    let outer: UnsafeMutableRawPointer?
  }

  /// Runs `body`. During the call, this thread is recorded as announcing a change of the operation.
  @inline(__always)
  static func during<Result>(
    _ operation: Operation, isOwnChange: Bool = false, _ body: () -> Result
  ) -> Result {
    note(operation, isOwnChange ? .ownChange : .change, body)
  }

  /// Runs `body`. During the call, `isFinished` and `isExecuting` of the base class return on this
  /// thread the values of a finished operation.
  static func asIfFinished(_ operation: Operation, _ body: () -> Bool) -> Bool {
    note(operation, .question, body)
  }

  @inline(__always)
  private static func note<Result>(
    _ operation: Operation, _ purpose: Purpose, _ body: () -> Result
  ) -> Result {
    let outer = csystem_current_delivery()
    var scope = Scope(operation: .passUnretained(operation), purpose: purpose, outer: outer)
    return withUnsafeMutablePointer(to: &scope) { scope in
      csystem_set_current_delivery(scope)
      defer { csystem_set_current_delivery(outer) }
      return body()
    }
  }

  /// Returns whether this thread is announcing a change of the operation that the base class has
  /// made.
  static func isOwnChange(of operation: Operation) -> Bool {
    guard let scope = csystem_current_delivery()?.assumingMemoryBound(to: Scope.self).pointee else {
      return false
    }
    return scope.purpose == .ownChange
      && scope.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
  }

  static func isUnderWay(for operation: Operation) -> Bool {
    hasScope(for: operation) { _ in true }
  }

  /// Returns whether, on this thread, the flags of the base class have the values of a finished
  /// operation.
  static func isAskedAsIfFinished(_ operation: Operation) -> Bool {
    hasScope(for: operation) { $0 == .question }
  }

  private static func hasScope(for operation: Operation, where matches: (Purpose) -> Bool) -> Bool {
    var current = csystem_current_delivery()
    while let scope = current?.assumingMemoryBound(to: Scope.self).pointee {
      if scope.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque(),
        matches(scope.purpose)
      {
        return true
      }
      current = scope.outer
    }
    return false
  }
}

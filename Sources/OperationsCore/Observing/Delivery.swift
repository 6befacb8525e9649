// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The operations whose changes the calling thread announces. The thread must not wait for such an
/// operation, because it would wait for itself. The type also stores the operation whose flags must
/// answer as if it had finished.
enum Delivery {
  /// The purpose of a scope.
  private enum Purpose {
    /// The thread announces a change.
    case change
    /// The thread announces a change that the base class has made, through a method that can be
    /// overridden.
    case ownChange
    /// The thread reads an overridable property, and the base class answers as if the operation had
    /// finished.
    case question
  }

  /// A scope lives on the stack of the thread. The scopes form a list that begins with the
  /// innermost one.
  private struct Scope {
    let operation: Unmanaged<Operation>
    let purpose: Purpose
    let outer: UnsafeMutableRawPointer?
  }

  /// Runs `body`, and records that this thread announces a change of the operation meanwhile.
  @inline(__always)
  static func during<Result>(
    _ operation: Operation, isOwnChange: Bool = false, _ body: () -> Result
  ) -> Result {
    note(operation, isOwnChange ? .ownChange : .change, body)
  }

  /// Runs `body`. Meanwhile, `isFinished` and `isExecuting` of the base class answer on this thread
  /// as if the operation had finished.
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

  /// Returns whether this thread currently announces a change that the base class has made.
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

  /// Returns whether the base class's flags answer as if the operation had finished.
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

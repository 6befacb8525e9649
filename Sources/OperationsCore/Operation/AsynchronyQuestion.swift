// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Lets ``Operation/isAsynchronous`` and ``Operation/isConcurrent`` each return the value of an
/// override of the other one.
///
/// The base class reads the other property, and meanwhile records on the calling thread that it
/// does so. If the base class is asked again for the same operation, neither property is
/// overridden, and the answer is `false`. An operation needs no storage for this.
enum AsynchronyQuestion {
  /// A scope lives on the stack of the calling thread. The scopes form a list that begins with the
  /// innermost one.
  private struct Scope {
    let operation: Unmanaged<Operation>
    let outer: UnsafeMutableRawPointer?
  }

  /// Returns the base class's value for one of the two properties.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - other: Reads the other property.
  /// - Returns: The value of an override of the other property; `false` if neither property is
  ///   overridden.
  static func answer(for operation: Operation, by other: () -> Bool) -> Bool {
    if operation.isExactlyBlockOperation || isUnderWay(for: operation) { return false }
    let outer = csystem_current_question()
    var scope = Scope(operation: .passUnretained(operation), outer: outer)
    return withUnsafeMutablePointer(to: &scope) { scope in
      csystem_set_current_question(scope)
      defer { csystem_set_current_question(outer) }
      return other()
    }
  }

  private static func isUnderWay(for operation: Operation) -> Bool {
    var current = csystem_current_question()
    while let scope = current?.assumingMemoryBound(to: Scope.self).pointee {
      if scope.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() {
        return true
      }
      current = scope.outer
    }
    return false
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Lets ``Operation/isAsynchronous`` and ``Operation/isConcurrent`` each answer what an override of the
/// other one says.
///
/// The base class asks the other property, and notes for that time on the calling thread that it does. If
/// the base class is asked again for the same operation, nothing is overridden that could answer: the
/// answer is `false`. An operation has nothing to store for this.
enum AsynchronyQuestion {
  /// Lies on the stack of the thread that asks; the innermost first.
  private struct Scope {
    let operation: Unmanaged<Operation>
    let outer: UnsafeMutableRawPointer?
  }

  /// The base class's answer to one of the two properties.
  ///
  /// - Parameters:
  ///   - operation: The operation that is asked.
  ///   - other: Reads the other property.
  /// - Returns: What an override of the other property says; `false` if there is none.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// Lets ``Operation/isAsynchronous`` and ``Operation/isConcurrent`` each return the value of an
/// override of the other property.
///
/// Each property of the base class reads the other property. During this read, the calling thread
/// keeps a record of the operation. If the base class is asked again for an operation that has such
/// a record, a subclass overrides neither property, and the answer is `false`. The record is on the
/// thread's stack, so the operation needs no storage for it.
enum AsynchronyQuestion {
  /// A record that this thread is reading one of the two properties of an operation. The record is
  /// on the stack of the thread. The records of a thread form a list that begins with the newest
  /// one.
  private struct Scope {
    let operation: Unmanaged<Operation>
    let outer: UnsafeMutableRawPointer?
  }

  /// Returns the base class's value of `isAsynchronous` or `isConcurrent`.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - other: A closure that reads the other one of the two properties.
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

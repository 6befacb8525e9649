// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The inbox of a queue. Any thread can push operations without a lock. A thread that holds the
/// queue's lock takes all operations out of the inbox at once.
///
/// The inbox is a stack, so that a push is one compare-and-swap. Reused addresses cause no error,
/// because operations are never removed one at a time.
///
/// All accesses that decide whether a worker must be woken are sequentially consistent. A pushing
/// thread stores an operation and then searches for workers. A worker announces that it leaves and
/// then searches for operations. So at least one of the two threads sees the other's change.
struct OperationInbox: ~Copyable, Sendable {
  private let head = Atomic<Unmanaged<Operation>?>(nil)

  @inline(__always)
  var isEmpty: Bool { head.load(ordering: .sequentiallyConsistent) == nil }

  /// Pushes operations that are linked from `last` down to `first` through `inboxNext`.
  ///
  /// - Parameters:
  ///   - first: The oldest operation.
  ///   - last: The newest operation.
  @inline(__always)
  func push(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    var old = head.load(ordering: .relaxed)
    while true {
      first._withUnsafeGuaranteedRef { $0.inboxNext = old }
      let (exchanged, original) = head.weakCompareExchange(
        expected: old, desired: last, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if exchanged { return }
      old = original
    }
  }

  /// Removes and returns all operations, the oldest first, linked through `inboxNext`.
  @inline(__always)
  func takeAll() -> Unmanaged<Operation>? {
    if isEmpty { return nil }
    var newest = head.exchange(nil, ordering: .sequentiallyConsistent)
    var oldest: Unmanaged<Operation>?
    while let operation = newest {
      operation._withUnsafeGuaranteedRef {
        newest = $0.inboxNext
        $0.inboxNext = oldest
      }
      oldest = operation
    }
    return oldest
  }
}

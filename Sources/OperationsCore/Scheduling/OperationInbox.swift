// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Operations for a queue, pushed by any thread without a lock, and taken all at once by the thread
/// that holds the queue's lock.
///
/// This is a stack, so that a push is one compare-and-swap. Reused addresses are no problem,
/// because operations are never popped singly.
///
/// All accesses that decide whether a worker must be woken are sequentially consistent: a pusher
/// stores and then looks for workers, a worker announces that it leaves and then looks for work,
/// and at least one of them must see the other.
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

  /// Takes all operations, the oldest first, linked through `inboxNext`.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A list of operations of one queue, linked through `inboxNext`. The oldest operation is the first
/// one.
///
/// The flag `inInbox`, which the appending thread has set, keeps each operation alive.
struct OperationChain {
  private(set) var first: Unmanaged<Operation>?
  private var last: Unmanaged<Operation>?

  var isEmpty: Bool { first == nil }

  @inline(__always)
  mutating func append(_ operation: Unmanaged<Operation>) {
    operation._withUnsafeGuaranteedRef { $0.inboxNext = nil }
    if let last {
      last._withUnsafeGuaranteedRef { $0.inboxNext = operation }
    } else {
      first = operation
    }
    last = operation
  }

  /// Removes the oldest operation from the list, and returns it.
  @inline(__always)
  mutating func popFirst() -> Unmanaged<Operation>? {
    guard let operation = first else { return nil }
    first = operation._withUnsafeGuaranteedRef { $0.inboxNext }
    if first == nil { last = nil }
    return operation
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Operations linked through `inboxNext`, the oldest first, for one queue.
///
/// Each is kept alive by its `inInbox`, which the thread that appends it has set.
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

  /// Removes the oldest operation.
  @inline(__always)
  mutating func popFirst() -> Unmanaged<Operation>? {
    guard let operation = first else { return nil }
    first = operation._withUnsafeGuaranteedRef { $0.inboxNext }
    if first == nil { last = nil }
    return operation
  }
}

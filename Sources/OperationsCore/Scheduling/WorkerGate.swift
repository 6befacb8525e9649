// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Counts the workers of one queue that search, so that a push brings in one if one is missing.
///
/// A worker is *searching* from the moment it is asked for until it has found an operation, and
/// again while it looks for the next before it gives up. While one searches, no other is needed: it
/// will find what was pushed, and asks for another if there is more. A worker that does something else
/// is not counted, whatever that is: slots are the scheduler's alone.
///
/// All orderings are sequentially consistent; ``OperationInbox`` says why.
struct WorkerGate: ~Copyable, Sendable {
  private let searchingCount = Atomic<UInt32>(0)
  /// 0 while nothing can be started.
  private let width = Atomic<UInt32>(0)

  /// Sets the width. Before the inbox is read for the last time under the queue's lock: whoever
  /// pushes after that sees it.
  func setWidth(_ newWidth: UInt32) {
    width.store(newWidth, ordering: .sequentiallyConsistent)
  }

  /// Claims the right to bring in one more worker, which searches. `false` if none is missing.
  @inline(__always)
  func claimWorker() -> Bool {
    guard searchingCount.load(ordering: .sequentiallyConsistent) == 0,
      width.load(ordering: .sequentiallyConsistent) > 0
    else { return false }
    return searchingCount.compareExchange(
      expected: 0, desired: 1, ordering: .sequentiallyConsistent
    ).exchanged
  }

  func startSearching() { searchingCount.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  /// A worker that searched has found something, or gives up. In the second case it has to look once
  /// more at inbox and scheduler after this.
  func stopSearching() { searchingCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Counts the searching workers of one queue, so that a push brings in a worker if none is
/// searching.
///
/// A worker is *searching* from its request until it has found an operation, and again while it
/// looks for the next one before it gives up. While one searches, no other is needed: it will find
/// the pushed operation, and requests another worker if there are more. A worker that does anything
/// else is not counted: slots are only in the scheduler.
///
/// All orderings are sequentially consistent; see ``OperationInbox``.
struct WorkerGate: ~Copyable, Sendable {
  private let searchingCount = Atomic<UInt32>(0)
  /// The maximum number of workers; 0 while no operation can be started.
  private let width = Atomic<UInt32>(0)

  /// Sets the width. Called before the inbox is read for the last time under the queue's lock: a
  /// thread that pushes after that sees it.
  func setWidth(_ newWidth: UInt32) {
    width.store(newWidth, ordering: .sequentiallyConsistent)
  }

  /// Claims the right to bring in another worker, which searches. Returns `false` if none is
  /// missing.
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

  /// Notes that a searching worker has found an operation or gives up. In the second case it must
  /// check the inbox and the scheduler once more after this.
  func stopSearching() { searchingCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
}

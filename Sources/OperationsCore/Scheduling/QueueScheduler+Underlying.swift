// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch

/// The blocks in the underlying dispatch queue, if the queue has one.
extension QueueScheduler {
  /// The number of blocks that should be submitted to the underlying dispatch queue.
  @inline(__always)
  var missingBlockCount: Int {
    guard hasStartable else { return 0 }
    let readyCount = barriers.front == .due ? 1 : counts.ready - barriers.heldBackCount
    let startableCount = min(readyCount, slotLimit - counts.executing)
    return underlying?.missingCount(for: limited(startableCount)) ?? 0
  }

  /// Sets the dispatch queue on which operations run from now on; `nil` for the pool's workers.
  ///
  /// - Precondition: No worker or block runs an operation that has not finished.
  mutating func setUnderlyingQueue(_ queue: DispatchQueue?) {
    lastGeneration += 1
    underlying = queue.map { UnderlyingQueue($0, generation: lastGeneration) }
  }

  /// Counts the blocks that are missing in the underlying dispatch queue as submitted, and returns their
  /// number. The caller submits them.
  mutating func claimBlocks() -> Int {
    let count = missingBlockCount
    underlying?.willSubmit(count)
    return count
  }

  /// Handles that a block in the underlying dispatch queue has begun. Returns the operation that it starts.
  mutating func blockBegan(_ generation: UInt64) -> StartableOperation? {
    guard underlying?.began(generation) == true else { return nil }
    return takeNext()
  }
}

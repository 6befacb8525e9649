// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The choice of operations by a test that steps the queue.
extension QueueScheduler {
  /// The operations that can start now, in the order in which they would start.
  var startable: [Operation] {
    guard hasFreeSlot else { return [] }
    var operations: [Operation] = []
    let onlyCancelled = isStartLimitReached
    _ = ready.forEach { reference in
      let operation = reference.takeUnretainedValue()
      if !onlyCancelled || operation.place.band == ReadyBands.cancelled {
        operations.append(operation)
      }
      return true
    }
    if operations.isEmpty, barriers.front == .due, hasRestrainedStartable() {
      operations += allBarriers.prefix(1)
    }
    return operations
  }

  /// Chooses an operation for a step: the given one, or the first one. Returns `nil` if it cannot start.
  mutating func takeForStep(_ chosen: Operation?) -> StartableOperation? {
    guard let chosen else { return takeNextCounting() }
    guard startable.contains(where: { $0 === chosen }) else { return nil }
    let taken =
      chosen.isBarrier
      ? startBarrier(startsAtOnce: false)
      : take(.passUnretained(chosen), startsAtOnce: false)
    if taken?.countsAsStart == true { starts?.choose() }
    return taken
  }
}

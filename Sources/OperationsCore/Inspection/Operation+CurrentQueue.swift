// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension Operation {
  /// The queue that has it; `nil` where it is in none, or has left it.
  ///
  /// For whoever does not work for the queue and so cannot rely on its being there.
  final var queueHoldingIt: OperationQueue? {
    guard let core = enqueuedQueue, let queue = QueueRegistry.queue(at: core) else { return nil }
    // It may have left in the meantime, its queue be gone and another one be at that address. As long
    // as it is not retired its queue is there, and then this is it.
    return status.load(ordering: .sequentiallyConsistent).has(.retired) ? nil : queue
  }
}

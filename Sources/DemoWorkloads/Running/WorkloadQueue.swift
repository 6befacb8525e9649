// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// A queue of a workload before it exists.
struct WorkloadQueue: Hashable, Sendable {
  /// Its name, by which plans refer to it.
  let name: String
  /// How many operations run at once; above 0.
  let width: Int

  /// Creates the queue.
  func makeQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = width
    return queue
  }
}

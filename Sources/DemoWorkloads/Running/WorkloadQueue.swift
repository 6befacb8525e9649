// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The plan of a workload's queue.
struct WorkloadQueue: Hashable, Sendable {
  /// The name, by which plans refer to the queue.
  let name: String
  /// The width of the queue; above 0.
  let width: Int

  /// Creates the queue.
  func makeQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = width
    return queue
  }
}

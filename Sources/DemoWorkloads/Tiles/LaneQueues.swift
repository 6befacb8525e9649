// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The queues of the workload, one for each lane.
struct LaneQueues: Sendable {
  let all: [Lane: OperationQueue]

  init() {
    var all: [Lane: OperationQueue] = [:]
    for lane in Lane.allCases {
      let queue = OperationQueue()
      queue.name = lane.rawValue
      queue.maxConcurrentOperationCount = lane.width
      all[lane] = queue
    }
    self.all = all
  }

  subscript(lane: Lane) -> OperationQueue {
    guard let queue = all[lane] else { preconditionFailure("there is no queue for \(lane)") }
    return queue
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The name of a queue of the workload that renders tile pyramids.
enum Lane: String, CaseIterable, Sendable {
  case cpu
  case io
  case net
  case index

  /// The width of the queue with this name: the maximum number of operations that run at the same time.
  var width: Int {
    switch self {
    case .cpu: 2
    case .io: 4
    case .net: 6
    case .index: 1
    }
  }
}

/// The queues of the workload that renders tile pyramids: one queue for each ``Lane``.
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
    guard let queue = all[lane] else { preconditionFailure("there is no queue named \(lane)") }
    return queue
  }
}

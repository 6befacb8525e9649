// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if FOUNDATION
  import Foundation
#else
  import Operations
#endif
import Workloads

/// Workloads with priorities and cancellation.
extension SharedTrials {
  static var controlTrials: [Trial] { [priorities, cancel] }

  private static let priorities = Trial(
    .priorities, by: .here,
    .timed { size in
      let queue = OperationQueue()
      queue.isSuspended = true
      let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
      var generator = SeededGenerator(seed: 5)
      let priorities = (0..<size).map { _ in levels[Int.random(in: 0..<5, using: &generator)] }
      return {
        for priority in priorities {
          let operation = BlockOperation {}
          operation.queuePriority = priority
          queue.addOperation(operation)
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      }
    })

  private static let cancel = Trial(
    .cancel, by: .here,
    .timed { size in
      let queue = OperationQueue()
      queue.isSuspended = true
      for _ in 0..<size { queue.addOperation {} }
      return {
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      }
    })
}

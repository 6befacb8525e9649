// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if FOUNDATION
  import Foundation
#else
  import Operations
#endif
import Workloads

/// Workloads of operations that do not depend on each other.
extension SharedTrials {
  static var flatTrials: [Trial] {
    [flat, producers(.flatFrom2, count: 2), producers(.flatFrom8, count: 8), batch, fill, barriers]
  }

  private static let flat = Trial(
    .flat, by: .here,
    .timed { size in
      let queue = OperationQueue()
      return {
        for _ in 0..<size { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
      }
    })

  private static func producers(_ workload: Workload, count: Int) -> Trial {
    Trial(
      workload, by: .here,
      .timed { size in
        let queue = OperationQueue()
        let team = ProducerTeam(count: count)
        return {
          team.run { for _ in 0..<size / count { queue.addOperation {} } }
          queue.waitUntilAllOperationsAreFinished()
        }
      })
  }

  private static let batch = Trial(
    .batch, by: .here,
    .timed { size in
      let queue = OperationQueue()
      return {
        let operations = (0..<size).map { _ in BlockOperation {} }
        queue.addOperations(operations, waitUntilFinished: true)
      }
    })

  private static let fill = Trial(
    .fill, by: .here,
    .timed { size in
      let queue = OperationQueue()
      queue.isSuspended = true
      return {
        for _ in 0..<size { queue.addOperation {} }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      }
    })

  private static let barriers = Trial(
    .barriers, by: .here, upTo: Limits.barriers,
    .timed { size in
      let queue = OperationQueue()
      return {
        for index in 1...size {
          if index.isMultiple(of: 1_000) {
            queue.addBarrierBlock {}
          } else {
            queue.addOperation {}
          }
        }
        queue.waitUntilAllOperationsAreFinished()
      }
    })
}

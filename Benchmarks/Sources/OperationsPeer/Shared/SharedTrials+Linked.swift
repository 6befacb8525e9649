// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if FOUNDATION
  import Foundation
#else
  import Operations
#endif
import Workloads

/// Workloads of operations that depend on each other.
extension SharedTrials {
  static var linkedTrials: [Trial] {
    [
      linked(.chain, upTo: Limits.links), linked(.tree, upTo: Limits.links),
      linked(.layers, upTo: Limits.links), linked(.random, upTo: Limits.links),
      linked(.fanIn, upTo: Limits.fans), linked(.fanOut, upTo: Limits.fans),
      linked(.montage, upTo: Limits.workflows), linked(.epigenomics, upTo: Limits.workflows),
      linked(.blast, upTo: Limits.workflows), linked(.thousandGenomes, upTo: Limits.workflows),
      pingPong,
    ]
  }

  private static func linked(_ workload: Workload, upTo limit: Int) -> Trial {
    Trial(
      workload, by: .here, upTo: limit,
      .timed { size in
        let queue = OperationQueue()
        queue.isSuspended = true
        let links = workload.links(size)
        return {
          let operations = addOperations(links, to: queue)
          queue.isSuspended = false
          queue.waitUntilAllOperationsAreFinished()
          withExtendedLifetime(operations) {}
        }
      })
  }

  private static let pingPong = Trial(
    .pingPong, by: .here, upTo: Limits.links,
    .timed { size in
      let queues = [OperationQueue(), OperationQueue()]
      let links = Workload.pingPong.links(size)
      return {
        for (index, operation) in makeOperations(links).enumerated() {
          queues[index % 2].addOperation(operation)
        }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      }
    })

  /// Creates operations one after the other. Makes each operation depend on earlier ones, and adds
  /// it.
  private static func addOperations(_ links: Links, to queue: OperationQueue) -> [Operation] {
    var operations: [Operation] = []
    operations.reserveCapacity(links.count)
    var nextEdge = 0
    for index in 0..<links.count {
      let operation = BlockOperation {}
      while nextEdge < links.edges.count, links.edges[nextEdge].after == index {
        operation.addDependency(operations[links.edges[nextEdge].before])
        nextEdge += 1
      }
      queue.addOperation(operation)
      operations.append(operation)
    }
    precondition(nextEdge == links.edges.count, "The edges are not sorted by dependents")
    return operations
  }

  /// Creates operations and makes them depend on each other.
  static func makeOperations(_ links: Links) -> [Operation] {
    let operations = (0..<links.count).map { _ in BlockOperation {} }
    for edge in links.edges { operations[edge.after].addDependency(operations[edge.before]) }
    return operations
  }
}

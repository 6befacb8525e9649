// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

// This folder is compiled twice, once against each model: what is written once cannot differ.
#if FOUNDATION
  import Foundation
#else
  import Operations
#endif
public import Workloads

/// What this package's operations and Foundation's are both used for, in the same words.
public enum SharedTrials {
  /// All of them.
  public static var all: [Trial] { [flat, chain, tree] }

  static let flat = Trial(
    .flat, by: .here,
    .timed { size in
      let queue = OperationQueue()
      return {
        for _ in 0..<size { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
      }
    })

  static let chain = Trial(
    .chain, by: .here, upTo: Limits.links,
    .timed { size in
      let queue = OperationQueue()
      return {
        run(size, on: queue) { operations in
          for index in operations.indices.dropFirst() {
            operations[index].addDependency(operations[index - 1])
          }
        }
      }
    })

  static let tree = Trial(
    .tree, by: .here, upTo: Limits.links,
    .timed { size in
      let queue = OperationQueue()
      return {
        run(size, on: queue) { operations in
          for index in operations.indices.dropFirst() {
            operations[index].addDependency(operations[(index - 1) / 2])
          }
        }
      }
    })

  /// Creates operations, links them, adds them in order and waits for them.
  private static func run(_ size: Int, on queue: OperationQueue, link: ([Operation]) -> Void) {
    let operations = (0..<size).map { _ in BlockOperation {} }
    link(operations)
    for operation in operations { queue.addOperation(operation) }
    queue.waitUntilAllOperationsAreFinished()
  }
}

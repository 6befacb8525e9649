// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
public import Workloads

/// What a dispatch queue can do of it.
public enum DispatchTrials {
  /// All of them.
  public static var all: [Trial] { [flat, chain, tree] }

  static let flat = Trial(
    .flat, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return {
        let group = DispatchGroup()
        for _ in 0..<size { queue.async(group: group) {} }
        group.wait()
      }
    })

  static let chain = Trial(
    .chain, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return {
        let end = DispatchSemaphore(value: 0)
        @Sendable func step(_ remaining: Int) {
          if remaining == 1 {
            end.signal()
          } else {
            queue.async { step(remaining - 1) }
          }
        }
        queue.async { step(size) }
        end.wait()
      }
    })

  static let tree = Trial(
    .tree, by: .dispatch,
    .timed { size in
      let queue = makeQueue()
      return {
        let group = DispatchGroup()
        @Sendable func visit(_ index: Int) {
          for child in [2 * index + 1, 2 * index + 2] where child < size {
            queue.async(group: group) { visit(child) }
          }
        }
        queue.async(group: group) { visit(0) }
        group.wait()
      }
    })

  private static func makeQueue() -> DispatchQueue {
    DispatchQueue(label: "benchmark", attributes: .concurrent)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
public import Workloads

/// The workloads that only this package's operations can run.
public enum ObservingTrials {
  /// All trials of this enumeration. A trial is the implementation of one workload by one library.
  public static var all: [Trial] { [observed, subscribed] }

  private static let observed = Trial(
    .observed, by: .operations,
    .timed { size in
      let queue = OperationQueue()
      return {
        let observations = (0..<size).map { _ in
          let operation = BlockOperation {}
          let observation = operation.observe(\.isFinished) { _, _ in }
          queue.addOperation(operation)
          return observation
        }
        queue.waitUntilAllOperationsAreFinished()
        withExtendedLifetime(observations) {}
      }
    })

  private static let subscribed = Trial(
    .subscribed, by: .operations,
    .timed { size in
      let queue = OperationQueue()
      let subscriber = Subscriber(queue)
      return {
        for _ in 0..<size { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
        withExtendedLifetime(subscriber) {}
      }
    })
}

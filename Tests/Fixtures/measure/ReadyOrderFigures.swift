// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport
import OperationsCore

/// Measures how long a reading of the order of a queue's ready operations takes. Operations of random priorities are
/// ready. The program prints the median and the longest time of 1,000 readings of 500 operations. The queue is locked
/// for a part of this time.
///
///     fixture-measure run-order [COUNT]
enum ReadyOrderFigures {
  private static let priorities: [Operation.QueuePriority] = [
    .veryLow, .low, .normal, .high, .veryHigh,
  ]

  static func run(_ arguments: [String]) {
    let count = arguments.first.flatMap { Int($0) } ?? 1_000_000
    var random = SeededGenerator(seed: 1)
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<count {
      let operation = BlockOperation {}
      operation.queuePriority = priorities.randomElement(using: &random) ?? .normal
      queue.addOperation(operation)
    }
    var times: [Double] = []
    for _ in 0..<1_000 {
      let time = ContinuousClock().measure { _ = queue.readyOrder(limit: 500) }
      times.append(time / .microseconds(1))
    }
    times.sort()
    print(
      "run order with \(count) ready operations: \(rounded(median(times))) µs, "
        + "at most \(rounded(times.last ?? 0)) µs")
  }

  private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}

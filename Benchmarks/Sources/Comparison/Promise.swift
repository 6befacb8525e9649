// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

/// A measured value of this package's queues, with a limit that it should not exceed.
struct Promise: Sendable {
  let title: String
  let limit: Double
  /// Calculates the value of the promise (a measured value with a limit) from the results; `nil` if
  /// a necessary result is missing.
  let figure: @Sendable (Results) -> Double?

  /// Returns whether the value was measured and is within the limit.
  func isKept(by results: Results) -> Bool { figure(results).map { $0 <= limit } ?? false }

  static let all: [Promise] = [
    Promise(title: "flat, to Dispatch", limit: 0.8) {
      $0.toFlat(.flat, of: .dispatch)
    },
    Promise(title: "flat, to Foundation", limit: 0.1) {
      $0.toFlat(.flat, of: .foundation)
    },
    Promise(title: "chain, to Dispatch's flat", limit: 1) {
      $0.toFlat(.chain, of: .dispatch)
    },
    Promise(title: "tree, to Dispatch's flat", limit: 1.2) {
      $0.toFlat(.tree, of: .dispatch)
    },
    Promise(title: "bytes for a block operation", limit: 240) {
      $0.value(.memory, 1_000_000, .operations)
    },
    Promise(title: "ms, 100 sleepers, width 100", limit: 1_100) {
      $0.value(.sleepersWide, 100, .operations)
    },
    Promise(title: "ms, 1,000 sleepers, width 1,000", limit: 1_500) {
      $0.value(.sleepersWide, 1_000, .operations)
    },
    Promise(title: "ms, 100 sleepers, default width", limit: 3_000) {
      $0.value(.sleepersDefault, 100, .operations)
    },
  ]
}

extension TextTable {
  /// Creates a table with a row for each promise, which is a measured value with a limit. If a
  /// value was not measured, its cell contains a dash.
  init(_ promises: [Promise], in results: Results) {
    self.init(words: ["promise"], numbers: ["at most", "measured", "kept"])
    for promise in promises {
      add(
        words: [promise.title],
        numbers: [
          Format.ratio(promise.limit), promise.figure(results).map(Format.ratio),
          promise.isKept(by: results) ? "yes" : "no",
        ])
    }
  }
}

extension Results {
  /// Returns the time per operation of this package for `workload`, divided by the time per
  /// operation of the library `peer` for the workload `flat`. Both times are for the largest number
  /// of operations for which both were measured.
  func toFlat(_ workload: Workload, of peer: Contender) -> Double? {
    for size in sizes(.nanosecondsPerOperation).reversed() {
      if let ours = value(workload, size, .operations), let theirs = value(.flat, size, peer),
        theirs > 0
      {
        return ours / theirs
      }
    }
    return nil
  }
}

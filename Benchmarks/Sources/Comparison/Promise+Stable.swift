// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

extension Promise {
  /// Those that can be checked wherever the package is built: of the kind that a defect in the design
  /// breaks by far and a slow machine does not break.
  static let stable: [Promise] = [
    growth(.flat), growth(.chain), growth(.tree),
    Promise(title: "chain of 10^4, to Foundation", limit: 0.01) {
      $0.bestRatio(
        Subject(.chain, 10_000, .operations), to: Subject(.chain, 10_000, .foundation))
    },
  ]

  private static func growth(_ workload: Workload) -> Promise {
    Promise(title: "\(workload.rawValue), growth from 10^3 to 10^5", limit: 2) {
      $0.bestRatio(
        Subject(workload, 100_000, .operations), to: Subject(workload, 1_000, .operations))
    }
  }
}

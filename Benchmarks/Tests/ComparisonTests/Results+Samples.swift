// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

@testable import Comparison

extension Results {
  /// Creates the results of rounds, each of one subject.
  init(_ measured: [(Subject, [Int])]) {
    self.init()
    for (subject, samples) in measured { add(samples, of: subject) }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Workloads

@testable import Comparison

extension Results {
  /// Creates results from the samples of several rounds. Each round measures one benchmark.
  init(_ measured: [(Subject, [Int])]) {
    self.init()
    for (subject, samples) in measured { add(samples, of: subject) }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// The amount of work in stress tests.
package enum Effort {
  /// The effort in percent: the value of the environment variable `OPQ_EFFORT`, or 10 without it, which finds
  /// most faults in a short time. `.ci/run` also runs the tests that use this with 100.
  package static let percent: Int = {
    guard let text = getenv("OPQ_EFFORT"), let percent = Int(String(cString: text)) else {
      return 10
    }
    return max(1, percent)
  }()

  /// Returns a number of rounds, sizes or iterations, reduced to the effort, but at least 1.
  package static func scaled(_ count: Int) -> Int { max(1, count * percent / 100) }
}

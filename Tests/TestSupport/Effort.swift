// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// How much work stress tests do.
package enum Effort {
  /// In hundredths: what the environment variable `OPQ_EFFORT` says, or 10 without it, which finds most
  /// faults in a short time. `.ci/run` runs the tests that use this at 100 too.
  package static let percent: Int = {
    guard let text = getenv("OPQ_EFFORT"), let percent = Int(String(cString: text)) else {
      return 10
    }
    return max(1, percent)
  }()

  /// This number of rounds, sizes or iterations, or fewer if less effort is asked for, but at least one.
  package static func scaled(_ count: Int) -> Int { max(1, count * percent / 100) }
}

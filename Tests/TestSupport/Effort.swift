// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc

/// How much work stress tests do.
package enum Effort {
  /// In hundredths: 100, or what the environment variable `OPQ_EFFORT` says. Sanitizers slow a
  /// program down tenfold and more; a few hundred rounds under them show what they can show.
  package static let percent: Int = {
    guard let text = getenv("OPQ_EFFORT"), let percent = Int(String(cString: text)) else {
      return 100
    }
    return max(1, percent)
  }()

  /// So many rounds, sizes or iterations, or fewer where less effort is asked for, but one at least.
  package static func scaled(_ count: Int) -> Int { max(1, count * percent / 100) }
}

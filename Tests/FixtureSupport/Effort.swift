// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How much work stress tests do.
package enum Effort {
  /// The effort in percent: the value of the environment variable `OPQ_EFFORT`, or 10 without the
  /// variable, which finds most faults in a short time. `.ci/run` runs the stress tests a second
  /// time with 100.
  package static let percent: Int = {
    guard let text = getenv("OPQ_EFFORT"), let percent = Int(String(cString: text)) else {
      return 10
    }
    return max(1, percent)
  }()

  /// Returns a number of rounds, operations or the like, multiplied by the effort in percent. The
  /// result is at least 1.
  package static func scaled(_ count: Int) -> Int { max(1, count * percent / 100) }

  /// Returns part of a range, evenly distributed: with an effort of 10 percent, every tenth number.
  /// The result also has both ends of the range, and each limit with the numbers next to it, because
  /// faults are most likely there.
  package static func sample(_ range: ClosedRange<Int>, limits: [Int] = []) -> [Int] {
    let even = stride(from: range.lowerBound, through: range.upperBound, by: max(1, 100 / percent))
    let edges = limits.flatMap { [$0 - 1, $0, $0 + 1] } + [range.upperBound]
    return Set(Array(even) + edges.filter(range.contains)).sorted()
  }
}

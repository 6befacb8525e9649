// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension [Int] {
  /// The smallest element that at least `percent` hundredths of all are not above, in an array that
  /// is sorted and not empty.
  func percentile(_ percent: Int) -> Int {
    let rank = (count * percent + 99) / 100
    return self[Swift.min(Swift.max(rank - 1, 0), count - 1)]
  }
}

extension [Double] {
  /// The middle one, or the mean of the two in the middle; nil where there is none.
  var median: Double? {
    if isEmpty { return nil }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}

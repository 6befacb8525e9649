// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension [Int] {
  /// Returns the smallest element such that at least `percent` per cent of all elements are not
  /// greater. The array has to be sorted and not empty.
  func percentile(_ percent: Int) -> Int {
    let rank = (count * percent + 99) / 100
    return self[Swift.min(Swift.max(rank - 1, 0), count - 1)]
  }
}

extension [Double] {
  /// The middle element, or the mean of the two middle elements. `nil` if the array is empty.
  var median: Double? {
    if isEmpty { return nil }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}

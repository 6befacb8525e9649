// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import Comparison

@Suite struct FormatTests {
  @Test(arguments: [(0, "0"), (7.6, "8"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")])
  func wholeNumbersHaveCommas(value: Double, expected: String) {
    #expect(Format.whole(value) == expected)
  }

  @Test(arguments: [
    (0, "0.0000"), (0.00125, "0.0013"), (0.1, "0.10"), (1.005, "1.00"), (12.3456, "12.35"),
    (99.999, "100.00"), (1_234.5, "1,235"),
  ])
  func ratiosAreRoundedToMeaningfulDecimals(value: Double, expected: String) {
    #expect(Format.ratio(value) == expected)
  }

  @Test(arguments: [(1_000, "10^3"), (1_000_000, "10^6"), (100, "100"), (2_500, "2,500")])
  func powersOfTenAreWrittenAsPowers(size: Int, expected: String) {
    #expect(Format.size(size) == expected)
  }
}

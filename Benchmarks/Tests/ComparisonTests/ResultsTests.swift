// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@testable import Comparison

@Suite struct ResultsTests {
  @Test func theFigureIsTheMedianOfTheMediansOfTheRounds() {
    let results = Results([
      (Subject(.flat, 1_000, .operations), [1, 2, 90]),
      (Subject(.flat, 1_000, .operations), [4, 6, 7, 8]),
      (Subject(.flat, 1_000, .operations), [5]),
    ])
    #expect(results.value(.flat, 1_000, .operations) == 5)
    #expect(results.roundCount == 3)
  }

  @Test func theRatioIsOneFigureDividedByTheOther() {
    let results = Results([
      (Subject(.flat, 1_000, .operations), [30]), (Subject(.flat, 1_000, .dispatch), [40]),
    ])
    #expect(results.ratio(.flat, 1_000, .operations, to: .dispatch) == 0.75)
  }

  @Test func withoutBothMeasurementsTheRatioIsNil() {
    let results = Results([(Subject(.flat, 1_000, .operations), [30])])
    #expect(results.ratio(.flat, 1_000, .operations, to: .dispatch) == nil)
    #expect(results.ratio(.flat, 10_000, .operations, to: .operations) == nil)
  }

  @Test func growthIsTheLargestSizesFigureDividedByTheSmallests() {
    let results = Results([
      (Subject(.flat, 1_000, .operations), [200]), (Subject(.flat, 10_000, .operations), [900]),
      (Subject(.flat, 100_000, .operations), [300]), (Subject(.flat, 1_000_000, .dispatch), [1]),
    ])
    #expect(results.growth(.flat, .operations) == 1.5)
    #expect(results.growth(.flat, .dispatch) == nil)
  }

  @Test(arguments: [(0, 1), (50, 5), (90, 9), (91, 10), (99, 10), (100, 10)])
  func aPercentileIsASample(percent: Int, expected: Int) {
    #expect(Array(1...10).percentile(percent) == expected)
  }

  @Test(arguments: [([], nil), ([3], 3), ([4, 1], 2.5), ([9, 1, 2], 2)] as [([Double], Double?)])
  func theMedianIsInTheMiddle(values: [Double], expected: Double?) {
    #expect(values.median == expected)
  }
}

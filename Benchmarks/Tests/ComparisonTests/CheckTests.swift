// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@testable import Comparison

@Suite struct CheckTests {
  /// Results in which every value is exactly at its limit. One benchmark has one more round than
  /// the other.
  private static let kept: [(Subject, [Int])] = [
    (Subject(.flat, 1_000, .operations), [100, 90, 900]),
    (Subject(.flat, 100_000, .operations), [200]),
    (Subject(.chain, 1_000, .operations), [150]),
    (Subject(.chain, 100_000, .operations), [7_000, 301, 300, 299, 10]),
    (Subject(.tree, 1_000, .operations), [100]),
    (Subject(.tree, 100_000, .operations), [90]),
    (Subject(.tree, 100_000, .operations), [9_000]),
    (Subject(.pingPong, 1_000, .operations), [375]),
    (Subject(.chain, 10_000, .operations), [2_000]),
    (Subject(.chain, 10_000, .foundation), [200_000]),
  ]

  @Test func aResultAtItsBoundPasses() {
    let check = Check(Results(Self.kept))
    #expect(check.passes)
    #expect(
      check.text == """
        | promise                         | at most | measured | kept |
        | ------------------------------- | ------: | -------: | ---: |
        | flat, growth from 10^3 to 10^5  |    2.00 |     2.00 |  yes |
        | chain, growth from 10^3 to 10^5 |    2.00 |     2.00 |  yes |
        | tree, growth from 10^3 to 10^5  |    2.00 |     0.90 |  yes |
        | ping-pong of 10^3, to a chain   |    2.50 |     2.50 |  yes |
        | chain of 10^4, to Foundation    |  0.0100 |   0.0100 |  yes |

        """)
  }

  @Test(arguments: [0, 1, 2, 3, 4])
  func aResultAboveItsBoundFails(index: Int) {
    var measured = Self.kept
    let subject = CheckedPair.all[index].subject
    for index in measured.indices where measured[index].0 == subject {
      measured[index].1 = measured[index].1.map { $0 * 3 }
    }
    #expect(!Check(Results(measured)).passes)
  }

  @Test(arguments: [0, 1, 2, 3, 4])
  func aMissingResultFails(index: Int) {
    let pair = CheckedPair.all[index]
    for missing in [pair.subject, pair.other] {
      #expect(!Check(Results(Self.kept.filter { $0.0 != missing })).passes)
    }
  }

  @Test func aSlowRoundDoesNotChangeThePairedRatio() {
    let small = Subject(.flat, 1_000, .operations)
    let large = Subject(.flat, 100_000, .operations)
    let results = Results([
      (small, [100]), (large, [120]), (small, [700]), (large, [770]), (small, [100]),
      (large, [900]),
    ])
    #expect(results.pairedRatio(large, to: small) == 1.2)
  }
}

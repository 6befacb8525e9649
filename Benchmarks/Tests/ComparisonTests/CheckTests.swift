// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing
import Workloads

@testable import Comparison

@Suite struct CheckTests {
  /// Everything at its bound, with samples around that a busy machine has slowed down.
  private static let kept: [(Subject, [Int])] = [
    (Subject(.flat, 1_000, .operations), [900, 100]),
    (Subject(.flat, 100_000, .operations), [200, 1_000]),
    (Subject(.chain, 1_000, .operations), [150, 151]),
    (Subject(.chain, 100_000, .operations), [7_000, 301, 300]),
    (Subject(.tree, 1_000, .operations), [100]),
    (Subject(.tree, 100_000, .operations), [90]),
    (Subject(.chain, 10_000, .operations), [8_000, 2_000]),
    (Subject(.chain, 10_000, .foundation), [200_000]),
  ]

  @Test func whatIsAtItsBoundPasses() throws {
    let check = Check(try Results(Self.kept))
    #expect(check.passes)
    #expect(
      check.text == """
        | promise                         | at most | measured | kept |
        | ------------------------------- | ------: | -------: | ---: |
        | flat, growth from 10^3 to 10^5  |    2.00 |     2.00 |  yes |
        | chain, growth from 10^3 to 10^5 |    2.00 |     2.00 |  yes |
        | tree, growth from 10^3 to 10^5  |    2.00 |     0.90 |  yes |
        | chain of 10^4, to Foundation    |  0.0100 |   0.0100 |  yes |

        """)
  }

  @Test(
    arguments: kept.indices.filter {
      kept[$0].0.size > 1_000 && kept[$0].0.contender == .operations
    })
  func whatIsAboveItsBoundFails(index: Int) throws {
    var measured = Self.kept
    measured[index].1 = measured[index].1.map { $0 * 3 }
    #expect(try !Check(Results(measured)).passes)
  }

  @Test(arguments: kept.indices)
  func whatWasNotMeasuredFails(index: Int) throws {
    var measured = Self.kept
    measured.remove(at: index)
    #expect(try !Check(Results(measured)).passes)
  }

  @Test func aSecondRoundCanHelp() throws {
    var results = try Results(Self.kept.map { ($0, $0.size == 100_000 ? $1.map { 3 * $0 } : $1) })
    #expect(!Check(results).passes)
    for (subject, samples) in Self.kept { results.add(try Results.file(subject, samples)) }
    #expect(Check(results).passes)
  }
}

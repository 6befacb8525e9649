// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// Uses the program at random for some seconds. It is a short version of `fixture-measure soak`.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct SoakTests {
  @Test(
    "Random use finds no fault and no leak, and the terminal is restored",
    arguments: 1...UInt64(Effort.scaled(2)))
  func randomUse(seed: UInt64) throws {
    // The random keys do not include the key for the export, because it would write a file to the
    // current folder of the tests.
    var soak = try Soak(
      seed: seed, path: BuiltProgram.path, arguments: ["demo", "stubborn", "--speed", "4"],
      memoryLimit: 1_500_000)
    let figures = soak.run(for: .seconds(Effort.scaled(8)), lookCount: max(3, Effort.scaled(8)))
    // The printed figures include, if there is no fault, the smallest leak that the run could have
    // detected.
    print("seed \(seed): \(figures)")
    #expect(figures.faults == [], "seed \(seed): \(figures)")
    #expect(figures.actions > 10)
  }
}

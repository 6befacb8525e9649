// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// A short version of `fixture-measure soak`.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct SoakTests {
  @Test(
    "Random use finds no fault and no leak, and the terminal is restored",
    arguments: 1...UInt64(Effort.scaled(2)))
  func randomUse(seed: UInt64) throws {
    // The key for the export is not used: its file would be in the current folder of the tests.
    var soak = try Soak(
      seed: seed, path: BuiltProgram.path, arguments: ["demo", "stubborn", "--speed", "4"],
      memoryLimit: 1_500_000)
    let figures = soak.run(for: .seconds(Effort.scaled(8)), lookCount: max(3, Effort.scaled(8)))
    // If there is no fault, prints the smallest leak that the run could have detected.
    print("seed \(seed): \(figures)")
    #expect(figures.faults == [], "seed \(seed): \(figures)")
    #expect(figures.actions > 10)
  }
}

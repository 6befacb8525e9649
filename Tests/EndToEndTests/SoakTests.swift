// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// A short one of what `fixture-measure soak` does for as long as one likes.
@Suite(.timeLimit(.minutes(3))) struct SoakTests {
  @Test(
    "Random use breaks nothing, keeps nothing, and gives the terminal back",
    arguments: 1...UInt64(Effort.scaled(2)))
  func randomUse(seed: UInt64) throws {
    // Nothing is written by the key for it: it would be in the folder of who runs the tests.
    var soak = try Soak(
      seed: seed, path: BuiltProgram.path, arguments: ["demo", "stubborn", "--speed", "4"],
      memoryLimit: 1_500_000)
    let figures = soak.run(for: .seconds(Effort.scaled(8)), lookCount: max(4, Effort.scaled(8)))
    // What would not have been found is worth knowing where nothing is.
    print("seed \(seed): \(figures)")
    #expect(figures.faults == [], "seed \(seed): \(figures)")
    #expect(figures.actions > 10)
  }
}

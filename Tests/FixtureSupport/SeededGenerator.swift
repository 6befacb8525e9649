// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A generator of random numbers, which generates the same sequence for the same seed.
///
/// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator of the sequence of random numbers that `seed` determines.
  package init(seed: UInt64) { state = seed }

  /// Returns the seed of a stress test: the value of the environment variable `OPQ_SEED`, or a
  /// random seed. Prints the seed, so that a failure can be repeated, if it does not depend on the
  /// timing of threads.
  package static func announcedSeed(for test: String = #function) -> UInt64 {
    let given = getenv("OPQ_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    print("\(test): OPQ_SEED=\(seed)")
    return seed
  }

  /// Returns the next random number.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

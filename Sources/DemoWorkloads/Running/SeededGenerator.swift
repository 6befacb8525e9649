// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A generator of pseudorandom numbers that depend only on a seed: Steele, Lea and Flood's SplitMix64.
///
/// The standard library may change how it converts bits to ranges. Therefore this type has its own
/// conversions, and the same seed gives the same pictures with every compiler.
struct SeededGenerator: Equatable, Sendable {
  private var state: UInt64

  /// Creates a generator. Generators with the same seed and different values of `stream` give different
  /// numbers.
  init(seed: UInt64, stream: UInt64) {
    state = seed
    // The initial state is the result of two steps of a generator. Therefore similar seeds and similar stream
    // numbers give unrelated sequences of random numbers.
    state = next() &+ stream &* 0x9E37_79B9_7F4A_7C15
    state = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a random number from 0 up to, but not including, `bound`.
  ///
  /// - Precondition: `bound` is above 0.
  mutating func index(below bound: Int) -> Int {
    precondition(bound > 0, "the bound of a random index must be above 0, not \(bound)")
    return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// Returns a random number in `range`. Both ends are possible except for rounding.
  mutating func number(in range: ClosedRange<Double>) -> Double {
    let unit = Double(next() >> 11) / Double(1 << 53)
    return range.lowerBound + unit * (range.upperBound - range.lowerBound)
  }

  /// Returns a random duration of whole milliseconds in `range`.
  mutating func duration(milliseconds range: ClosedRange<Int>) -> Duration {
    .milliseconds(range.lowerBound + index(below: range.count))
  }
}

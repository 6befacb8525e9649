// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How many tiles a pyramid has, and how large they are.
struct PyramidShape: Equatable, Sendable {
  /// The level of the computed tiles; the levels above are merged. At least 1.
  var deepestLevel = 3
  /// The side of a computed tile in pixels.
  var leafSide = 128

  /// The side of a tile of this level in pixels: merging joins, it does not shrink.
  func side(ofLevel level: Int) -> Int {
    leafSide << (deepestLevel - level)
  }
}

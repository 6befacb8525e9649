// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The number and the size of a pyramid's tiles.
struct PyramidShape: Equatable, Sendable {
  /// The level of the computed tiles; the levels above are merged. At least 1.
  var deepestLevel = 3
  /// The side of a computed tile in pixels.
  var leafSide = 128

  /// Returns the side of a tile of this level in pixels: merging joins tiles without shrinking them.
  func side(ofLevel level: Int) -> Int {
    leafSide << (deepestLevel - level)
  }
}

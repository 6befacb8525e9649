// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A square of the complex plane.
struct Region: Equatable, Sendable {
  let centerReal: Double
  let centerImaginary: Double
  /// The length of a side.
  let width: Double

  /// Returns the part of this square that a tile shows.
  func part(shownBy tile: TileCoordinate) -> Region {
    let side = width / Double(1 << tile.level)
    return Region(
      centerReal: centerReal - width / 2 + (Double(tile.column) + 0.5) * side,
      centerImaginary: centerImaginary + width / 2 - (Double(tile.row) + 0.5) * side,
      width: side)
  }
}

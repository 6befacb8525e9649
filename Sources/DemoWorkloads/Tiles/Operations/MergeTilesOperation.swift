// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that merges four tiles into one tile of the level above.
///
/// If a tile of the lower level is missing because its operation was cancelled, its quarter of the
/// merged tile is grey.
// Sendable is unchecked because the superclass is open; all stored properties are constants of
// Sendable types.
final class MergeTilesOperation: Operation, @unchecked Sendable {
  private let tile: TileCoordinate
  private let pyramid: Pyramid
  private let duration: Duration

  init(tile: TileCoordinate, of pyramid: Pyramid, duration: Duration) {
    self.tile = tile
    self.pyramid = pyramid
    self.duration = duration
  }

  override func main() {
    let pacer = pyramid.pacer(for: duration)
    let quarters = tile.quarters.map { pyramid.image(.tile($0)) }
    let merged = Image.joining(
      quarters, side: pyramid.plan.shape.side(ofLevel: tile.level + 1), missing: Self.flatGrey)
    pacer.wait(forShare: 1) { isCancelled }
    guard !isCancelled else { return }
    pyramid.keep(merged, as: .tile(tile))
  }

  static let flatGrey = Color(red: 96, green: 96, blue: 96)
}

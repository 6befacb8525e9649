// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that draws one tile of the deepest level. After each row of pixels, it checks whether it was
/// cancelled.
///
/// If a tile is cancelled, no part of its image is kept.
// Sendable is unchecked because the superclass is open; all stored properties are constants of Sendable
// types. The same reason applies to the other operations of this module.
final class ComputeTileOperation: Operation, @unchecked Sendable {
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
    let renderer = pyramid.plan.renderer(of: tile)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(renderer.side * renderer.side * 3)
    for row in 0..<renderer.side {
      bytes += renderer.row(row)
      pacer.wait(forShare: Double(row + 1) / Double(renderer.side)) { isCancelled }
      guard !isCancelled else { return }
    }
    pyramid.keep(Image(side: renderer.side, bytes: bytes), as: .tile(tile))
  }
}

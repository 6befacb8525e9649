// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The position of a tile in a tile pyramid. Level 0 has one tile, which is the whole picture. Each further
/// level has four times as many tiles as the level above.
struct TileCoordinate: Hashable, Sendable, CustomStringConvertible {
  let level: Int
  /// The column of the tile, counted from 0 at the left.
  let column: Int
  /// The row of the tile, counted from 0 at the top.
  let row: Int

  /// The tile that shows the whole picture.
  static let whole = TileCoordinate(level: 0, column: 0, row: 0)

  /// The four tiles that are merged into this tile: top left, top right, bottom left, bottom right.
  var quarters: [TileCoordinate] {
    [(0, 0), (1, 0), (0, 1), (1, 1)].map { right, down in
      TileCoordinate(level: level + 1, column: column * 2 + right, row: row * 2 + down)
    }
  }

  /// The level, the column and the row in the notation of tile servers: `3/2/5`.
  var description: String { "\(level)/\(column)/\(row)" }
}

/// The name of an image of a tile pyramid.
enum ImageName: Hashable, Sendable, CustomStringConvertible {
  /// The image of a tile, which is computed or merged.
  case tile(TileCoordinate)
  /// The image of the whole picture after its contrast was calibrated.
  case picture

  /// The path of the image's file in the directory of the tile pyramid.
  var description: String {
    switch self {
    case .tile(let tile): "\(tile).png"
    case .picture: "pyramid.png"
    }
  }
}

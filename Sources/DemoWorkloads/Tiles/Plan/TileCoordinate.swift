// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The position of a tile in a pyramid. Level 0 is the whole picture; each level has four times as many tiles
/// as the level above.
struct TileCoordinate: Hashable, Sendable, CustomStringConvertible {
  let level: Int
  /// The column, counted from the left, from 0.
  let column: Int
  /// The row, counted from the top, from 0.
  let row: Int

  /// The tile that shows the whole picture.
  static let whole = TileCoordinate(level: 0, column: 0, row: 0)

  /// The four tiles that are merged into this one: top left, top right, bottom left, bottom right.
  var quarters: [TileCoordinate] {
    [(0, 0), (1, 0), (0, 1), (1, 1)].map { right, down in
      TileCoordinate(level: level + 1, column: column * 2 + right, row: row * 2 + down)
    }
  }

  /// Level, column and row, as tile servers write them: `3/2/5`.
  var description: String { "\(level)/\(column)/\(row)" }
}

/// One of the images of a pyramid.
enum ImageName: Hashable, Sendable, CustomStringConvertible {
  /// A tile, computed or merged.
  case tile(TileCoordinate)
  /// The whole picture with calibrated contrast.
  case picture

  /// The path of the file, below the pyramid's directory.
  var description: String {
    switch self {
    case .tile(let tile): "\(tile).png"
    case .picture: "pyramid.png"
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A square picture. It has three bytes (red, green, blue) for each pixel, row by row from the top.
struct Image: Equatable, Sendable {
  /// The number of pixels in a row, which is also the number of rows.
  let side: Int
  /// The bytes of all pixels; their number is `side * side * 3`.
  private(set) var bytes: [UInt8]

  /// Creates a picture of one color.
  init(side: Int, filledWith color: Color) {
    self.side = side
    bytes = []
    bytes.reserveCapacity(side * side * 3)
    for _ in 0..<side * side {
      bytes.append(color.red)
      bytes.append(color.green)
      bytes.append(color.blue)
    }
  }

  /// Creates a picture from the bytes of its pixels.
  ///
  /// - Precondition: `bytes` has `side * side * 3` elements.
  init(side: Int, bytes: [UInt8]) {
    precondition(
      bytes.count == side * side * 3,
      "a picture of \(side) rows needs \(side * side * 3) bytes, not \(bytes.count)")
    self.side = side
    self.bytes = bytes
  }

  /// Returns the bytes of one row.
  func row(_ index: Int) -> ArraySlice<UInt8> {
    bytes[index * side * 3..<(index + 1) * side * 3]
  }

  /// Joins four pictures of the same size into one picture with twice the side.
  ///
  /// - Parameters:
  ///   - quarters: The pictures for top left, top right, bottom left and bottom right; `nil` for a missing
  ///     picture.
  ///   - side: The number of pixels in a row of each quarter.
  ///   - missing: The color for a quarter that is missing or has another size.
  /// - Returns: The joined picture.
  static func joining(_ quarters: [Image?], side: Int, missing: Color) -> Image {
    precondition(
      quarters.count == 4, "a picture is joined from four quarters, not \(quarters.count)")
    let whole = quarters.map { quarter in
      quarter.flatMap { $0.side == side ? $0 : nil } ?? Image(side: side, filledWith: missing)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(side * side * 12)
    for half in [whole[..<2], whole[2...]] {
      for row in 0..<side {
        for quarter in half { bytes += quarter.row(row) }
      }
    }
    return Image(side: side * 2, bytes: bytes)
  }
}

/// A color with 8 bits each for red, green and blue.
struct Color: Equatable, Sendable {
  let red: UInt8
  let green: UInt8
  let blue: UInt8
}

/// A square of the complex plane.
struct Region: Equatable, Sendable {
  let centerReal: Double
  let centerImaginary: Double
  /// The length of a side of the square.
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

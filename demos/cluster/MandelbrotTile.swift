// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import OperationsCommands

/// The work of one process: one tile of a picture of the Mandelbrot set, drawn with characters.
struct MandelbrotTile: RemoteWork {
  /// The number of tiles in a row and in a column of the picture.
  static let tileCount = 4
  /// The number of characters in a line of a tile.
  static let width = 16
  /// The number of lines of a tile.
  static let height = 6

  let column: Int
  let row: Int
  /// The number of this attempt, from 1 on.
  let attempt: Int
  /// The time for which the work waits after each line.
  let pause: Duration

  var name: String { "tile \(column)/\(row)" }

  struct Output: Codable, Sendable {
    let lines: [String]
    /// The attempt that has drawn the tile.
    let attempt: Int
  }

  /// Draws the tile. The first attempt to draw one of the tiles crashes.
  func run() async throws -> Output {
    Operation.current?.reportStatus("drawing")
    var lines: [String] = []
    for line in 0..<Self.height {
      try await Task.sleep(for: pause)
      let y = Double(row * Self.height + line)
      lines.append(
        String((0..<Self.width).map { character(Double(column * Self.width + $0), y) }))
      Operation.current?.reportProgress(completed: line + 1, of: Self.height)
      if column == 2, row == 1, attempt == 1, line == 3 { fatalError("this tile is broken") }
    }
    return Output(lines: lines, attempt: attempt)
  }

  /// Returns the character for a position in the picture. Points that escape later have denser characters.
  private func character(_ column: Double, _ row: Double) -> Character {
    let shades = Array(".,:;=+*%#")
    let x = column / Double(Self.width * Self.tileCount) * 3 - 2.2
    let y = (row + 0.5) / Double(Self.height * Self.tileCount) * 2.4 - 1.2
    var (a, b) = (0.0, 0.0)
    for iteration in 0..<400 {
      (a, b) = (a * a - b * b + x, 2 * a * b + y)
      if a * a + b * b > 4 { return shades[min(iteration / 2, shades.count - 1)] }
    }
    return "@"
  }
}

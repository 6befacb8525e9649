// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// The work of a request: the rendering of one tile of the Mandelbrot set.
enum Tile {
  /// Returns how many points of a tile belong to the set. A tile has 32 × 32 points.
  static func pointsInSet(of number: Int) -> Int {
    var count = 0
    for point in 0..<1_024 {
      let x = Double(number % 64 * 32 + point % 32) / 2_048 * 3 - 2
      let y = Double(number / 64 * 32 + point / 32) / 2_048 * 3 - 1.5
      if isInSet(x, y) { count += 1 }
    }
    return count
  }

  private static func isInSet(_ x: Double, _ y: Double) -> Bool {
    var (a, b) = (0.0, 0.0)
    for _ in 0..<64 {
      (a, b) = (a * a - b * b + x, 2 * a * b + y)
      if a * a + b * b > 4 { return false }
    }
    return true
  }
}

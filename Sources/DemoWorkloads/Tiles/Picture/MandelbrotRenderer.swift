// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// Draws a square region of the Mandelbrot set, row by row.
struct MandelbrotRenderer: Equatable, Sendable {
  let region: Region
  let palette: Palette
  /// The position on the ring of colors at which the colors begin. One turn around the ring is 1.
  let phase: Double
  /// The maximum number of iterations. A point that needs more iterations counts as belonging to the set.
  let iterationLimit: Int
  /// The number of pixels in a row.
  let side: Int

  /// Returns the bytes (red, green, blue) of a row of pixels. Rows are counted from the top.
  func row(_ row: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(side * 3)
    for column in 0..<side {
      var red = 0
      var green = 0
      var blue = 0
      for sample in 0..<Self.samples * Self.samples {
        let color = color(
          column: Double(column) + (Double(sample % Self.samples) + 0.5) / Double(Self.samples),
          row: Double(row) + (Double(sample / Self.samples) + 0.5) / Double(Self.samples))
        red += Int(color.red)
        green += Int(color.green)
        blue += Int(color.blue)
      }
      for sum in [red, green, blue] {
        bytes.append(UInt8(sum / (Self.samples * Self.samples)))
      }
    }
    return bytes
  }

  /// The number of samples of a pixel in each direction. The average of the samples smooths fine filaments.
  private static let samples = 2

  private func color(column: Double, row: Double) -> Color {
    let real = region.centerReal + (column / Double(side) - 0.5) * region.width
    let imaginary = region.centerImaginary - (row / Double(side) - 0.5) * region.width
    guard let count = escapeCount(real: real, imaginary: imaginary) else { return palette.inside }
    // At high magnification, the iteration counts of points are in the hundreds. The logarithm of the count
    // keeps the bands of colors equally wide.
    return palette.color(at: phase + 0.36 * cmonitor_log2(max(count, 0) + 1))
  }

  /// Returns the number of iterations of z² + c after which the point escapes; `nil` if the point seems to
  /// belong to the set. The number has a fraction, so that colors change smoothly.
  private func escapeCount(real: Double, imaginary: Double) -> Double? {
    guard !isInMainBodies(real: real, imaginary: imaginary) else { return nil }
    var x = 0.0
    var y = 0.0
    var xSquared = 0.0
    var ySquared = 0.0
    for iteration in 0..<iterationLimit {
      y = 2 * x * y + imaginary
      x = xSquared - ySquared + real
      xSquared = x * x
      ySquared = y * y
      let distance = xSquared + ySquared
      // A point that is farther than 2 from the origin never returns, so a radius of 2 is enough to count
      // iterations. The larger radius of 256 makes the fraction of the result smoother.
      if distance > 65536 {
        return Double(iteration + 2) - cmonitor_log2(cmonitor_log2(distance) / 2)
      }
    }
    return nil
  }

  /// Returns whether the point lies in the cardioid or in the largest disc of the Mandelbrot set. Points in
  /// these two regions never escape.
  private func isInMainBodies(real: Double, imaginary: Double) -> Bool {
    let imaginarySquared = imaginary * imaginary
    let q = (real - 0.25) * (real - 0.25) + imaginarySquared
    return q * (q + real - 0.25) <= imaginarySquared / 4
      || (real + 1) * (real + 1) + imaginarySquared <= 0.0625
  }
}

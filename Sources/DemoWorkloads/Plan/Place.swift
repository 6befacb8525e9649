// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A part of the Mandelbrot set that is worth a picture.
struct Place: Equatable, Sendable {
  let name: String
  let region: Region
  let iterationLimit: Int

  private init(
    _ name: String, _ real: Double, _ imaginary: Double, width: Double, limit: Int
  ) {
    self.name = name
    region = Region(centerReal: real, centerImaginary: imaginary, width: width)
    iterationLimit = limit
  }

  /// The places that pyramids choose from.
  static let all = [
    Place("whole set", -0.68, 0, width: 2.9, limit: 300),
    Place("seahorse valley", -0.7453, 0.1127, width: 0.0065, limit: 900),
    Place("seahorse tail", -0.743644, 0.131826, width: 0.0028, limit: 1200),
    Place("elephant valley", 0.2855, 0.0119, width: 0.024, limit: 600),
    Place("triple spiral", -0.0884, 0.6547, width: 0.018, limit: 600),
    Place("quad spiral", 0.27436, 0.48248, width: 0.0098, limit: 600),
    Place("satellite", -1.7548, 0, width: 0.11, limit: 500),
    Place("scepter valley", -1.3598, 0.0055, width: 0.034, limit: 600),
    Place("lightning", -0.1011, 0.9563, width: 0.032, limit: 400),
    Place("double spiral", -0.76157, -0.08476, width: 0.0042, limit: 900),
    Place("starfish", -0.374, 0.65979, width: 0.0075, limit: 700),
    Place("island", -0.15652, 1.03225, width: 0.0105, limit: 500),
  ]
}

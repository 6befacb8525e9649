// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A part of the Mandelbrot set that gives a good picture.
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

  /// The places that tile pyramids can show.
  static let all = [
    Place("whole set", -0.68, 0, width: 2.9, limit: 300),
    Place("seahorse valley", -0.7453, 0.1127, width: 0.0065, limit: 900),
    Place("fern", -1.31518, 0.0734, width: 0.0055, limit: 500),
    Place("elephant trunks", 0.3245, 0.0485, width: 0.012, limit: 700),
    Place("surf", -0.925, 0.266, width: 0.032, limit: 500),
    Place("quad spiral", 0.27436, 0.48248, width: 0.0098, limit: 600),
    Place("satellite", -1.7548, 0, width: 0.11, limit: 500),
    Place("scepter", -1.25066, 0.02012, width: 0.00034, limit: 1200),
    Place("lightning", -0.1011, 0.9563, width: 0.032, limit: 400),
    Place("double spiral", -0.76157, -0.08476, width: 0.0042, limit: 900),
    Place("starfish", -0.374, 0.65979, width: 0.0075, limit: 700),
    Place("coral", -0.722, 0.246, width: 0.019, limit: 500),
    Place("frost", -0.5577, -0.6355, width: 0.012, limit: 700),
    Place("seahorse tail", -0.743644, 0.131826, width: 0.0028, limit: 1200),
    Place("dragon", 0.33698, 0.04878, width: 0.0016, limit: 900),
  ]
}

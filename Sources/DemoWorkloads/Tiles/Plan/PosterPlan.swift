// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The plan of a poster: a large picture that one operation renders in 10 to 30 s. The plan depends only on
/// the seed, the number of the poster, and the size of the tiles.
struct PosterPlan: Equatable, Sendable {
  /// The number of the poster, counted from 1.
  let number: Int
  let renderer: MandelbrotRenderer
  /// How long the rendering takes at normal speed.
  let duration: Duration

  init(seed: UInt64, number: Int, shape: PyramidShape = PyramidShape()) {
    var generator = SeededGenerator(seed: seed, stream: Self.firstStream + UInt64(number))
    let place = Place.all[generator.index(below: Place.all.count)]
    self.number = number
    renderer = MandelbrotRenderer(
      region: place.region, palette: Palette.all[generator.index(below: Palette.all.count)],
      phase: generator.number(in: 0...1), iterationLimit: place.iterationLimit,
      side: shape.leafSide * 4)
    // A viewer that lists the oldest executing operation first begins with the first poster. This poster takes
    // the longest time, so that the user can read the screen and then cancel the poster.
    duration = number == 1 ? .seconds(30) : generator.duration(milliseconds: 10_000...25_000)
  }

  /// The name of the operation.
  var name: String { "render poster \(number)" }

  /// The stream of random numbers before the stream of the first poster. Tile pyramids use streams with much
  /// lower and much higher numbers.
  private static let firstStream: UInt64 = 1 << 32
}

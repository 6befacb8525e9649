// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The complete plan of a pyramid: a pure function of the seed, its number and its shape.
struct PyramidPlan: Equatable, Sendable {
  let seed: UInt64
  /// The number of the pyramid, counted from 1.
  let number: Int
  let shape: PyramidShape
  let placeName: String
  let region: Region
  let iterationLimit: Int
  let palette: Palette
  let palettePhase: Double
  /// The operations, each after its dependencies: first those that build the pyramid, then the uploads and
  /// the operations that end them.
  let operations: [PlannedOperation]
  /// The number of leading `operations` that build the pyramid; the others upload it.
  let buildCount: Int

  init(seed: UInt64, number: Int, shape: PyramidShape = PyramidShape()) {
    var generator = SeededGenerator(seed: seed, stream: UInt64(number))
    let place = Self.place(seed: seed, number: number)
    self.seed = seed
    self.number = number
    self.shape = shape
    placeName = place.name
    iterationLimit = place.iterationLimit
    region = Region(
      centerReal: place.region.centerReal + generator.number(in: -0.04...0.04) * place.region.width,
      centerImaginary: place.region.centerImaginary
        + generator.number(in: -0.04...0.04) * place.region.width,
      width: place.region.width * generator.number(in: 0.9...1.15))
    palette = Palette.all[generator.index(below: Palette.all.count)]
    palettePhase = generator.number(in: 0...1)
    var list = PlannedOperationList(number: number, shape: shape, generator: generator)
    buildCount = list.appendBuild()
    list.appendPublication()
    operations = list.operations
  }

  /// The images of the pyramid, in the order in which they are written.
  var images: [ImageName] {
    operations.compactMap { operation in
      if case .write(let image) = operation.work { image } else { nil }
    }
  }

  /// Returns the side of an image in pixels.
  func side(of image: ImageName) -> Int {
    switch image {
    case .tile(let tile): shape.side(ofLevel: tile.level)
    case .picture: shape.side(ofLevel: 0)
    }
  }

  /// Returns the renderer of a computed tile.
  func renderer(of tile: TileCoordinate) -> MandelbrotRenderer {
    MandelbrotRenderer(
      region: region.part(shownBy: tile), palette: palette, phase: palettePhase,
      iterationLimit: iterationLimit, side: shape.side(ofLevel: tile.level))
  }

  /// Returns the place of a pyramid. All places are used, in an order that the seed determines, before any is
  /// used again.
  private static func place(seed: UInt64, number: Int) -> Place {
    let count = Place.all.count
    let (round, position) = (number - 1).quotientAndRemainder(dividingBy: count)
    // Counts streams down from the maximum, because pyramids use the low numbers.
    var generator = SeededGenerator(seed: seed, stream: .max - UInt64(round))
    var places = Place.all
    for last in stride(from: count - 1, to: 0, by: -1) {
      places.swapAt(last, generator.index(below: last + 1))
    }
    return places[position]
  }
}

/// The number and the size of a pyramid's tiles.
struct PyramidShape: Equatable, Sendable {
  /// The level of the computed tiles; the levels above are merged. At least 1.
  var deepestLevel = 3
  /// The side of a computed tile in pixels.
  var leafSide = 128

  /// Returns the side of a tile of this level in pixels: merging joins tiles without shrinking them.
  func side(ofLevel level: Int) -> Int {
    leafSide << (deepestLevel - level)
  }
}

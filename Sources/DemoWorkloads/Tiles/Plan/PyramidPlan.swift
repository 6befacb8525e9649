// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The complete plan of a tile pyramid. The plan depends only on the seed, the number of the pyramid, the
/// number of its levels, and the size of its tiles.
struct PyramidPlan: Equatable, Sendable {
  let seed: UInt64
  /// The number of the tile pyramid, counted from 1.
  let number: Int
  let shape: PyramidShape
  let placeName: String
  let region: Region
  let iterationLimit: Int
  let palette: Palette
  let palettePhase: Double
  /// The operations of the tile pyramid. Each operation comes after its dependencies. The operations that
  /// build the pyramid come first, and the uploads and the operations that complete them come last.
  let operations: [PlannedOperation]
  /// The number of operations that build the tile pyramid. These operations are at the beginning of
  /// `operations`. The operations after them upload the pyramid.
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

  /// The images of the tile pyramid in the order in which operations write them.
  var images: [ImageName] {
    operations.compactMap { operation in
      if case .write(let image) = operation.work { image } else { nil }
    }
  }

  /// Returns the number of pixels in a row of an image.
  func side(of image: ImageName) -> Int {
    switch image {
    case .tile(let tile): shape.side(ofLevel: tile.level)
    case .picture: shape.side(ofLevel: 0)
    }
  }

  /// Returns the renderer for a tile that is computed.
  func renderer(of tile: TileCoordinate) -> MandelbrotRenderer {
    MandelbrotRenderer(
      region: region.part(shownBy: tile), palette: palette, phase: palettePhase,
      iterationLimit: iterationLimit, side: shape.side(ofLevel: tile.level))
  }

  /// Returns the place of the Mandelbrot set that a tile pyramid shows. The places are shown in rounds. In
  /// each round, every place is shown once, in an order that the seed determines.
  private static func place(seed: UInt64, number: Int) -> Place {
    let count = Place.all.count
    let (round, position) = (number - 1).quotientAndRemainder(dividingBy: count)
    // A generator has a stream number that makes its numbers differ from those of other generators with the
    // same seed. The plan of a pyramid uses the number of the pyramid as the stream number. Therefore the
    // stream numbers for the order of places are counted down from the maximum.
    var generator = SeededGenerator(seed: seed, stream: .max - UInt64(round))
    var places = Place.all
    for last in stride(from: count - 1, to: 0, by: -1) {
      places.swapAt(last, generator.index(below: last + 1))
    }
    return places[position]
  }
}

/// The number of levels of a tile pyramid, and the size of its tiles.
struct PyramidShape: Equatable, Sendable {
  /// The level of the tiles that are computed; at least 1. The tiles of the levels above are merged.
  var deepestLevel = 3
  /// The number of pixels in a row of a computed tile.
  var leafSide = 128

  /// Returns the number of pixels in a row of a tile of this level. Merged tiles are larger, because merging
  /// does not shrink tiles.
  func side(ofLevel level: Int) -> Int {
    leafSide << (deepestLevel - level)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The list of all planned operations of a tile pyramid. In the list, each operation comes after its
/// dependencies.
struct PlannedOperationList: Equatable, Sendable {
  private(set) var operations: [PlannedOperation] = []
  private let number: Int
  private let shape: PyramidShape
  private var generator: SeededGenerator
  /// The images, each with the position in the list of the operation that writes the image.
  private var writes: [(image: ImageName, position: Int)] = []

  init(number: Int, shape: PyramidShape, generator: SeededGenerator) {
    self.number = number
    self.shape = shape
    self.generator = generator
  }

  static func == (left: Self, right: Self) -> Bool {
    left.operations == right.operations && left.generator == right.generator
  }

  /// Appends the operations that compute, merge, write and index the images.
  ///
  /// - Returns: The number of all operations that were appended so far.
  mutating func appendBuild() -> Int {
    let whole = appendImage(of: .whole)
    let calibration = append(
      .calibrate, "calibrate picture \(number)", after: [whole], milliseconds: 3000...4800)
    // The operation that writes the picture depends on the calibration and on the operation that makes the
    // uncalibrated picture. If the calibration was cancelled, the uncalibrated picture is written.
    appendWrite(of: .picture, after: [whole, calibration], milliseconds: 2000...2600)
    append(
      .index, "index pyramid \(number)", after: writes.map(\.position), milliseconds: 900...1500)
    return operations.count
  }

  /// Appends an upload operation for every image, and an operation that waits for all uploads.
  mutating func appendPublication() {
    let index = operations.count - 1
    let uploads = writes.map { image, position in
      append(
        .upload(image), "upload \(image)", after: [position],
        milliseconds: uploadTime(of: image))
    }
    append(
      .publish, "publish pyramid \(number)", after: [index] + uploads, milliseconds: 600...1000)
  }

  /// Appends the operations that make a tile. The order is depth first: the operations for one quarter of a
  /// tile come before the operations for the next quarter. Therefore tiles are merged early.
  ///
  /// - Returns: The position of the operation that makes the tile.
  private mutating func appendImage(of tile: TileCoordinate) -> Int {
    let position: Int
    if tile.level == shape.deepestLevel {
      position = append(
        .compute(tile), "compute tile \(tile)", after: [], milliseconds: computingTime())
    } else {
      var quarters: [Int] = []
      for quarter in tile.quarters { quarters.append(appendImage(of: quarter)) }
      position = append(
        .merge(tile), "merge tile \(tile)", after: quarters, milliseconds: 100...400)
    }
    appendWrite(of: .tile(tile), after: [position], milliseconds: writingTime(ofLevel: tile.level))
    return position
  }

  private mutating func appendWrite(
    of image: ImageName, after dependencies: [Int], milliseconds: ClosedRange<Int>
  ) {
    let write = append(
      .write(image), "write \(image)", after: dependencies, milliseconds: milliseconds)
    // A pyramid has about three times as many operations as images to write.
    operations[write].isRetried = writes.count % 30 == 20
    writes.append((image, write))
  }

  @discardableResult
  private mutating func append(
    _ work: PlannedOperation.Work, _ name: String, after dependencies: [Int],
    milliseconds: ClosedRange<Int>
  ) -> Int {
    operations.append(
      PlannedOperation(
        work: work, name: name, dependencies: dependencies,
        duration: generator.duration(milliseconds: milliseconds)))
    return operations.count - 1
  }

  /// Returns the range for the duration of an operation that computes a tile. One tile in sixteen is slow, so
  /// that the durations have outliers.
  private mutating func computingTime() -> ClosedRange<Int> {
    generator.index(below: 16) == 0 ? 1500...2500 : 150...450
  }

  private func writingTime(ofLevel level: Int) -> ClosedRange<Int> {
    switch level {
    case 0: 2000...2600
    case 1: 1000...1500
    case 2: 500...1000
    default: 300...800
    }
  }

  private func uploadTime(of image: ImageName) -> ClosedRange<Int> {
    guard case .tile(let tile) = image else { return 2400...3000 }
    return switch tile.level {
    case 0: 2400...3000
    case 1: 1600...2200
    case 2: 800...1500
    default: 400...1200
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A change of brightness after which a picture uses most of the range from black to white.
struct ContrastStretch: Equatable, Sendable {
  /// For each value of a byte, the new value.
  private let table: [UInt8]

  /// Creates the change of brightness that suits an image. The range of brightness in the image is measured
  /// without the darkest 1 % and the brightest 1 % of its bytes.
  init(measuring image: Image) {
    var counts = [Int](repeating: 0, count: 256)
    for byte in image.bytes { counts[Int(byte)] += 1 }
    let outliers = image.bytes.count / 100
    // The dark end of the range of brightness moves by at most 24 of 255, and the bright end by at most 47.
    // Therefore a mostly dark picture remains dark, and a mostly pale picture remains pale.
    let low = min(Self.firstIndex(past: outliers, in: counts), 24)
    let high = max(255 - Self.firstIndex(past: outliers, in: counts.reversed()), 208)
    table = (0...255).map { value in
      UInt8(min(max((value - low) * 255 / (high - low), 0), 255))
    }
  }

  func stretch(_ byte: UInt8) -> UInt8 { table[Int(byte)] }

  private static func firstIndex(past limit: Int, in counts: some Sequence<Int>) -> Int {
    var sum = 0
    for (index, count) in counts.enumerated() {
      sum += count
      if sum > limit { return index }
    }
    return 255
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Draws numbers as a row of bars, or as a filled area with several rows.
struct Sparkline: Sendable, Equatable {
  /// The numbers to draw, one for each cell, the newest last. There may be fewer numbers than cells.
  let samples: [Int]
  /// The number whose bar has the full height; at least 1.
  let scale: Int

  /// Creates bars for the last `cells` numbers of `all`. The highest of these numbers gets the full height.
  init(_ all: [Int], cells: Int) {
    samples = all.suffix(max(0, cells)).map { max(0, $0) }
    scale = max(1, samples.max() ?? 1)
  }

  /// The height of each sample, from 0 to 7. It is 0 only if the sample is 0.
  var levels: [Int] {
    samples.map { sample in
      // Heights are rounded up, so that only zero looks like zero.
      let (high, low) = sample.multipliedFullWidth(by: 7)
      let (quotient, remainder) = scale.dividingFullWidth((high, low))
      return quotient + (remainder > 0 ? 1 : 0)
    }
  }

  /// Returns the row of bars.
  func text(_ glyphs: Glyphs) -> String {
    var text = String.UnicodeScalarView()
    for level in levels { text.append(glyphs.bars[level]) }
    return String(text)
  }

  /// Returns the text of one row of the filled area. The area has `height` rows, and row 0 is the lowest.
  func areaText(row: Int, height: Int, _ glyphs: Glyphs) -> String {
    var text = String.UnicodeScalarView()
    let steps = glyphs.areaFills.count - 1
    for sample in samples {
      let filled = Double(sample) / Double(scale) * Double(height * steps)
      // A sample that is not zero fills at least a part of the bottom row, so that it is visible.
      let whole = sample > 0 ? max(1, Int(filled)) : 0
      text.append(glyphs.areaFills[min(max(0, whole - row * steps), steps)])
    }
    return String(text)
  }
}

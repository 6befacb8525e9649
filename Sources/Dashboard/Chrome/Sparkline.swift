// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Numbers as a row of bars, and as an area several rows high.
struct Sparkline: Sendable, Equatable {
  /// The numbers, one a cell, the newest last; those from before the first one are missing.
  let samples: [Int]
  /// The number that fills a cell, or the whole area; at least 1.
  let scale: Int

  /// The last `cells` of these numbers, drawn to the highest of them.
  init(_ all: [Int], cells: Int) {
    samples = all.suffix(max(0, cells)).map { max(0, $0) }
    scale = max(1, samples.max() ?? 1)
  }

  /// The height of each sample out of 7: 0 for nothing, at least 1 for anything.
  var levels: [Int] {
    samples.map { sample in
      // Rounded up, so that only nothing looks like nothing.
      let (high, low) = sample.multipliedFullWidth(by: 7)
      let (quotient, remainder) = scale.dividingFullWidth((high, low))
      return quotient + (remainder > 0 ? 1 : 0)
    }
  }

  /// The row of bars.
  func text(_ glyphs: Glyphs) -> String {
    var text = String.UnicodeScalarView()
    for level in levels { text.append(glyphs.bars[level]) }
    return String(text)
  }

  /// One row of the area, `row` from its bottom, of `height` rows.
  func areaText(row: Int, height: Int, _ glyphs: Glyphs) -> String {
    var text = String.UnicodeScalarView()
    let steps = glyphs.areaFills.count - 1
    for sample in samples {
      let filled = Double(sample) / Double(scale) * Double(height * steps)
      // Anything that is not nothing can be seen in the bottom row.
      let whole = sample > 0 ? max(1, Int(filled)) : 0
      text.append(glyphs.areaFills[min(max(0, whole - row * steps), steps)])
    }
    return String(text)
  }
}

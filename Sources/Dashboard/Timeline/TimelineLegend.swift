// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The line below the rows of the timeline. It names the kinds with their colors, and explains the characters of runs.
///
/// On a screen without colors, letters replace the colors: the runs of a kind contain its letter.
struct TimelineLegend {
  /// The maximum number of columns for the name of a kind.
  private static let nameWidth = 18
  /// The number of spaces between two entries.
  private static let gap = 2

  let colors: KindColors
  /// Whether the screen has colors.
  let hasColors: Bool

  func draw(row: Int, columns: Range<Int>, on canvas: inout Canvas) {
    let glyphs = canvas.glyphs
    var entries = colors.kinds.map { kind in (mark(of: kind, glyphs), kind, colors.role(of: kind)) }
    if colors.hasOthers {
      let name = entries.isEmpty ? "kind unknown" : "other kinds"
      entries.append((mark(of: nil, glyphs), name, .otherKind))
    }
    var column = columns.lowerBound
    for (index, (mark, name, role)) in entries.enumerated() {
      let width = 2 + glyphs.width(of: name, limit: Self.nameWidth)
      let left = entries.count - index
      // The last entries make room for their number if they do not fit.
      let reserve = left > 1 ? "+\(left) kinds".utf8.count + Self.gap : 0
      guard column + width + reserve <= columns.upperBound else {
        canvas.write(
          "+\(left) kind\(left == 1 ? "" : "s")", row: row, columns: column..<columns.upperBound,
          style: Style(.dim))
        return
      }
      canvas.put(mark, row: row, column: column, style: Style(role))
      canvas.write(
        name, row: row, columns: column + 2..<column + width, style: Style(hasColors ? role : .text)
      )
      column += width + Self.gap
    }
    let states = stateSpans(glyphs)
    // The first explanation is left out first. The end of a run that executes has a character of its own.
    for spans in [states[...], states.dropFirst()] {
      let width = spans.reduce(0) { $0 + glyphs.width(of: $1.text) }
      guard column + Self.gap + width <= columns.upperBound else { continue }
      canvas.write(Array(spans), row: row, columns: columns.upperBound - width..<columns.upperBound)
      return
    }
  }

  /// Returns the character before the name of a kind: its letter, or a filled cell in its color.
  private func mark(of kind: String?, _ glyphs: Glyphs) -> Unicode.Scalar {
    hasColors ? glyphs.takenSlot : colors.letter(of: kind) ?? glyphs.runStart
  }

  /// The explanations of the characters that fill runs.
  private func stateSpans(_ glyphs: Glyphs) -> [Span] {
    [
      Span("\(glyphs.run(.executing)) executing  ", .dim),
      Span("\(glyphs.run(.finished)) finished  ", .dim),
      Span("\(glyphs.run(.cancelled)) cancelled  ", .dim),
      Span("\(glyphs.runFailure) failed", .failed),
    ]
  }
}

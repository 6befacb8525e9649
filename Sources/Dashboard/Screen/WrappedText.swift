// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Text from any source as lines of cells that are safe to show.
struct WrappedText {
  /// The lines from the top. No line is wider than requested.
  private(set) var lines: [[Cell]] = []

  /// Breaks a text into lines after spaces. A word that is longer than a line is also broken. The lines need
  /// at least two columns.
  ///
  /// If there are more lines than `lineLimit`, the last line ends in an ellipsis. The cost depends on the
  /// number of lines, not on the length of the text.
  init(
    _ text: String, columns: Int, lineLimit: Int, style: Style = .plain, isUnicode: Bool = true
  ) {
    guard columns > 1, lineLimit > 0 else { return }
    let all = CellText(text, columns: columns * lineLimit, style: style, isUnicode: isUnicode)
    var rest = all.cells[...]
    while !rest.isEmpty, lines.count < lineLimit {
      let end = Self.lineEnd(in: rest, columns: columns)
      lines.append(Array(rest[..<end]))
      rest = rest[end...]
      // The space at the line break is left out.
      if rest.first.map(Self.isSpace) == true { rest.removeFirst() }
    }
    guard !rest.isEmpty else { return }
    lines[lineLimit - 1].markAsCut(columns: columns, style: style, isUnicode: isUnicode)
  }

  /// Returns the index at which the first line ends.
  private static func lineEnd(in cells: ArraySlice<Cell>, columns: Int) -> Int {
    let limit = cells.startIndex + columns
    guard limit < cells.endIndex else { return cells.endIndex }
    // A line break never divides a wide character, or a word that continues beyond the end of the line.
    let end = cells[limit].isContinuation ? limit - 1 : limit
    if isSpace(cells[end]) { return end }
    return cells[..<end].lastIndex(where: isSpace).map { $0 + 1 } ?? end
  }

  private static func isSpace(_ cell: Cell) -> Bool { cell.scalar == " " && !cell.isContinuation }
}

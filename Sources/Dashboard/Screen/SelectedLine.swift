// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The selected line of a short list whose rows come and go, and the lines on the screen.
///
/// If the selected row disappears, a ghost cursor replaces it: a line without a row.
struct SelectedLine: Sendable, Equatable {
  /// Whether the selected line is the ghost cursor.
  private(set) var isGhost = false
  /// The number of the selected line. Without the ghost cursor, it is the index of the selected row.
  private(set) var number = 0
  /// The number of the first line on the screen.
  private var top = 0

  /// Selects a row, at most the first or the last one of `count` rows.
  mutating func select(_ index: Int, of count: Int, height: Int) {
    isGhost = false
    number = max(0, min(index, count - 1))
    top = top(lineCount: count, height: height)
  }

  /// Replaces the selected row, which has disappeared, by the ghost cursor. `count` rows remain.
  mutating func showGhost(among count: Int, height: Int) {
    isGhost = true
    number = min(number, count)
    top = top(lineCount: count + 1, height: height)
  }

  /// Returns the index of the row that is `offset` rows below the selected line.
  func index(movedBy offset: Int) -> Int {
    // The row below the ghost cursor has the index that the selected row had.
    number + (isGhost && offset > 0 ? offset - 1 : offset)
  }

  /// Returns the lines on a screen of this height: the index of a row, or `nil` for the ghost cursor. If
  /// there are no rows, there are no lines.
  func visible(of count: Int, height: Int) -> [Int?] {
    guard count > 0 else { return [] }
    let lineCount = count + (isGhost ? 1 : 0)
    let top = top(lineCount: lineCount, height: height)
    return (top..<min(lineCount, top + max(0, height))).map { line in
      guard isGhost, line >= number else { return line }
      return line == number ? nil : line - 1
    }
  }

  private func top(lineCount: Int, height: Int) -> Int {
    let top = min(self.top, max(0, lineCount - height))
    return max(0, min(max(top, number - height + 1), number))
  }
}

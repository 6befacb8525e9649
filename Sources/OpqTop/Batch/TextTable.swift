// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard

/// Formats lines of aligned cells for a terminal, which may contain characters of any width.
struct TextTable {
  /// A column with its title and its alignment.
  struct Column {
    let title: String
    /// The minimum width of the column, so that tables look the same from frame to frame.
    let width: Int
    var isRightAligned = false
  }

  /// The maximum width of each column except the last one.
  private static let widest = 32
  /// The maximum width of the last column of a table.
  private static let longest = 200

  private let columns: [Column]
  /// The number of spaces between two columns.
  private let gap: Int
  private let isUnicode: Bool
  private var widths: [Int]
  private var rows: [[(text: String, width: Int)]] = []

  /// Creates a table with a line of titles.
  init(_ columns: [Column], isUnicode: Bool, gap: Int = 1) {
    self.columns = columns
    self.gap = gap
    self.isUnicode = isUnicode
    widths = columns.map(\.width)
    add(columns.map(\.title))
  }

  /// Adds a line of cells. Text that is too wide is cut, and characters that are not safe for a
  /// terminal are replaced.
  mutating func add(_ cells: [String]) {
    var row: [(text: String, width: Int)] = []
    row.reserveCapacity(cells.count)
    for (index, cell) in cells.enumerated() {
      let isLast = index == columns.count - 1
      let shown = printable(cell, columns: isLast ? Self.longest : Self.widest)
      if !isLast { widths[index] = max(widths[index], shown.width) }
      row.append(shown)
    }
    rows.append(row)
  }

  private func printable(_ text: String, columns: Int) -> (text: String, width: Int) {
    let count = text.utf8.count
    if count <= columns, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
      return (text, count)
    }
    let shown = TerminalText.printable(text, columns: columns, isUnicode: isUnicode)
    return (shown, TerminalText.width(of: shown))
  }

  /// The lines of the table, without trailing spaces.
  var lines: [String] { rows.map(line) }

  private func line(of row: [(text: String, width: Int)]) -> String {
    var line = ""
    for (index, cell) in row.enumerated() {
      if index > 0 { line += String(repeating: " ", count: gap) }
      let padding = String(repeating: " ", count: max(0, widths[index] - cell.width))
      line += columns[index].isRightAligned ? padding + cell.text : cell.text + padding
    }
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return line
  }
}

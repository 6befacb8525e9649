// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard

/// Lines of cells that stand below each other on a terminal, however wide their characters are.
struct TextTable {
  /// What a column is called, and how it stands.
  struct Column {
    let title: String
    /// The least that it takes, so that a table looks alike from frame to frame.
    let width: Int
    var isRightAligned = false
  }

  /// Nothing but what stands in the last column gets more than so many columns of a terminal.
  private static let widest = 32
  /// What stands in the last column gets no more than this.
  private static let longest = 200

  private let columns: [Column]
  private let isUnicode: Bool
  private var widths: [Int]
  private var rows: [[(text: String, width: Int)]] = []

  /// Creates a table with a first line of titles.
  init(_ columns: [Column], isUnicode: Bool) {
    self.columns = columns
    self.isUnicode = isUnicode
    widths = columns.map(\.width)
    add(columns.map(\.title))
  }

  /// Adds a line. What does not fit its column, or no terminal should get, is replaced.
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

  /// The lines, without spaces at their ends.
  var lines: [String] { rows.map(line) }

  private func line(of row: [(text: String, width: Int)]) -> String {
    var line = ""
    for (index, cell) in row.enumerated() {
      if index > 0 { line += " " }
      let padding = String(repeating: " ", count: max(0, widths[index] - cell.width))
      line += columns[index].isRightAligned ? padding + cell.text : cell.text + padding
    }
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return line
  }
}

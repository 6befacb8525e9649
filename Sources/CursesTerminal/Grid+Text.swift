// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard

extension Grid {
  /// Returns the grid as lines of text without colors. Spaces at the ends of lines and empty lines at the
  /// end are left out.
  ///
  /// Characters that are not safe to print are replaced a second time. These lines are printed without
  /// ncurses, which would refuse such characters.
  func printable(isUnicode: Bool) -> String {
    var lines: [String] = []
    for index in 0..<size.rows {
      var line = String.UnicodeScalarView()
      for cell in row(index) where !cell.isContinuation {
        line.append(cell.scalar)
        if let mark = cell.mark { line.append(mark) }
      }
      while line.last == " " { line.removeLast() }
      lines.append(
        TerminalText.printable(String(line), columns: size.columns, isUnicode: isUnicode))
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { $0 + "\n" }.joined()
  }
}

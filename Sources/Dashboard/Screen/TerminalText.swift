// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Text from anywhere as text that is safe to print where there is no grid.
public enum TerminalText {
  /// What a grid would show of `text`: no control, bidirectional or other invisible characters.
  ///
  /// - Parameters:
  ///   - text: Anything; a long one costs no more than its columns.
  ///   - columns: The most terminal columns to fill; what does not fit ends in an ellipsis.
  ///   - isUnicode: Whether more than ASCII may be printed.
  /// - Returns: One line of printable characters.
  public static func printable(
    _ text: String, columns: Int = 200, isUnicode: Bool = true
  ) -> String {
    var shown = String.UnicodeScalarView()
    for cell in CellText(text, columns: columns, isUnicode: isUnicode).cells
    where !cell.isContinuation {
      shown.append(cell.scalar)
      if let mark = cell.mark { shown.append(mark) }
    }
    return String(shown)
  }

  /// How many columns of a terminal a text takes that `printable` has returned.
  public static func width(of text: String) -> Int { CellText.width(of: text) }
}

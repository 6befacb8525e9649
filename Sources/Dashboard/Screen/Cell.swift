// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A size in terminal cells.
public struct Size: Sendable, Hashable {
  /// The number of cells in a row.
  public var columns: Int
  /// The number of rows.
  public var rows: Int

  /// Creates a size. Negative values become zero.
  public init(columns: Int, rows: Int) {
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }
}

/// The capabilities of the terminal.
public struct Capabilities: Sendable, Hashable {
  /// The number of colors that the terminal can show.
  public enum Colors: Int, Sendable, Comparable {
    /// The terminal has no colors. Only bold, dim, reversed and underlined text is available.
    case none = 0
    /// The terminal has the eight ANSI colors. Bold text shows the bright colors.
    case eight = 8
    /// The terminal has the eight ANSI colors and their bright forms.
    case sixteen = 16
    /// The terminal has the 256 colors of xterm.
    case twoHundredFiftySix = 256

    /// Returns whether `left` has fewer colors than `right`.
    public static func < (left: Colors, right: Colors) -> Bool { left.rawValue < right.rawValue }
  }

  /// Whether the terminal can draw box and block characters. If not, ASCII characters replace them.
  public var isUnicode: Bool
  /// The number of colors that the terminal can show.
  public var colors: Colors

  /// Creates capabilities. The default is Unicode and 256 colors.
  public init(isUnicode: Bool = true, colors: Colors = .twoHundredFiftySix) {
    self.isUnicode = isUnicode
    self.colors = colors
  }
}

/// One character position of the screen.
public struct Cell: Sendable, Hashable {
  /// The character of the cell. It is never a control character, and its width is never zero.
  public var scalar: Unicode.Scalar
  /// A combining mark that is drawn on top of the character; `nil` if the cell has no mark.
  public var mark: Unicode.Scalar?
  /// The style in which the cell is drawn.
  public var style: Style
  /// Whether the cell is the right half of a double-width character, which begins in the cell to
  /// its left.
  public var isContinuation: Bool

  /// Creates a cell. The default is a plain space.
  public init(
    _ scalar: Unicode.Scalar = " ", mark: Unicode.Scalar? = nil, style: Style = .plain,
    isContinuation: Bool = false
  ) {
    self.scalar = scalar
    self.mark = mark
    self.style = style
    self.isContinuation = isContinuation
  }
}

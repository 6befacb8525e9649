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
  /// The number of colours.
  public enum Colors: Int, Sendable, Comparable {
    /// No colours: bold, dim, reverse and underline only.
    case none = 0
    /// The eight ANSI colours, with bold for the bright ones.
    case eight = 8
    /// The eight ANSI colours and their bright forms.
    case sixteen = 16
    /// The 256 colours of xterm.
    case twoHundredFiftySix = 256

    /// Returns whether `left` has fewer colours.
    public static func < (left: Colors, right: Colors) -> Bool { left.rawValue < right.rawValue }
  }

  /// Whether box drawing and block elements can be drawn; otherwise ASCII characters replace them.
  public var isUnicode: Bool
  /// The number of colours.
  public var colors: Colors

  /// Creates capabilities; by default Unicode and 256 colours.
  public init(isUnicode: Bool = true, colors: Colors = .twoHundredFiftySix) {
    self.isUnicode = isUnicode
    self.colors = colors
  }
}

/// One character position of the screen.
public struct Cell: Sendable, Hashable {
  /// The character; never a control character, never of width zero.
  public var scalar: Unicode.Scalar
  /// One combining mark on top of it.
  public var mark: Unicode.Scalar?
  /// How it is drawn.
  public var style: Style
  /// Whether this is the right half of the double-width character to its left.
  public var isContinuation: Bool

  /// Creates a cell; a plain space by default.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A size in terminal cells.
public struct Size: Sendable, Hashable {
  /// How many cells a row has.
  public var columns: Int
  /// How many rows there are.
  public var rows: Int

  /// Creates a size; both at least zero.
  public init(columns: Int, rows: Int) {
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }
}

/// What the terminal can show.
public struct Capabilities: Sendable, Hashable {
  /// How many colours there are.
  public enum Colors: Int, Sendable, Comparable {
    /// None: bold, dim, reverse and underline only.
    case none = 0
    /// The eight of ANSI, with bold for the bright ones.
    case eight = 8
    /// Eight and their bright forms.
    case sixteen = 16
    /// The 256 of xterm.
    case twoHundredFiftySix = 256

    /// Whether `left` has fewer colours.
    public static func < (left: Colors, right: Colors) -> Bool { left.rawValue < right.rawValue }
  }

  /// Whether box drawing and block elements can be drawn; else ASCII stands in.
  public var isUnicode: Bool
  /// How many colours there are.
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

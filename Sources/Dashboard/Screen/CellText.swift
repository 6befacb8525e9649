// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Text from any source as cells that are safe to show. All text becomes cells here.
///
/// A name may contain any characters. Each control, bidirectional or other invisible character becomes one
/// visible cell, marks never leave their cell, and a wide character is never cut in half. The cost depends on
/// the width of the column, not on the length of the text.
struct CellText {
  /// The drawn cells; at most as many as there were columns.
  private(set) var cells: [Cell] = []

  private let columns: Int
  private let style: Style
  private let isUnicode: Bool

  /// Creates the cells of a text. It reads at most four characters for each column, so that a long text costs
  /// little, and puts an ellipsis into the last cell if a part was left out.
  init(_ text: String, columns: Int, style: Style = .plain, isUnicode: Bool = true) {
    self.columns = columns
    self.style = style
    self.isUnicode = isUnicode
    guard columns > 0 else { return }
    var budget = Self.mostScalars(columns: columns)
    for scalar in text.unicodeScalars {
      budget -= 1
      guard budget >= 0, append(Self.shown(scalar, isUnicode: isUnicode)) else {
        cells.markAsCut(columns: columns, style: style, isUnicode: isUnicode)
        return
      }
    }
  }

  /// Returns how many characters (Unicode scalars) are read to fill this number of columns.
  static func mostScalars(columns: Int) -> Int { 4 * columns }

  /// Returns how many cells a text takes; at most `limit`.
  static func width(of text: String, limit: Int = 1_000, isUnicode: Bool = true) -> Int {
    CellText(text, columns: limit, isUnicode: isUnicode).cells.count
  }

  private enum Shown {
    case character(Unicode.Scalar, width: Int)
    case replacement(Unicode.Scalar)
    case mark(Unicode.Scalar)
    case nothing
  }

  private static func shown(_ scalar: Unicode.Scalar, isUnicode: Bool) -> Shown {
    if (0x20..<0x7F).contains(scalar.value) { return .character(scalar, width: 1) }
    switch scalar {
    case "\t", "\n", "\r", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}":
      return .character(" ", width: 1)
    default: break
    }
    guard isUnicode else { return .replacement("?") }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .format: return .replacement("\u{B7}")
    case .unassigned, .surrogate, .privateUse: return .replacement("\u{FFFD}")
    case .spaceSeparator:
      return .character(" ", width: CharacterWidth.cells(of: scalar))
    default: break
    }
    let width = CharacterWidth.cells(of: scalar)
    if width == 0 {
      // Variation selectors select another appearance, which a terminal's cells do not have.
      return properties.isVariationSelector ? .nothing : .mark(scalar)
    }
    if properties.isDefaultIgnorableCodePoint { return .replacement("\u{B7}") }
    return .character(scalar, width: width)
  }

  /// Adds one character; returns `false` if there was no room for it.
  private mutating func append(_ shown: Shown) -> Bool {
    switch shown {
    case .nothing:
      return true
    case .character(let scalar, let width):
      guard cells.count + width <= columns else { return false }
      cells.append(Cell(scalar, style: style))
      if width == 2 {
        // A space of two cells is drawn as two spaces, without a continuation.
        cells.append(Cell(" ", style: style, isContinuation: scalar != " "))
      }
      return true
    case .replacement(let scalar):
      guard cells.count < columns else { return false }
      cells.append(Cell(scalar, style: dimmed))
      return true
    case .mark(let mark):
      // A combining mark after a space may be the first character of a name in a sentence. It is not drawn on
      // top of that space.
      guard let last = cells.lastIndex(where: { !$0.isContinuation }), cells[last].scalar != " "
      else {
        guard cells.count < columns else { return false }
        cells.append(Cell("\u{25CC}", mark: mark, style: dimmed))
        return true
      }
      if cells[last].mark == nil { cells[last].mark = mark }
      return true
    }
  }

  private var dimmed: Style {
    Style(.dim, isReversed: style.isReversed, isBold: false)
  }
}

extension [Cell] {
  /// Ends a line of this width in an ellipsis, because a part was left out.
  mutating func markAsCut(columns: Int, style: Style, isUnicode: Bool) {
    let ellipsis = Cell(isUnicode ? "\u{2026}" : "~", style: style)
    if count < columns {
      append(ellipsis)
    } else if self[columns - 1].isContinuation {
      self[columns - 2] = ellipsis
      self[columns - 1] = Cell(" ", style: style)
    } else {
      self[columns - 1] = ellipsis
    }
  }
}

/// Text from any source as text that is safe to print without a grid.
public enum TerminalText {
  /// Returns `text` as a grid would show it: without control, bidirectional or other invisible characters.
  ///
  /// - Parameters:
  ///   - text: Any text. The cost of a long text depends only on `columns`.
  ///   - columns: The maximum number of terminal columns. Text that does not fit ends in an ellipsis.
  ///   - isUnicode: Whether characters beyond ASCII may be printed.
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

  /// Returns how many columns of a terminal a result of `printable` takes.
  public static func width(of text: String) -> Int { CellText.width(of: text) }
}

extension String {
  /// Returns at most this number of characters (Unicode scalars) from the beginning. Names may be of any
  /// length, and the cost of drawing must not depend on it.
  func clipped(to count: Int) -> String {
    String(UnicodeScalarView(unicodeScalars.prefix(count)))
  }

  /// Returns the characters after the first `start` ones that ``CellText`` reads for this number of columns,
  /// and one more if there is one, so that ``CellText`` detects that a part is left out.
  func clipped(from start: Int, toFill columns: Int) -> String {
    let rest = unicodeScalars.dropFirst(start)
    return String(UnicodeScalarView(rest.prefix(CellText.mostScalars(columns: columns) + 1)))
  }
}

extension String {
  /// Returns the text with spaces after it, up to this number of characters.
  func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - unicodeScalars.count))
  }

  /// Returns the text with spaces before it, up to this number of characters.
  func paddedLeft(to count: Int) -> String {
    String(repeating: " ", count: max(0, count - unicodeScalars.count)) + self
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Text from any source as cells that are safe to show. The dashboard converts all text to cells with this
/// type.
///
/// A name may contain any characters. Each control, bidirectional or other invisible character becomes one
/// visible cell. Combining marks never leave their cell, and a wide character is never cut in half. The cost
/// depends on the width of the column, not on the length of the text.
struct CellText {
  /// The cells of the text; at most as many as there were columns.
  private(set) var cells: [Cell] = []

  private let columns: Int
  private let style: Style
  private let isUnicode: Bool

  /// Creates the cells of a text. The initializer reads at most four characters for each column, so that a
  /// long text costs little. If a part of the text was left out, the last cell has an ellipsis.
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

  /// Returns the maximum number of characters (Unicode scalars) that are read to fill this number of columns.
  static func mostScalars(columns: Int) -> Int { 4 * columns }

  /// Returns how many cells a text takes; at most `limit` cells.
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
      // A variation selector selects another appearance of a character. Terminal cells do not support it.
      return properties.isVariationSelector ? .nothing : .mark(scalar)
    }
    if properties.isDefaultIgnorableCodePoint { return .replacement("\u{B7}") }
    return .character(scalar, width: width)
  }

  /// Adds one character. Returns `false` if there is no room for the character.
  private mutating func append(_ shown: Shown) -> Bool {
    switch shown {
    case .nothing:
      return true
    case .character(let scalar, let width):
      guard cells.count + width <= columns else { return false }
      cells.append(Cell(scalar, style: style))
      if width == 2 {
        // A space of double width is drawn as two separate spaces. The second cell of any other wide
        // character is a continuation of its first cell.
        cells.append(Cell(" ", style: style, isContinuation: scalar != " "))
      }
      return true
    case .replacement(let scalar):
      guard cells.count < columns else { return false }
      cells.append(Cell(scalar, style: dimmed))
      return true
    case .mark(let mark):
      // The first character of a name in a sentence may be a combining mark. Such a mark is not drawn on top
      // of the space before the name.
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
  /// Puts an ellipsis into the last cell of a line of this width, to show that the text is incomplete.
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

/// Converts text from any source to text that is safe to print directly to a terminal.
public enum TerminalText {
  /// Returns `text` as the dashboard would show it: without control characters, bidirectional characters or
  /// other invisible characters.
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

  /// Returns how many terminal columns a text takes that ``printable(_:columns:isUnicode:)`` has returned.
  public static func width(of text: String) -> Int { CellText.width(of: text) }
}

extension String {
  /// Returns the first `count` characters (Unicode scalars) of the text. A name may be of any length, but the
  /// cost of drawing must not depend on the length of a name.
  func clipped(to count: Int) -> String {
    String(UnicodeScalarView(unicodeScalars.prefix(count)))
  }

  /// Returns the part of the text that ``CellText`` reads for this number of columns, after the first `start`
  /// characters. If the text has one more character, the result includes it, so that ``CellText`` detects
  /// that a part is left out.
  func clipped(from start: Int, toFill columns: Int) -> String {
    let rest = unicodeScalars.dropFirst(start)
    return String(UnicodeScalarView(rest.prefix(CellText.mostScalars(columns: columns) + 1)))
  }
}

extension String {
  /// Returns the text with trailing spaces, so that it has at least this number of characters.
  func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - unicodeScalars.count))
  }

  /// Returns the text with leading spaces, so that it has at least this number of characters.
  func paddedLeft(to count: Int) -> String {
    String(repeating: " ", count: max(0, count - unicodeScalars.count)) + self
  }
}

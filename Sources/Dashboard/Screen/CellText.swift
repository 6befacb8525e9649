// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Text from anywhere as cells that are safe to show: the one place where text becomes cells.
///
/// A name may hold anything. Here control, bidirectional and other invisible characters become one
/// visible cell, marks never leave their cell, a wide character is never cut in half, and a text of
/// any length costs no more than its column is wide.
struct CellText {
  /// What is drawn; at most as many as there were columns.
  private(set) var cells: [Cell] = []

  private let columns: Int
  private let style: Style
  private let isUnicode: Bool

  /// Reads at most four characters for each column, so that a long text costs nothing, and puts an
  /// ellipsis in the last cell where something was left out.
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

  /// How many characters (Unicode scalars) are looked at to fill so many columns.
  static func mostScalars(columns: Int) -> Int { 4 * columns }

  /// How many cells a text takes, counting no further than `limit`.
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
      // Variation selectors ask for another look, which a terminal's cells do not have.
      return properties.isVariationSelector ? .nothing : .mark(scalar)
    }
    if properties.isDefaultIgnorableCodePoint { return .replacement("\u{B7}") }
    return .character(scalar, width: width)
  }

  /// Adds one character; `false` where there was no room for it.
  private mutating func append(_ shown: Shown) -> Bool {
    switch shown {
    case .nothing:
      return true
    case .character(let scalar, let width):
      guard cells.count + width <= columns else { return false }
      cells.append(Cell(scalar, style: style))
      if width == 2 {
        // A space of two cells is drawn as two spaces: nothing to continue.
        cells.append(Cell(" ", style: style, isContinuation: scalar != " "))
      }
      return true
    case .replacement(let scalar):
      guard cells.count < columns else { return false }
      cells.append(Cell(scalar, style: dimmed))
      return true
    case .mark(let mark):
      // Behind a space it begins a name in a sentence, or might as well: that space is not its own.
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
  /// Ends a line of so many columns in an ellipsis, because something was left out.
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

extension String {
  /// At most so many characters (Unicode scalars) from the front: names may be of any length, and what
  /// is drawn must not cost as much as they do.
  func clipped(to count: Int) -> String {
    String(UnicodeScalarView(unicodeScalars.prefix(count)))
  }

  /// As much behind the first `start` characters as ``CellText`` looks at for so many columns, and one
  /// more where there is: so that it sees that something is left out.
  func clipped(from start: Int, toFill columns: Int) -> String {
    let rest = unicodeScalars.dropFirst(start)
    return String(UnicodeScalarView(rest.prefix(CellText.mostScalars(columns: columns) + 1)))
  }
}

extension String {
  /// With spaces behind it up to so many characters.
  func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - unicodeScalars.count))
  }

  /// With spaces before it up to so many characters.
  func paddedLeft(to count: Int) -> String {
    String(repeating: " ", count: max(0, count - unicodeScalars.count)) + self
  }
}

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

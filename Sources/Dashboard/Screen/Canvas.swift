// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A piece of a line in one style.
struct Span: Sendable, Equatable {
  var text: String
  var style: Style

  init(_ text: String, _ role: Role = .text, isBold: Bool = false) {
    self.text = text
    style = Style(role, isBold: isBold)
  }
}

/// Draws lines of text into a grid, within given columns. Text without room is clipped.
struct Canvas {
  /// The grid with everything that was drawn so far.
  private(set) var grid: Grid
  /// The characters to draw lines and bars with.
  let glyphs: Glyphs
  /// The drawn parts that react to the mouse.
  private(set) var regions = ScreenRegions()

  /// Creates a canvas on which every cell is an unstyled space.
  init(size: Size, capabilities: Capabilities) {
    grid = Grid(size: size)
    glyphs = Glyphs(isUnicode: capabilities.isUnicode)
  }

  /// All columns of the screen.
  var columns: Range<Int> { 0..<grid.size.columns }

  /// Writes text from the first column of `columns` on. Returns the column after the text.
  @discardableResult
  mutating func write(
    _ text: String, row: Int, columns: Range<Int>, style: Style = .plain
  ) -> Int {
    let columns = columns.clamped(to: self.columns)
    guard (0..<grid.size.rows).contains(row), !columns.isEmpty else { return columns.lowerBound }
    let text = CellText(
      text, columns: columns.count, style: style, isUnicode: glyphs.isUnicode)
    write(text.cells, row: row, column: columns.lowerBound)
    return columns.lowerBound + text.cells.count
  }

  /// Writes cells side by side from a column on. The row must have room for all of them.
  mutating func write(_ cells: [Cell], row: Int, column: Int) {
    for (offset, cell) in cells.enumerated() {
      grid[row: row, column: column + offset] = cell
    }
  }

  /// Writes text so that its end is at the last column of `columns`.
  mutating func writeRight(
    _ text: String, row: Int, columns: Range<Int>, style: Style = .plain
  ) {
    let width = glyphs.width(of: text, limit: columns.count)
    write(text, row: row, columns: columns.upperBound - width..<columns.upperBound, style: style)
  }

  /// Writes spans one after the other from the first column of `columns` on. Returns the column after the
  /// last span.
  @discardableResult
  mutating func write(_ spans: [Span], row: Int, columns: Range<Int>) -> Int {
    var column = columns.lowerBound
    for span in spans where column < columns.upperBound {
      column = write(
        span.text, row: row, columns: column..<columns.upperBound, style: span.style)
    }
    return column
  }

  /// Draws a rule across the screen, with a title at the left end.
  mutating func rule(row: Int, title: [Span] = []) {
    fill(glyphs.horizontal, row: row, columns: columns, style: Style(.dim))
    write(title, row: row, columns: columns.dropFirst())
  }

  /// Fills part of a row with one character of width 1. If the part contains only one half of a character of width 2, a
  /// space replaces the other half.
  mutating func fill(
    _ scalar: Unicode.Scalar = " ", row: Int, columns: Range<Int>, style: Style = .plain
  ) {
    let columns = columns.clamped(to: self.columns)
    guard (0..<grid.size.rows).contains(row), let first = columns.first else { return }
    if grid[row: row, column: first].isContinuation {
      grid[row: row, column: first - 1] = Cell(style: grid[row: row, column: first - 1].style)
    }
    let end = columns.upperBound
    if end < self.columns.upperBound, grid[row: row, column: end].isContinuation {
      grid[row: row, column: end] = Cell(style: grid[row: row, column: end].style)
    }
    for column in columns { grid[row: row, column: column] = Cell(scalar, style: style) }
  }

  /// Writes one character of width 1 into a cell.
  mutating func put(_ scalar: Unicode.Scalar, row: Int, column: Int, style: Style = .plain) {
    fill(scalar, row: row, columns: column..<column + 1, style: style)
  }

  /// Replaces a row by spaces that do not react to the mouse.
  mutating func clear(row: Int) {
    fill(row: row, columns: columns)
    ignoreMouse(rows: row..<row + 1)
  }

  /// Makes rows that were already drawn not react to the mouse.
  mutating func ignoreMouse(rows: Range<Int>) { regions.remove(rows: rows) }

  /// Notes that part of a row reacts to the mouse.
  mutating func mark(_ target: ScreenRegions.Target, row: Int, columns: Range<Int>) {
    regions.add(target, row: row, columns: columns)
  }

  /// Draws the mark of the selection in the line that stands for the selected row after this row has disappeared.
  mutating func writeGhost(row: Int, columns: Range<Int>) {
    write(glyphs.selection, row: row, columns: columns, style: Style(.accent))
    mark(.line(.ghost), row: row, columns: columns)
    regions.cursor = row
  }

  /// Draws part of a row as selected, as one solid bar: keeps the characters, and replaces all styles.
  mutating func select(row: Int, columns: Range<Int>) {
    regions.cursor = row
    guard (0..<grid.size.rows).contains(row) else { return }
    for column in columns.clamped(to: self.columns) {
      grid[row: row, column: column].style = .selected
    }
  }
}

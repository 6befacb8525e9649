// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The contents of the screen as a rectangle of cells. Views draw a grid, and the terminal shows it.
public struct Grid: Sendable, Hashable {
  /// The size of the grid.
  public let size: Size
  /// The cells, row by row.
  public private(set) var cells: [Cell]

  /// Creates a grid of plain spaces.
  public init(size: Size) {
    self.size = size
    cells = Array(repeating: Cell(), count: size.columns * size.rows)
  }

  /// Returns the cells of one row.
  ///
  /// - Precondition: `0 <= row < size.rows`.
  public func row(_ row: Int) -> ArraySlice<Cell> {
    cells[row * size.columns..<(row + 1) * size.columns]
  }

  /// Accesses one cell.
  ///
  /// - Precondition: Row and column are within `size`.
  public subscript(row row: Int, column column: Int) -> Cell {
    get { cells[row * size.columns + column] }
    set { cells[row * size.columns + column] = newValue }
  }
}

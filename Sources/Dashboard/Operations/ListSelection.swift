// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The selected operation of the list, and the part of the list on the screen.
///
/// The selection is an operation, never a row. At first, the first operation of the first rows is selected.
/// After that, only a key selects another operation. If the row of the selected operation leaves the screen, a
/// ghost cursor replaces it: a line without an operation, at the position of the row.
struct ListSelection: Sendable, Equatable {
  /// The part of the list on a screen.
  struct Window: Sendable, Equatable {
    /// The indexes of the rows on the screen.
    let indexes: Range<Int>
    /// The line of the ghost cursor, which stands for the selected operation if this operation has no row on
    /// the screen. The line is counted from the first line of the screen. It is `nil` if the selected
    /// operation has a row on the screen.
    let ghostLine: Int?
  }

  /// The selected operation; `nil` only before the list has its first row, and if a new filter matches no
  /// operation.
  private(set) var id: OperationReport.ID?
  /// The index of the first row on the screen.
  private(set) var top = 0
  /// Whether the screen stays at the beginning of the list, even if the selected operation moves down. It is
  /// `false` after the user has selected another operation than the first one.
  private(set) var staysAtTop = true

  /// Whether the selected row keeps its position on the screen while the other rows move.
  var isPinned = false

  private var key: SortKey?
  private var wasOver = false
  /// The position of the selected row on the screen. It is kept after the selected operation has left the
  /// screen.
  private var line = 0
  /// Whether the screen scrolls to the selected row. It is `false` after the selected operation has finished
  /// and its row has therefore left the screen.
  private var followsSelection = true

  /// Returns the part of the list on a screen of this height.
  func window(in rows: ListRows, height: Int) -> Window {
    var top = max(0, min(self.top, rows.count - height))
    let index = rows.index(of: id)
    if let index, followsSelection { top = min(max(top, index - height + 1), index) }
    let indexes = top..<min(rows.count, top + height)
    guard id != nil, !(index.map(indexes.contains) ?? false) else {
      return Window(indexes: indexes, ghostLine: nil)
    }
    // The selected operation has no row on the screen. The ghost cursor, which stands for the missing row,
    // needs one line.
    top = max(0, min(self.top, rows.count + 1 - height))
    let shown = top..<min(rows.count, top + height - 1)
    return Window(indexes: shown, ghostLine: min(line, shown.count))
  }

  /// Keeps the selection valid after the rows, their order or the screen's height have changed.
  mutating func settle(in rows: ListRows, height: Int) {
    guard let id else {
      moveToTop(in: rows, height: height)
      return
    }
    guard let index = rows.index(of: id) else {
      followsSelection = false
      top = window(in: rows, height: height).indexes.lowerBound
      return
    }
    let newKey = rows.keys[index]
    key = newKey
    if isPinned { top = max(0, min(index - line, rows.count - height)) }
    top = max(0, min(top, rows.count - height))
    // If the screen has become so low that it no longer contains the line of the selected row, it scrolls to
    // that row.
    if line >= height { staysAtTop = false }
    let isOnScreen = (top..<top + height).contains(index)
    let hasEnded = newKey.isOver && !wasOver
    if hasEnded || staysAtTop, !isPinned, !isOnScreen { followsSelection = false }
    wasOver = newKey.isOver
    let window = window(in: rows, height: height)
    top = window.indexes.lowerBound
    if window.ghostLine == nil { line = index - top }
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row. If the selected
  /// operation has no row on the screen, the movement begins at the line that stands for the missing row.
  mutating func move(by offset: Int, in rows: ListRows, height: Int) {
    guard rows.count > 0 else { return }
    let window = window(in: rows, height: height)
    let index: Int
    if let ghostLine = window.ghostLine {
      index = window.indexes.lowerBound + ghostLine + (offset > 0 ? offset - 1 : offset)
    } else {
      index = (rows.index(of: id) ?? 0) + offset
    }
    select(index: max(0, min(index, rows.count - 1)), in: rows, height: height)
  }

  /// Selects the first operation. If there are no rows, no operation is selected.
  mutating func moveToTop(in rows: ListRows, height: Int) {
    if rows.count > 0 {
      select(index: 0, in: rows, height: height)
    } else {
      (id, key, top, line) = (nil, nil, 0, 0)
    }
    staysAtTop = true
  }

  /// Selects the last row.
  mutating func moveToBottom(in rows: ListRows, height: Int) {
    guard rows.count > 0 else { return }
    select(index: rows.count - 1, in: rows, height: height)
  }

  /// If the selected operation no longer has a row, selects the row at the place that the operation would
  /// have in the order of the list.
  mutating func moveToNeighbour(in rows: ListRows, height: Int) {
    guard let key, rows.count > 0 else { return moveToTop(in: rows, height: height) }
    select(index: min(rows.insertionIndex(of: key), rows.count - 1), in: rows, height: height)
  }

  /// Selects an operation. Returns `false` if the operation has no row.
  mutating func select(_ id: OperationReport.ID, in rows: ListRows, height: Int) -> Bool {
    guard let index = rows.index(of: id) else { return false }
    select(index: index, in: rows, height: height)
    return true
  }

  private mutating func select(index: Int, in rows: ListRows, height: Int) {
    let key = rows.keys[index]
    self.key = key
    id = key.id
    wasOver = key.isOver
    staysAtTop = false
    followsSelection = true
    top = window(in: rows, height: height).indexes.lowerBound
    line = index - top
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The selected operation of the list, and the part of the list on the screen.
///
/// The selection is an operation, never a row. Until the user has selected an operation, the first operation
/// is always selected, so that the top of a busy list stays in view.
struct ListSelection: Sendable, Equatable {
  /// The selected operation; `nil` only if the list is empty.
  private(set) var id: OperationReport.ID?
  /// The index of the first row on the screen.
  private(set) var top = 0

  /// Whether the selected row keeps its position on the screen while the other rows move.
  var isPinned = false

  private var isChosen = false
  private var key: SortKey?
  private var wasOver = false
  /// The position of the selected row on the screen. It is kept after the selected operation has left the
  /// screen.
  private var line = 0
  /// Whether the screen scrolls to the selected row. It is `false` after the selected operation has finished
  /// and its row has therefore left the screen.
  private var followsSelection = true

  /// Returns the index of the first row on the screen if the screen has this height.
  func top(in rows: ListRows, height: Int) -> Int {
    var top = min(self.top, max(0, rows.count - height))
    if followsSelection, let index = rows.index(of: id) {
      top = min(max(top, index - height + 1), index)
    }
    return max(0, top)
  }

  /// Keeps the selection valid after the rows, their order or the screen's height have changed.
  mutating func settle(in rows: ListRows, height: Int) {
    guard rows.count > 0 else {
      self = ListSelection()
      return
    }
    guard isChosen, let id else {
      select(index: 0, in: rows, height: height)
      isChosen = false
      return
    }
    guard let index = rows.index(of: id) else {
      // The selected operation is no longer kept or is hidden, so its neighbour is selected.
      let neighbour = key.map { rows.insertionIndex(of: $0) } ?? 0
      select(index: min(neighbour, rows.count - 1), in: rows, height: height)
      return
    }
    let newKey = rows.keys[index]
    key = newKey
    if isPinned { top = max(0, min(index - line, rows.count - height)) }
    top = min(top, max(0, rows.count - height))
    let isOnScreen = (top..<top + height).contains(index)
    if newKey.isOver, !wasOver, !isOnScreen { followsSelection = false }
    wasOver = newKey.isOver
    top = top(in: rows, height: height)
    if isOnScreen || followsSelection { line = index - top }
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, in rows: ListRows, height: Int) {
    guard rows.count > 0 else { return }
    let last = rows.count - 1
    guard followsSelection, let index = rows.index(of: id) else {
      // The selected operation has left the screen, so the movement begins at the operation's former
      // position.
      select(index: min(top + line, last), in: rows, height: height)
      return
    }
    select(index: min(max(0, index + offset), last), in: rows, height: height)
  }

  /// Selects the first operation, and keeps the first operation selected after each change of the list.
  mutating func moveToTop(in rows: ListRows, height: Int) {
    guard rows.count > 0 else { return }
    select(index: 0, in: rows, height: height)
    isChosen = false
  }

  /// Selects the last row.
  mutating func moveToBottom(in rows: ListRows, height: Int) {
    guard rows.count > 0 else { return }
    select(index: rows.count - 1, in: rows, height: height)
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
    isChosen = true
    followsSelection = true
    top = top(in: rows, height: height)
    line = index - top
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The list's selected operation, and the part of the list on the screen.
///
/// The selection is an operation, never a row. Until the user has selected an operation, the selection is
/// always the first one, so that the top of a busy list stays in view.
struct ListSelection: Sendable, Equatable {
  /// The selected operation; `nil` only in an empty list.
  private(set) var id: OperationReport.ID?
  /// The index of the first row on screen.
  private(set) var top = 0

  /// Whether the selected row keeps its place on the screen, and the others move.
  var isPinned = false

  private var isChosen = false
  private var key: SortKey?
  private var wasOver = false
  /// The selected row's place on the screen, kept for when the operation leaves the screen.
  private var line = 0
  /// `false` after the selected operation finished and left the screen because of that: the screen stays.
  private var followsSelection = true

  /// Returns the index of the first row on a screen of this height.
  func top(in rows: ListRows, height: Int) -> Int {
    var top = min(self.top, max(0, rows.count - height))
    if followsSelection, let index = rows.index(of: id) {
      top = min(max(top, index - height + 1), index)
    }
    return max(0, top)
  }

  /// Finds the selection again after the rows, their order or the screen's height have changed.
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
      // The operation is no longer kept, or is hidden: its neighbour is selected.
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
      // The operation disappeared while the screen stayed: continue at its former place.
      select(index: min(top + line, last), in: rows, height: height)
      return
    }
    select(index: min(max(0, index + offset), last), in: rows, height: height)
  }

  /// Selects the first operation, now and after each change.
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

  /// Selects an operation; returns `false` if it has no row.
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

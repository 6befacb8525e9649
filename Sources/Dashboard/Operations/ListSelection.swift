// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The list's selected operation, and which part of the list is on screen.
///
/// The selection is an operation, never a row. Until the user has chosen one it is whichever is
/// first, so that the top of a busy list stays in view.
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
  /// `false` after the selected operation finished and thereby left the screen: the screen stays.
  private var followsSelection = true

  /// The index of the first row to show on a screen of this height.
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
      // The operation is no longer kept, or hidden: its neighbour takes over.
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

  /// Selects the row `offset` further down; the first or the last where there are not as many.
  mutating func move(by offset: Int, in rows: ListRows, height: Int) {
    guard rows.count > 0 else { return }
    let last = rows.count - 1
    guard followsSelection, let index = rows.index(of: id) else {
      // The operation went away while the screen stayed: go on where it was.
      select(index: min(top + line, last), in: rows, height: height)
      return
    }
    select(index: min(max(0, index + offset), last), in: rows, height: height)
  }

  /// Selects whichever operation is first, now and after each change.
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

  /// Selects an operation; `false` where it has no row.
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

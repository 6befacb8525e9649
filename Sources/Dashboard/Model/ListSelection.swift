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

  private var isChosen = false
  private var key: SortKey?
  private var wasOver = false
  /// The selected row's place on the screen, kept for when the operation leaves the screen.
  private var line = 0
  /// `false` after the selected operation finished and thereby left the screen: the screen stays.
  private var followsSelection = true

  /// The rows that can be selected.
  struct Rows {
    let order: OperationOrder
    /// How many keys of the order, from its front, are rows.
    let count: Int
    /// How many rows fit the screen.
    let height: Int

    func index(of key: SortKey?) -> Int? {
      key.flatMap { order.index(of: $0) }.flatMap { $0 < count ? $0 : nil }
    }
  }

  /// The index of the first row to show on a screen of this height.
  func top(in rows: Rows) -> Int {
    var top = min(self.top, max(0, rows.count - rows.height))
    if followsSelection, let index = rows.index(of: key) {
      top = min(max(top, index - rows.height + 1), index)
    }
    return max(0, top)
  }

  /// Finds the selection again after the rows, their order or the screen's height have changed.
  mutating func settle(in rows: Rows, operations: OperationStore) {
    guard rows.count > 0 else {
      self = ListSelection()
      return
    }
    guard isChosen, let id else {
      select(index: 0, in: rows)
      isChosen = false
      return
    }
    let newKey = operations[id].map(SortKey.init)
    guard let newKey, let index = rows.index(of: newKey) else {
      // The operation is no longer kept, or hidden: its neighbour takes over.
      let neighbour = key.map { rows.order.insertionIndex(of: $0) } ?? 0
      select(index: min(neighbour, rows.count - 1), in: rows)
      return
    }
    key = newKey
    top = min(top, max(0, rows.count - rows.height))
    let isOnScreen = (top..<top + rows.height).contains(index)
    if newKey.isOver, !wasOver, !isOnScreen { followsSelection = false }
    wasOver = newKey.isOver
    top = top(in: rows)
    if isOnScreen || followsSelection { line = index - top }
  }

  /// Selects the row `offset` further down; the first or the last where there are not as many.
  mutating func move(by offset: Int, in rows: Rows) {
    guard rows.count > 0 else { return }
    let last = rows.count - 1
    guard followsSelection, let index = rows.index(of: key) else {
      // The operation went away while the screen stayed: go on where it was.
      select(index: min(top + line, last), in: rows)
      return
    }
    select(index: min(max(0, index + offset), last), in: rows)
  }

  /// Selects whichever operation is first, now and after each change.
  mutating func moveToTop(in rows: Rows) {
    guard rows.count > 0 else { return }
    select(index: 0, in: rows)
    isChosen = false
  }

  /// Selects the last row.
  mutating func moveToBottom(in rows: Rows) {
    guard rows.count > 0 else { return }
    select(index: rows.count - 1, in: rows)
  }

  /// Selects an operation; `false` where it has no row.
  mutating func select(_ key: SortKey, in rows: Rows) -> Bool {
    guard let index = rows.index(of: key) else { return false }
    select(index: index, in: rows)
    return true
  }

  private mutating func select(index: Int, in rows: Rows) {
    let key = rows.order.keys[index]
    self.key = key
    id = key.id
    wasOver = key.isOver
    isChosen = true
    followsSelection = true
    top = top(in: rows)
    line = index - top
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The screen of one queue: its operations in the order in which they run.
///
/// The selection is an operation, never a row. At first, the operation that the queue starts next is selected, until a
/// key selects an operation or acts on it. If this operation leaves the queue, a ghost cursor replaces its row.
struct QueueScreenState: Sendable, Equatable {
  /// The queue that the screen shows. The queue may no longer exist.
  let queue: QueueReport.ID
  /// The last known name of the queue, unsanitised.
  var name: String
  /// The selected operation; `nil` if the queue has no operation. It may have left the queue.
  private(set) var selected: OperationReport.ID?
  /// Whether the operation that the queue starts next is selected, whichever it is.
  private(set) var follows = true
  /// The operation for which the key `b` was pressed and whose details have not arrived; `nil` if there is none.
  var awaited: OperationReport.ID?
  /// The index of the first line on the screen.
  private(set) var top = 0
  private var line = SelectedLine()

  /// Creates a screen on which the next operation is selected.
  init(_ queue: QueueReport) {
    self.queue = queue.id
    name = queue.label.clipped(to: 200)
  }

  /// The index of the operation before which the ghost cursor stands; `nil` if there is no ghost cursor.
  var ghost: Int? { selected != nil && line.isGhost ? line.number : nil }

  /// The index of the selected operation; 0 if none is selected.
  var index: Int { selected == nil ? 0 : line.number }

  /// Keeps the selected operation selected, even if the queue starts another one next.
  mutating func hold() { follows = false }

  /// Selects the operation that is `offset` lines below the selected one, at most the first or the last one.
  mutating func move(by offset: Int, in list: QueueOperationRows, height: Int) {
    guard !list.ids.isEmpty else { return }
    follows = false
    let index = selected == nil ? 0 : line.index(movedBy: offset)
    line.select(index, of: list.ids.count, height: height)
    selected = list.ids[line.number]
    scroll(in: list, height: height)
  }

  /// Selects an operation. Returns `false` if the queue does not show it.
  mutating func select(
    _ id: OperationReport.ID, in list: QueueOperationRows, height: Int
  ) -> Bool {
    guard list.ids.contains(id) else { return false }
    (selected, follows) = (id, false)
    settle(in: list, height: height)
    return true
  }

  /// Keeps the selection and the lines on the screen valid after the operations have changed.
  mutating func settle(in list: QueueOperationRows, height: Int) {
    if follows { selected = list.next }
    if let selected {
      if let index = list.ids.firstIndex(of: selected) {
        line.select(index, of: list.ids.count, height: height)
      } else {
        line.showGhost(among: list.ids.count, height: height)
      }
    }
    scroll(in: list, height: height)
  }

  /// Changes the first line on the screen so that the line of the selection is on the screen, with the rule above it.
  private mutating func scroll(in list: QueueOperationRows, height: Int) {
    let rows = list.rows(height: height, on: self)
    if follows { top = 0 }
    guard let selected else { return }
    let cursor = rows.firstIndex {
      switch $0 {
      case .operation(let id, _): id == selected
      case .ghost: true
      case .rule, .words: false
      }
    }
    let last = cursor ?? 0
    var first = last
    if first > 0, case .rule = rows[first - 1] { first -= 1 }
    top = min(max(top, last - height + 1), max(0, rows.count - height))
    top = max(0, min(top, height > 1 ? first : last))
  }
}

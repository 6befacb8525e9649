// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The selected queue in the view of queues, and the rows on the screen.
struct QueueSelection: Sendable, Equatable {
  /// The selected queue; `nil` only if there are no queues.
  private(set) var id: QueueReport.ID?
  /// The index of the first row on screen.
  private(set) var top = 0

  private var index = 0

  /// Keeps the selection valid after the queues have changed. If the selected queue no longer exists, its
  /// neighbour is selected.
  mutating func settle(in queues: [QueueReport], height: Int) {
    place(queues.firstIndex { $0.id == id } ?? index, in: queues, height: height)
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, in queues: [QueueReport], height: Int) {
    place(index + offset, in: queues, height: height)
  }

  /// Selects a queue. If the queue does not exist, the selection stays.
  mutating func select(_ id: QueueReport.ID, in queues: [QueueReport], height: Int) {
    guard let index = queues.firstIndex(where: { $0.id == id }) else { return }
    place(index, in: queues, height: height)
  }

  /// Returns the index of the first row on a screen of this height.
  func top(count: Int, height: Int) -> Int {
    let top = min(self.top, max(0, count - height))
    return max(0, min(max(top, index - height + 1), index))
  }

  private mutating func place(_ index: Int, in queues: [QueueReport], height: Int) {
    guard !queues.isEmpty else {
      self = QueueSelection()
      return
    }
    self.index = max(0, min(index, queues.count - 1))
    id = queues[self.index].id
    top = top(count: queues.count, height: height)
  }
}

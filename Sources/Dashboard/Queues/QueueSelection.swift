// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The selected queue in the view of queues, and the rows on the screen.
///
/// At first, the first queue is selected. After that, only a key selects another queue. If the selected queue
/// disappears, a ghost cursor replaces its row: a line without a queue. No queue is selected then.
struct QueueSelection: Sendable, Equatable {
  /// The index of the first line on the screen. The ghost cursor is a line too.
  private(set) var top = 0

  /// The queue that was selected last; `nil` only before there are queues.
  private var lastID: QueueReport.ID?
  /// Whether the ghost cursor replaces the row of the selected queue.
  private var isGhost = false
  /// The line of the selected queue or of the ghost cursor.
  private var line = 0

  /// The selected queue; `nil` if the selected queue has disappeared, or before there are queues.
  var id: QueueReport.ID? { isGhost ? nil : lastID }

  /// Keeps the selection valid after the queues have changed.
  mutating func settle(in queues: [QueueReport], height: Int) {
    if let line = queues.firstIndex(where: { $0.id == lastID }) ?? (lastID == nil ? 0 : nil) {
      return place(line, in: queues, height: height)
    }
    isGhost = true
    line = min(line, queues.count)
    top = top(count: queues.count + 1, height: height)
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, in queues: [QueueReport], height: Int) {
    // The queue below the ghost cursor has the index that the selected queue had.
    place(line + (isGhost && offset > 0 ? offset - 1 : offset), in: queues, height: height)
  }

  /// Selects a queue. If the queue does not exist, the selection stays.
  mutating func select(_ id: QueueReport.ID, in queues: [QueueReport], height: Int) {
    guard let line = queues.firstIndex(where: { $0.id == id }) else { return }
    place(line, in: queues, height: height)
  }

  /// Returns the lines on a screen of this height: the index of a queue, or `nil` for the ghost cursor. If
  /// there are no queues, there are no lines.
  func lines(of queues: [QueueReport], height: Int) -> [Int?] {
    guard !queues.isEmpty else { return [] }
    let count = queues.count + (isGhost ? 1 : 0)
    let top = top(count: count, height: height)
    return (top..<min(count, top + max(0, height))).map { line in
      guard isGhost, line >= self.line else { return line }
      return line == self.line ? nil : line - 1
    }
  }

  private func top(count: Int, height: Int) -> Int {
    let top = min(self.top, max(0, count - height))
    return max(0, min(max(top, line - height + 1), line))
  }

  private mutating func place(_ line: Int, in queues: [QueueReport], height: Int) {
    guard !queues.isEmpty else { return }
    self.line = max(0, min(line, queues.count - 1))
    lastID = queues[self.line].id
    isGhost = false
    top = top(count: queues.count, height: height)
  }
}

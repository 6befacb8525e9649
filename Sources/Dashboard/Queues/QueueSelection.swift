// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The selected queue in the view of queues, and the rows on the screen.
///
/// At first, the first queue is selected. After that, only a key selects another queue. If the selected queue
/// disappears, a ghost cursor replaces its row: a line without a queue. No queue is selected then.
struct QueueSelection: Sendable, Equatable {
  /// The queue that was selected last; `nil` only before there are queues.
  private var lastID: QueueReport.ID?
  private var line = SelectedLine()

  /// The selected queue; `nil` if the selected queue has disappeared, or before there are queues.
  var id: QueueReport.ID? { line.isGhost ? nil : lastID }

  /// Keeps the selection valid after the queues have changed.
  mutating func settle(in queues: [QueueReport], height: Int) {
    if let index = queues.firstIndex(where: { $0.id == lastID }) ?? (lastID == nil ? 0 : nil) {
      place(index, in: queues, height: height)
    } else {
      line.showGhost(among: queues.count, height: height)
    }
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, in queues: [QueueReport], height: Int) {
    place(line.index(movedBy: offset), in: queues, height: height)
  }

  /// Selects the next or the previous queue. After the last queue, the order continues with the first one.
  mutating func step(by offset: Int, in queues: [QueueReport], height: Int) {
    guard !queues.isEmpty else { return }
    let index = line.index(movedBy: offset)
    place((index % queues.count + queues.count) % queues.count, in: queues, height: height)
  }

  /// Selects a queue. If the queue does not exist, the selection stays.
  mutating func select(_ id: QueueReport.ID, in queues: [QueueReport], height: Int) {
    guard let index = queues.firstIndex(where: { $0.id == id }) else { return }
    place(index, in: queues, height: height)
  }

  /// Returns the lines on a screen of this height: the index of a queue, or `nil` for the ghost cursor. If
  /// there are no queues, there are no lines.
  func lines(of queues: [QueueReport], height: Int) -> [Int?] {
    line.visible(of: queues.count, height: height)
  }

  private mutating func place(_ index: Int, in queues: [QueueReport], height: Int) {
    guard !queues.isEmpty else { return }
    line.select(index, of: queues.count, height: height)
    lastID = queues[line.number].id
  }
}

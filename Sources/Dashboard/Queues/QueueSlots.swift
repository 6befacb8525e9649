// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A short text about the slots of a queue, such as `████░░░░ 4/8`. If the queue is suspended, the text
/// contains `SUSPENDED` instead of the bar.
struct QueueSlots {
  let queue: QueueReport
  let cells: Int
  let isAligned: Bool

  /// Creates the text for a queue.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - cells: The maximum number of cells of the bar.
  ///   - isAligned: Whether the numbers begin after `cells` cells even if the bar is shorter.
  init(_ queue: QueueReport, cells: Int, isAligned: Bool = false) {
    self.queue = queue
    self.cells = cells
    self.isAligned = isAligned
  }

  /// Returns the text about the slots.
  func spans(_ glyphs: Glyphs) -> [Span] {
    let running = queue.counts.executing
    if queue.isSuspended {
      let width = queue.width.map { "/\($0)" } ?? ""
      return [Span("SUSPENDED", .held, isBold: true), Span(" \(running)\(width)", .held)]
    }
    guard let width = queue.width else {
      return [Span("\(running) exec", running > 0 ? .executing : .dim)]
    }
    let bar = SlotBar(running: running, width: width, cells: min(width, cells))
    func text(_ scalar: Unicode.Scalar, _ count: Int) -> String {
      String(repeating: Character(scalar), count: max(0, count))
    }
    let padding = isAligned ? cells - bar.taken - bar.free : 0
    return [
      Span(text(glyphs.takenSlot, bar.taken), .executing),
      Span(text(glyphs.freeSlot, bar.free), .dim),
      Span(text(" ", padding + 1) + "\(running)/\(width)"),
    ]
  }
}

/// The cells of a bar that shows taken and free slots.
struct SlotBar: Sendable, Equatable {
  /// The number of cells for taken slots.
  let taken: Int
  /// The number of cells for free slots.
  let free: Int

  /// Creates a bar. At least one cell is for taken slots if an operation executes. All cells are for taken
  /// slots only if the queue is full.
  init(running: Int, width: Int, cells: Int) {
    let share = width == 0 ? 0 : running * cells / width
    taken = min(cells, running > 0 ? max(1, share) : 0)
    free = max(0, cells - taken)
  }
}

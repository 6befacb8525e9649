// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Says in a few cells how full a queue is: `████░░░░ 4/8`, or that it is suspended.
struct QueueSlots {
  let queue: QueueReport
  let cells: Int
  let isAligned: Bool

  /// - Parameters:
  ///   - queue: The queue.
  ///   - cells: How many cells the bar takes at most.
  ///   - isAligned: Whether the numbers stand behind so many cells, however short the bar is.
  init(_ queue: QueueReport, cells: Int, isAligned: Bool = false) {
    self.queue = queue
    self.cells = cells
    self.isAligned = isAligned
  }

  /// The text.
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

/// How many cells of a bar stand for slots that are taken.
struct SlotBar: Sendable, Equatable {
  /// Cells for slots that are taken.
  let taken: Int
  /// Cells for those that are free.
  let free: Int

  /// A queue that runs anything has a cell taken, and only a full one has them all.
  init(running: Int, width: Int, cells: Int) {
    let share = width == 0 ? 0 : running * cells / width
    taken = min(cells, running > 0 ? max(1, share) : 0)
    free = max(0, cells - taken)
  }
}

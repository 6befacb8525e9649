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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A short text about the slots of a queue, such as `████░░░░ 4/8`, or `████░░░░ 4/8→9` if the width 9 is
/// requested. If the queue is suspended, the text contains `SUSPENDED` instead of the bar. If the queue's
/// process has ended, the text is `ended`.
struct QueueSlots {
  private let queue: QueueReport
  private let requestedWidth: Int?
  private let hasEnded: Bool
  private let cells: Int
  private let room: Int?

  /// Creates the text for a queue.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - dashboard: The dashboard that shows the queue.
  ///   - cells: The maximum number of cells of the bar.
  ///   - room: The maximum number of cells of the text. The numbers then begin after `cells` cells even if the bar is
  ///     shorter. `nil` for a text of any length, in which the numbers follow the bar.
  init(_ queue: QueueReport, in dashboard: Dashboard, cells: Int, room: Int? = nil) {
    self.queue = queue
    requestedWidth = dashboard.queueRequests.widths[queue.id]
    hasEnded = dashboard.shown.hasEnded(queue)
    self.cells = cells
    self.room = room
  }

  /// Returns the text about the slots.
  func spans(_ glyphs: Glyphs) -> [Span] {
    if hasEnded { return [Span("ended", .dim)] }
    let running = CountText.text(queue.counts.executing)
    let requested = requestedWidth.map { "\(glyphs.arrow)\(CountText.text($0))" } ?? ""
    if queue.isSuspended {
      let width = queue.width.map { "/\(CountText.text($0))" } ?? ""
      return suspended("\(running)\(width)\(requested)", hasNews: !requested.isEmpty)
    }
    guard let width = queue.width else {
      return [Span("\(running) exec\(requested)", queue.counts.executing > 0 ? .executing : .dim)]
    }
    let numbers = "\(running)/\(CountText.text(width))\(requested)"
    if let room, numbers.unicodeScalars.count + 2 > room { return [Span(numbers)] }
    // If an aligned bar is followed by long numbers, the bar is shorter, so that the numbers have room.
    let excess = room.map { max(0, cells + 1 + numbers.unicodeScalars.count - $0) } ?? 0
    let barCells = max(1, cells - excess)
    let bar = SlotBar(running: queue.counts.executing, width: width, cells: min(width, barCells))
    func text(_ scalar: Unicode.Scalar, _ count: Int) -> String {
      String(repeating: Character(scalar), count: max(0, count))
    }
    let padding = room == nil ? 0 : barCells - bar.taken - bar.free
    return [
      Span(text(glyphs.takenSlot, bar.taken), .executing),
      Span(text(glyphs.freeSlot, bar.free), .dim),
      Span(text(" ", padding + 1) + numbers),
    ]
  }

  /// Returns the text about a suspended queue. Without room for the numbers, the text has them only if operations
  /// execute or if another width is requested.
  private func suspended(_ numbers: String, hasNews: Bool) -> [Span] {
    let word = "SUSPENDED"
    func spans(_ word: String, _ rest: String) -> [Span] {
      [Span(word, .held, isBold: true), Span(rest, .held)]
    }
    guard let room, word.utf8.count + 1 + numbers.unicodeScalars.count > room else {
      return spans(word, " \(numbers)")
    }
    return hasNews || queue.counts.executing > 0 ? spans("SUSP", " \(numbers)") : spans(word, "")
  }
}

extension Dashboard {
  /// The indices of the shown queues, the most important first: the suspended queues, then the others.
  var queuesByImportance: [Int] {
    let queues = shown.queues
    return queues.indices.filter { shown.isSuspended(queues[$0]) }
      + queues.indices.filter { !shown.isSuspended(queues[$0]) }
  }

  /// Returns a text that counts the queues without room on the screen. `chosen` are the queues that have
  /// room.
  func wordsForOtherQueues(than chosen: some Collection<Int>) -> String {
    let queues = shown.queues
    let suspended =
      queues.count { shown.isSuspended($0) } - chosen.count { shown.isSuspended(queues[$0]) }
    let remark = suspended > 0 ? ", \(CountText.text(suspended)) SUSPENDED" : ""
    return "+\(CountText.text(queues.count - chosen.count)) more\(remark)"
  }
}

extension MonitoredState {
  /// Returns whether the process of a queue has ended.
  func hasEnded(_ queue: QueueReport) -> Bool { hasEnded(queue.id) || endedReason != nil }

  /// Returns whether a queue is suspended and its process has not ended.
  func isSuspended(_ queue: QueueReport) -> Bool { queue.isSuspended && !hasEnded(queue) }
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

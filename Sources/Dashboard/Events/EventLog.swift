// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The newest events that the dashboard has received, in the order of time.
///
/// A process reads its queues one after the other, and several processes send their updates at different
/// times. Therefore a late event can be older than events of an earlier update. A late event is inserted at
/// its place, even if a line that is not an event follows this place.
struct EventLog: Sendable, Equatable {
  /// The number of lines that remain when the log removes its oldest lines.
  static let capacity = 5_000
  /// The maximum number of events that the dashboard requests in one update.
  static let limit = 1_000
  /// The maximum number of lines above ``capacity``. If the log has more lines, the oldest lines are removed.
  private static let slack = 1_000

  /// One line of the log.
  enum Line: Sendable, Equatable {
    /// The line shows an event.
    case event(OperationEvent)
    /// The line shows the number of events that are missing between the lines above and below it.
    case skipped(Int)
    /// The line shows where the complete events begin. Events above the line may be missing.
    case beginning

    /// Whether the line shows an event.
    var isEvent: Bool { if case .event = self { true } else { false } }
  }

  /// The lines of the log, the oldest line first.
  private(set) var lines: [Line] = []
  /// The line number of the first kept line. Each line keeps its line number when older lines are removed.
  private(set) var firstNumber = 0
  /// The number of events that are missing in the log.
  private(set) var skippedCount = 0
  /// An id that is as wide as the widest id in the log. It determines the width of the column of ids.
  private(set) var largestID = OperationReport.ID(0)
  private var lastTime: MonitorTime?

  /// The line numbers of all lines in the log.
  var numbers: Range<Int> { firstNumber..<firstNumber + lines.count }

  /// Returns the line with this line number; `nil` if the log has no such line or has removed it.
  subscript(number: Int) -> Line? {
    numbers.contains(number) ? lines[number - firstNumber] : nil
  }

  /// Adds the events of an update to the log.
  mutating func apply(_ news: EventNews) {
    var events = news.events[...]
    if news.isBeginning {
      // After a new connection, the monitor reports known events again. They are skipped.
      if let lastTime { events = events.drop { $0.time <= lastTime } }
      skippedCount = 0
    }
    if news.skippedCount > 0 { noteSkipped(news.skippedCount) }
    for event in events { largestID = largestID.widened(to: event.operation) }
    add(events)
    if news.isBeginning, let last = lines.last, last != .beginning { lines.append(.beginning) }
    guard lines.count > Self.capacity + Self.slack else { return }
    let excess = lines.count - Self.capacity
    lines.removeFirst(excess)
    firstNumber += excess
  }

  /// Inserts sorted events. Lines after the place of an event move down.
  private mutating func add(_ events: ArraySlice<OperationEvent>) {
    guard let first = events.first, let last = events.last else { return }
    defer { lastTime = max(lastTime ?? last.time, last.time) }
    // The lines from the first event on that is newer than `first`. Other lines keep their places between
    // their neighbours.
    let older = lines.lastIndex { line in
      if case .event(let event) = line { event.time <= first.time } else { false }
    }
    let start = older.map { $0 + 1 } ?? 0
    let known = Array(lines[start...])
    lines.removeLast(known.count)
    var rest = events
    for line in known {
      if case .event(let event) = line {
        // An event stays behind a known event of the same time.
        let earlier = rest.prefix { $0.time < event.time }
        lines += earlier.map { .event($0) }
        rest = rest.dropFirst(earlier.count)
      }
      lines.append(line)
    }
    lines += rest.map { .event($0) }
  }

  private mutating func noteSkipped(_ count: Int) {
    skippedCount += count
    lines.append(.skipped(count))
  }
}

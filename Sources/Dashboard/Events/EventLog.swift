// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The events that the dashboard has heard of: the newest, in the order of time.
struct EventLog: Sendable, Equatable {
  /// So many lines are kept at least, once there were as many.
  static let capacity = 5_000
  /// More events than these are not asked for with one update.
  static let limit = 1_000
  /// The oldest lines go so many at a time.
  private static let slack = 1_000

  /// One line of the log.
  enum Line: Sendable, Equatable {
    /// Something happened.
    case event(OperationEvent)
    /// So many older events are missing here.
    case skipped(Int)
    /// Above is what could still be told; from here on everything is.
    case beginning
  }

  /// The lines, the oldest first.
  private(set) var lines: [Line] = []
  /// The number of the first line. A line keeps its number for good.
  private(set) var firstNumber = 0
  /// How many events were skipped since the last beginning.
  private(set) var skippedCount = 0
  /// No id of an operation in it is wider, for the width of its column.
  private(set) var largestID = OperationReport.ID(0)
  private var lastTime: MonitorTime?

  /// The numbers of all lines.
  var numbers: Range<Int> { firstNumber..<firstNumber + lines.count }

  /// The line with a number; `nil` where there is none, or no longer.
  subscript(number: Int) -> Line? {
    numbers.contains(number) ? lines[number - firstNumber] : nil
  }

  /// Takes in what has happened since the last time.
  mutating func apply(_ news: EventNews) {
    var events = news.events[...]
    if news.isBeginning {
      // What is known already is told again.
      if let lastTime { events = events.drop { $0.time <= lastTime } }
      skippedCount = 0
    }
    if news.skippedCount > 0 { noteSkipped(news.skippedCount) }
    for event in events {
      lines.append(.event(event))
      largestID = largestID.widened(to: event.operation)
    }
    lastTime = events.last?.time ?? lastTime
    if news.isBeginning { lines.append(.beginning) }
    guard lines.count > Self.capacity + Self.slack else { return }
    let excess = lines.count - Self.capacity
    lines.removeFirst(excess)
    firstNumber += excess
  }

  private mutating func noteSkipped(_ count: Int) {
    skippedCount += count
    lines.append(.skipped(count))
  }
}

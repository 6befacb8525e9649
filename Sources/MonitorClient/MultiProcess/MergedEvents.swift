// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The events of several processes as one history.
///
/// The events that are delivered together are sorted by time. An event that another process sends
/// later may be older than these, by at most the interval of its updates.
struct MergedEvents {
  /// The processes whose events from before the request have arrived.
  private var begun: Set<Int> = []
  /// Whether the viewer has received these events.
  private var isBegun = false
  private var news = EventNews()
  /// The events of the last delivery to the viewer.
  private var told: [OperationEvent] = []
  private var lastTimes: [Int: MonitorTime] = [:]

  /// The number of events that wait for the viewer.
  var heldCount: Int { news.events.count }

  /// Begins the viewer's history again, because its interest has changed: `processes` are asked for
  /// their events, and the known events of the others stay.
  mutating func restart(asking processes: Set<Int>) {
    news = EventNews(
      events: (told + news.events).filter { !processes.contains($0.operation.processNumber) })
    told = []
    isBegun = false
    begun.subtract(processes)
    for process in processes { lastTimes[process] = nil }
  }

  /// Adds the events that a process has sent.
  ///
  /// - Parameters:
  ///   - news: The events.
  ///   - process: The number of the process.
  ///   - limit: The maximum number of events that are kept until the viewer receives them.
  mutating func take(_ news: EventNews, from process: Int, limit: Int) {
    var events = news.events[...]
    if news.isBeginning {
      // After a lost connection, the process sends known events again.
      if let last = lastTimes[process] { events = events.drop { $0.time <= last } }
      begun.insert(process)
    }
    // These events belong to the previous interest.
    guard begun.contains(process) else { return }
    lastTimes[process] = events.last?.time ?? lastTimes[process]
    self.news.events += events
    self.news.skippedCount += news.skippedCount
    // Trimming for each of many updates would be expensive.
    if self.news.events.count / 2 > limit { trim(to: limit) }
  }

  /// Returns the events for the viewer; `nil` while the beginning is incomplete.
  ///
  /// - Parameters:
  ///   - heard: The processes that are connected.
  ///   - limit: The maximum number of events.
  /// - Returns: The events, which are removed.
  mutating func take(heard: Set<Int>, limit: Int) -> EventNews? {
    guard isBegun || begun.isSuperset(of: heard) else { return nil }
    defer {
      isBegun = true
      news = EventNews()
    }
    trim(to: limit)
    told = Array((told + news.events).suffix(limit))
    // The beginning of a history is incomplete anyway, so no skipped events are counted.
    return EventNews(
      events: news.events, skippedCount: isBegun ? news.skippedCount : 0, isBeginning: !isBegun)
  }

  /// Keeps the newest events.
  private mutating func trim(to limit: Int) {
    // Sorting is stable: the events of one process keep their order.
    news.events.sort { $0.time < $1.time }
    let left = max(0, news.events.count - limit)
    news.events.removeFirst(left)
    news.skippedCount += left
  }
}

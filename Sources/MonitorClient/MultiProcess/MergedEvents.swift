// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Merges the events of several processes into one history.
///
/// The events of one update to the viewer are sorted by time. A process may send an older event
/// later, after at most the interval of its updates.
struct MergedEvents {
  /// The numbers of the processes that have sent the events that occurred before the viewer's
  /// request.
  private var begun: Set<Int> = []
  /// Whether the viewer has received the events that occurred before its request.
  private var isBegun = false
  private var news = EventNews()
  /// The last events that the viewer has received.
  private var reported: [OperationEvent] = []
  private var lastTimes: [Int: MonitorTime] = [:]

  /// The number of events that are stored until the viewer receives them.
  var heldCount: Int { news.events.count }

  /// Begins the viewer's history again, because the viewer's interest has changed. The events of
  /// `processes` are removed, because these processes send their events again. The known events of
  /// the other processes stay.
  mutating func restart(asking processes: Set<Int>) {
    news = EventNews(
      events: (reported + news.events).filter { !processes.contains($0.operation.processNumber) })
    reported = []
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
      // After a lost connection, the process sends known events again. These events are skipped.
      if let last = lastTimes[process] { events = events.drop { $0.time <= last } }
      begun.insert(process)
    }
    // Until a process sends the beginning of the requested history, its events belong to the
    // viewer's previous interest and are discarded.
    guard begun.contains(process) else { return }
    lastTimes[process] = events.last?.time ?? lastTimes[process]
    self.news.events += events
    self.news.skippedCount += news.skippedCount
    // The list of stored events is not cut to its maximum length after each update, because that
    // would be expensive.
    if self.news.events.count / 2 > limit { trim(to: limit) }
  }

  /// Removes and returns the events for the viewer; `nil` until each process in `heard` has sent
  /// the beginning of its history.
  ///
  /// - Parameters:
  ///   - heard: The processes that are connected and have sent an update.
  ///   - limit: The maximum number of events.
  /// - Returns: The events since the last call.
  mutating func take(heard: Set<Int>, limit: Int) -> EventNews? {
    guard isBegun || begun.isSuperset(of: heard) else { return nil }
    defer {
      isBegun = true
      news = EventNews()
    }
    trim(to: limit)
    reported = Array((reported + news.events).suffix(limit))
    // The number of skipped events is not reported for the beginning of a history, because the
    // first events of a history are incomplete in any case.
    return EventNews(
      events: news.events, skippedCount: isBegun ? news.skippedCount : 0, isBeginning: !isBegun)
  }

  /// Removes the oldest events that exceed the limit.
  private mutating func trim(to limit: Int) {
    // Sorting is stable: the events of one process keep their order.
    news.events.sort { $0.time < $1.time }
    let left = max(0, news.events.count - limit)
    news.events.removeFirst(left)
    news.skippedCount += left
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The events of several processes as one history.
///
/// Those of one moment of telling are in the order of time; what another process tells later may be
/// older by as much as it is told rarer.
struct MergedEvents {
  /// The processes that have told what they knew of the time before.
  private var begun: Set<Int> = []
  /// Whether the viewer was told that.
  private var isBegun = false
  private var news = EventNews()
  private var lastTimes: [Int: MonitorTime] = [:]

  /// A process tells what has happened there.
  mutating func take(_ news: EventNews, from process: Int) {
    var events = news.events[...]
    if news.isBeginning {
      // After a lost connection what is known already is told again.
      if let last = lastTimes[process] { events = events.drop { $0.time <= last } }
      begun.insert(process)
    }
    // It is still of what was wanted before.
    guard begun.contains(process) else { return }
    lastTimes[process] = events.last?.time ?? lastTimes[process]
    self.news.events += events
    self.news.skippedCount += news.skippedCount
  }

  /// What the viewer is to be told now; `nil` while a beginning is awaited.
  ///
  /// - Parameters:
  ///   - heard: The processes that are heard.
  ///   - limit: The most events.
  /// - Returns: The news, which are taken with that.
  mutating func take(heard: Set<Int>, limit: Int) -> EventNews? {
    guard isBegun || begun.isSuperset(of: heard) else { return nil }
    defer {
      isBegun = true
      news = EventNews()
    }
    // Sorting is stable: the steps of one process stay in its order.
    let events = news.events.sorted { $0.time < $1.time }
    let left = max(0, events.count - limit)
    // Of a beginning nobody expects everything.
    return EventNews(
      events: Array(events.dropFirst(left)),
      skippedCount: isBegun ? news.skippedCount + left : 0, isBeginning: !isBegun)
  }
}

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
  /// What the viewer was told last.
  private var told: [OperationEvent] = []
  private var lastTimes: [Int: MonitorTime] = [:]

  /// How many events are held for the viewer.
  var heldCount: Int { news.events.count }

  /// The viewer wants something else, and its history begins anew: these processes are asked for theirs,
  /// and of the others what is known here stays.
  mutating func restart(asking processes: Set<Int>) {
    news = EventNews(
      events: (told + news.events).filter { !processes.contains($0.operation.processNumber) })
    told = []
    isBegun = false
    begun.subtract(processes)
    for process in processes { lastTimes[process] = nil }
  }

  /// A process tells what has happened there.
  ///
  /// - Parameters:
  ///   - news: What it tells.
  ///   - process: Its number.
  ///   - limit: The most events that are of use to the viewer, which may be long in taking them.
  mutating func take(_ news: EventNews, from process: Int, limit: Int) {
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
    // Not with each of many.
    if self.news.events.count / 2 > limit { trim(to: limit) }
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
    trim(to: limit)
    told = Array((told + news.events).suffix(limit))
    // Of a beginning nobody expects everything.
    return EventNews(
      events: news.events, skippedCount: isBegun ? news.skippedCount : 0, isBeginning: !isBegun)
  }

  /// Keeps the newest.
  private mutating func trim(to limit: Int) {
    // Sorting is stable: the steps of one process stay in its order.
    news.events.sort { $0.time < $1.time }
    let left = max(0, news.events.count - limit)
    news.events.removeFirst(left)
    news.skippedCount += left
  }
}

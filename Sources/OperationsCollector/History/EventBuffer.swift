// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The events that one session has not been told: the newest, up to a limit.
///
/// Queues are read one after the other, so that events come in any order. They are sorted and cut
/// only now and then, so that one costs little however many there are.
struct EventBuffer {
  /// The most events handed out at once.
  private(set) var limit: Int

  private var events: [OperationEvent] = []
  private var skippedCount = 0
  private var isBeginning = false
  /// What is older than this would be skipped anyway.
  private var cutoff: MonitorTime?

  /// Keeps nothing while the limit is 0.
  init(limit: Int = 0) { self.limit = limit }

  /// Changes the limit. From 0, the history begins anew with what is added next.
  mutating func setLimit(_ new: Int) {
    let new = max(0, new)
    if limit == 0, new > 0 {
      self = EventBuffer(limit: new)
      isBeginning = true
    } else if new == 0 {
      self = EventBuffer()
    }
    limit = new
  }

  /// Takes in an event, or skips it where there are newer ones enough.
  mutating func add(_ event: OperationEvent) {
    guard limit > 0 else { return }
    if let cutoff, event.time < cutoff {
      skippedCount += 1
      return
    }
    events.append(event)
    if events.count >= 2 * limit { cut() }
  }

  /// Hands out what was added since the last call, by time; `nil` where nothing is wanted.
  mutating func take() -> EventNews? {
    guard limit > 0 else { return nil }
    cut()
    defer {
      events = []
      skippedCount = 0
      cutoff = nil
      isBeginning = false
    }
    // How much happened before anybody asked is not known.
    return EventNews(
      events: events, skippedCount: isBeginning ? 0 : skippedCount, isBeginning: isBeginning)
  }

  private mutating func cut() {
    events.sort { ($0.time, $0.operation) < ($1.time, $1.operation) }
    let excess = events.count - limit
    guard excess > 0 else { return }
    events.removeFirst(excess)
    skippedCount += excess
    cutoff = events.first?.time
  }
}

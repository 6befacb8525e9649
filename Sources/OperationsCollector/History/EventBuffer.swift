// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The events that one session has not received: the newest, up to a limit.
///
/// Queues are read one after the other, so the events are not sorted. They are sorted and cut only
/// now and then, so that the cost per event does not depend on their number.
struct EventBuffer {
  /// The maximum number of events that are returned at once.
  private(set) var limit: Int

  private var events: [OperationEvent] = []
  private var skippedCount = 0
  private var isBeginning = false
  /// Older events would be skipped in any case.
  private var cutoff: MonitorTime?

  /// Creates a buffer. With the limit 0, it keeps no events.
  init(limit: Int = 0) { self.limit = limit }

  /// Changes the limit. If it was 0, the history begins with the next event.
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

  /// Adds an event, or skips it if there are enough newer ones.
  mutating func add(_ event: OperationEvent) {
    guard limit > 0 else { return }
    if let cutoff, event.time < cutoff {
      skippedCount += 1
      return
    }
    events.append(event)
    if events.count >= 2 * limit { cut() }
  }

  /// Returns the events since the last call, by time; `nil` if no events are requested.
  mutating func take() -> EventNews? {
    guard limit > 0 else { return nil }
    cut()
    defer {
      events = []
      skippedCount = 0
      cutoff = nil
      isBeginning = false
    }
    // The number of events before the first request is unknown.
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

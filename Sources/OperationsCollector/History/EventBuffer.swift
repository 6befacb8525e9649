// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The events that one session has not received yet. Only the newest events are kept, up to a
/// limit.
///
/// The collector reads one queue after the other, so the events do not arrive in the order of their
/// times. The events are sorted and trimmed only from time to time, so that the cost per event does
/// not depend on the number of events.
struct EventBuffer {
  /// The maximum number of events that ``take()`` returns.
  private(set) var limit: Int

  private var events: [OperationEvent] = []
  private var skippedCount = 0
  private var isBeginning = false
  /// The time of the oldest event that is kept; `nil` if no event was skipped. Events before this
  /// time are skipped.
  private var cutoff: MonitorTime?

  /// Creates a buffer for a maximum number of events. With the limit 0, it keeps no events.
  init(limit: Int = 0) { self.limit = limit }

  /// Changes the limit. If the old limit was 0, the history begins with the next event.
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

  /// Adds an event. If there are enough newer events, the event is only counted as skipped.
  mutating func add(_ event: OperationEvent) {
    guard limit > 0 else { return }
    if let cutoff, event.time < cutoff {
      skippedCount += 1
      return
    }
    events.append(event)
    if events.count >= 2 * limit { cut() }
  }

  /// Removes and returns the events since the last call, sorted by time; `nil` if the limit is 0.
  mutating func take() -> EventNews? {
    guard limit > 0 else { return nil }
    cut()
    defer {
      events = []
      skippedCount = 0
      cutoff = nil
      isBeginning = false
    }
    // At the beginning of the history, the number of earlier events is unknown, so no skipped
    // events are counted.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import Testing

/// A log of events, in the order in which threads added them.
package final class EventLog<Event: Sendable & Equatable>: Sendable {
  private let noted = Monitored<[Event]>([])

  /// Creates an empty log.
  package init() {}

  /// Adds an event to the log.
  package func note(_ event: Event) { noted.change { $0.append(event) } }

  /// The events that have been added so far.
  package var events: [Event] { noted.value }

  /// Blocks the calling thread until the logged events satisfy a predicate. Records an issue if
  /// they do not satisfy it in time.
  @discardableResult
  package func wait(
    for what: String, at location: SourceLocation = #_sourceLocation,
    until predicate: ([Event]) -> Bool
  ) -> Bool {
    noted.wait(for: what, at: location, until: predicate)
  }

  /// Blocks the calling thread until an event has been added to the log.
  @discardableResult
  package func wait(for event: Event, at location: SourceLocation = #_sourceLocation) -> Bool {
    wait(for: "\(event)", at: location) { $0.contains(event) }
  }

  /// Blocks the calling thread until a number of events have been added to the log.
  @discardableResult
  package func wait(forCount count: Int, at location: SourceLocation = #_sourceLocation) -> Bool {
    wait(for: "\(count) events", at: location) { $0.count >= count }
  }
}

/// An object that adds its name to a log when it is deallocated. Tests of lifetimes capture it in
/// blocks.
package final class DeinitProbe: Sendable {
  private let name: String
  private let log: EventLog<String>

  /// Creates a probe that adds `name` to the log when it is deallocated.
  package init(_ name: String, in log: EventLog<String>) {
    self.name = name
    self.log = log
  }

  deinit { log.note(name) }

  /// Does nothing. Calling it makes a closure capture the probe.
  package func touch() {}
}

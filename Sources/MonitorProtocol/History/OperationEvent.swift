// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One step of one operation from a state to the next.
public struct OperationEvent: Sendable, Equatable {
  /// When it was taken.
  public var time: MonitorTime
  /// The operation.
  public var operation: OperationReport.ID
  /// Its name, or its class where it has no name; unsanitised.
  public var title: String
  /// Its queue.
  public var queue: QueueReport.ID
  /// The state before; `nil` where it was added to its queue, or where that is not known.
  public var old: OperationState?
  /// The state from then on.
  public var new: OperationState

  /// Creates an event.
  public init(
    time: MonitorTime, operation: OperationReport.ID, title: String, queue: QueueReport.ID,
    old: OperationState?, new: OperationState
  ) {
    self.time = time
    self.operation = operation
    self.title = title
    self.queue = queue
    self.old = old
    self.new = new
  }
}

/// The events since those of the update before.
public struct EventNews: Sendable, Equatable {
  /// The newest, the oldest of them first; at most as many as the viewer has asked for.
  public var events: [OperationEvent]
  /// How many older ones were left out.
  public var skippedCount: Int
  /// Whether this begins the viewer's history: the events are what can still be told of the time
  /// before it asked, which is not all.
  public var isBeginning: Bool

  /// Creates news; by default none.
  public init(events: [OperationEvent] = [], skippedCount: Int = 0, isBeginning: Bool = false) {
    self.events = events
    self.skippedCount = skippedCount
    self.isBeginning = isBeginning
  }
}

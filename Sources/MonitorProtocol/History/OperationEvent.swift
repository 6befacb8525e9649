// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A change of one operation from one state to the next.
public struct OperationEvent: Sendable, Equatable {
  /// The time of the change.
  public var time: MonitorTime
  /// The operation.
  public var operation: OperationReport.ID
  /// Its name, or its class if it has no name; unsanitised.
  public var title: String
  /// Its queue.
  public var queue: QueueReport.ID
  /// The state before; `nil` if the operation was just added to its queue, or if the state is
  /// unknown.
  public var old: OperationState?
  /// The state after the change.
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

/// The events since the previous update.
public struct EventNews: Sendable, Equatable {
  /// The newest events, the oldest of them first; at most as many as the viewer requested.
  public var events: [OperationEvent]
  /// The number of older events that were left out.
  public var skippedCount: Int
  /// Whether this is the beginning of the viewer's history. The events are then the recorded part
  /// of the time before the viewer requested events, which is incomplete.
  public var isBeginning: Bool

  /// Creates a value; by default without events.
  public init(events: [OperationEvent] = [], skippedCount: Int = 0, isBeginning: Bool = false) {
    self.events = events
    self.skippedCount = skippedCount
    self.isBeginning = isBeginning
  }
}

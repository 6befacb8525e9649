// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A change of one operation from one state to the next.
public struct OperationEvent: Sendable, Equatable {
  /// The time of the change.
  public var time: MonitorTime
  /// The operation whose state changed.
  public var operation: OperationReport.ID
  /// The name of the operation, or its kind if it has no name; unsanitised.
  public var title: String
  /// The queue of the operation.
  public var queue: QueueReport.ID
  /// The state before the change; `nil` if the operation was just added to its queue, or if the
  /// state is unknown.
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
  /// The newest events, the oldest of them first. Their number is at most the number that the
  /// viewer requested.
  public var events: [OperationEvent]
  /// The number of older events since the previous update that this update does not contain.
  public var skippedCount: Int
  /// Whether these are the first events that the viewer receives. If they are, the events happened
  /// before the viewer requested events, and some earlier events may be missing.
  public var isBeginning: Bool

  /// Creates a list of events. By default, the list is empty.
  public init(events: [OperationEvent] = [], skippedCount: Int = 0, isBeginning: Bool = false) {
    self.events = events
    self.skippedCount = skippedCount
    self.isBeginning = isBeginning
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One operation's time in a slot of its queue.
public struct OperationRun: Sendable, Equatable, Identifiable {
  /// The operation.
  public let id: OperationReport.ID
  /// Its name, or its class where it has no name; unsanitised.
  public var title: String
  /// Its queue.
  public var queue: QueueReport.ID
  /// Executing or cancelling while it runs, finished or cancelled afterwards.
  public var state: OperationState
  /// When it started.
  public var started: MonitorTime
  /// When it finished; `nil` while it runs.
  public var finished: MonitorTime?

  /// Creates a run.
  public init(
    id: OperationReport.ID, title: String, queue: QueueReport.ID, state: OperationState,
    started: MonitorTime, finished: MonitorTime? = nil
  ) {
    self.id = id
    self.title = title
    self.queue = queue
    self.state = state
    self.started = started
    self.finished = finished
  }
}

/// What ran lately, and what runs.
public struct RecentRuns: Sendable, Equatable {
  /// The runs that were not over when the window began, by start: those that go on, and then the
  /// newest, at most as many as the viewer has asked for.
  public var runs: [OperationRun]
  /// How many there were in the window, those that were left out included. Where some were, to a
  /// second's worth.
  public var count: Int

  /// Creates an answer; by default nothing ran.
  public init(runs: [OperationRun] = [], count: Int = 0) {
    self.runs = runs
    self.count = count
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The time that one operation spent in a slot of its queue.
public struct OperationRun: Sendable, Equatable, Identifiable {
  /// The operation.
  public let id: OperationReport.ID
  /// Its name, or its class if it has no name; unsanitised.
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

/// The current and recent runs.
public struct RecentRuns: Sendable, Equatable {
  /// The runs that had not ended when the window began, by start: the current ones, and then the
  /// newest; at most as many as the viewer requested.
  public var runs: [OperationRun]
  /// The number of runs in the window, including those that were left out. If some were left out,
  /// the number is exact to one second of runs.
  public var count: Int

  /// Creates a value; by default without runs.
  public init(runs: [OperationRun] = [], count: Int = 0) {
    self.runs = runs
    self.count = count
  }
}

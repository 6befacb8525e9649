// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The time that one operation spent in a slot of its queue.
public struct OperationRun: Sendable, Equatable, Identifiable {
  /// The id of the operation that ran.
  public let id: OperationReport.ID
  /// The name of the operation, or its kind if it has no name; unsanitised.
  public var title: String
  /// The queue of the operation.
  public var queue: QueueReport.ID
  /// The state of the operation. It is executing or cancelling while the operation runs, and
  /// finished, failed or cancelled afterwards.
  public var state: OperationState
  /// The time when the operation started.
  public var started: MonitorTime
  /// The time when the operation finished; `nil` while it runs.
  public var finished: MonitorTime?
  /// The kind of the operation, unsanitised; `nil` if it is unknown.
  public var kind: String?

  /// Creates a run of an operation.
  public init(
    id: OperationReport.ID, title: String, queue: QueueReport.ID, state: OperationState,
    started: MonitorTime, finished: MonitorTime? = nil, kind: String? = nil
  ) {
    self.id = id
    self.title = title
    self.queue = queue
    self.state = state
    self.started = started
    self.finished = finished
    self.kind = kind
  }
}

/// The runs of operations that ran within a time window.
public struct RecentRuns: Sendable, Equatable {
  /// The runs that had not ended when the window began, sorted by start time. If the viewer's limit
  /// does not allow all of them, current runs are preferred, and then the newest.
  public var runs: [OperationRun]
  /// The number of runs in the window, including the runs that exceed the viewer's limit. If some
  /// runs exceed the limit, the number may omit runs that ended in the first second of the window.
  public var count: Int

  /// Creates a list of runs. By default, the list is empty.
  public init(runs: [OperationRun] = [], count: Int = 0) {
    self.runs = runs
    self.count = count
  }
}

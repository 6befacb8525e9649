// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The changes since the previous update, within the viewer's ``Interest``.
public struct Update: Sendable, Equatable {
  /// The time at which the update was made.
  public var time: MonitorTime
  /// Every existing queue, by id.
  public var queues: [QueueReport]
  /// Operations that have entered the interest or have changed, as complete reports, by id.
  public var changed: [OperationReport]
  /// Operations that have left the interest or are no longer kept.
  public var removed: [OperationReport.ID]
  /// The number of operations that the list would have without a limit.
  public var matchCount: Int
  /// The number of kept operations: all unfinished ones that the collector has read so far, and the
  /// last finished ones. If very many operations come and go, reading all that stay takes several
  /// updates.
  public var keptCount: Int
  /// The dependents of the interest's subjects; `nil` if there are no subjects.
  public var dependents: Dependents?
  /// The number of operations without dependents; `nil` if the viewer does not request it, or if
  /// the count is not complete yet.
  public var rootCount: Int?
  /// The number of state changes since the start that the history did not record: events that did
  /// not fit into an update, and changes of operations that were only counted because too many came
  /// and went. Counts are exact nevertheless.
  public var lostChanges: UInt64
  /// The events since the previous update; `nil` if the viewer requests none.
  public var events: EventNews?
  /// The current and recent runs; `nil` if the viewer requests none.
  public var runs: RecentRuns?
  /// The warnings, the most important first.
  public var warnings: [MonitorWarning] = []
  /// The recent slot waits and run times of the recorded operations.
  public var times = TimeStatistics()
  /// The same for each class of the interest's single operations and of its graphs, by the class's
  /// name. Classes without known times are left out, and so are classes beyond about sixty.
  public var classTimes: [String: TimeStatistics] = [:]
  /// How long the viewer received no updates although there were changes, because it had not
  /// received the earlier ones; zero if it keeps up.
  public var behind = Duration.zero
  /// The detail of the operation that the interest requests; `nil` if it requests none, or if the
  /// operation has finished.
  public var detail: OperationDetail?
  /// The processes, by number, if several are watched as one; otherwise empty. Processes do not
  /// send it.
  public var processes: [ProcessReport] = []

  /// Creates an update, without events and runs.
  public init(
    time: MonitorTime, queues: [QueueReport] = [], changed: [OperationReport] = [],
    removed: [OperationReport.ID] = [], matchCount: Int = 0, keptCount: Int = 0,
    dependents: Dependents? = nil, lostChanges: UInt64 = 0
  ) {
    self.time = time
    self.queues = queues
    self.changed = changed
    self.removed = removed
    self.matchCount = matchCount
    self.keptCount = keptCount
    self.dependents = dependents
    self.lostChanges = lostChanges
  }
}

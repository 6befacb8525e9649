// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The changes since the previous update, within the viewer's ``Interest``.
public struct Update: Sendable, Equatable {
  /// The time at which the update was made.
  public var time: MonitorTime
  /// All existing queues, sorted by id.
  public var queues: [QueueReport]
  /// The operations that are new in the viewer's interest or have changed, as complete reports,
  /// sorted by id.
  public var changed: [OperationReport]
  /// The ids of operations that are no longer in the viewer's interest, or that the monitor no
  /// longer keeps.
  public var removed: [OperationReport.ID]
  /// The number of operations that the list would have without ``Interest/rowLimit``.
  public var matchCount: Int
  /// The number of operations that the monitor keeps: all unfinished operations that the collector
  /// has read so far, and the last finished operations. If very many operations are added and
  /// finish quickly, the collector needs several updates to read all unfinished operations.
  public var keptCount: Int
  /// The number of finished and cancelled operations in ``keptCount``; 0 if it is not known.
  public var keptFinishedCount = 0
  /// The dependents of ``Interest/subjects``; `nil` if the viewer has requested no subjects.
  public var dependents: Dependents?
  /// The number of unfinished operations without dependents; `nil` if the viewer has not requested
  /// it, or if the operations are not counted completely yet.
  public var rootCount: Int?
  /// The number of state changes since the start that are missing from the viewer's events. An
  /// event is missing if it did not fit into an update. It is also missing if the monitor only
  /// counted the operation, because too many operations were added and finished at once. Counts are
  /// exact nevertheless.
  public var lostChanges: UInt64
  /// In the last update of a process, the number of completion blocks of finished operations that
  /// have not begun; otherwise 0. The process does not wait for them.
  public var unstartedCompletionBlockCount = 0
  /// The events since the previous update; `nil` if the viewer has not requested events.
  public var events: EventNews?
  /// The current and recent runs; `nil` if the viewer has not requested runs.
  public var runs: RecentRuns?
  /// The warnings, the most important first.
  public var warnings: [MonitorWarning] = []
  /// The statistics of the recent slot waits and run times of the recorded operations.
  public var times = TimeStatistics()
  /// The statistics of recent slot waits and run times for each kind of operation.
  /// Only the kinds of the operations in ``Interest/operations`` and ``Interest/graphs`` and of the
  /// dependency trees are included, and at most about sixty. A kind without known times is not
  /// included.
  public var kindTimes: [String: TimeStatistics] = [:]
  /// The time for which the viewer received no updates although operations changed, because the
  /// viewer had not yet processed an earlier update; zero if the viewer keeps up.
  public var behind = Duration.zero
  /// The detail of the operation ``Interest/detail``; `nil` if the viewer has not requested a
  /// detail, or if the operation has finished.
  public var detail: OperationDetail?
  /// The matches of the search ``Interest/search``; `nil` if the viewer has not requested a search,
  /// or while the monitor prepares the search.
  public var matches: SearchMatches?
  /// The log lines that the viewer requests with ``Interest/logs`` and has not received, with one log
  /// for each operation. The first update after a request for an operation contains a log of that
  /// operation, also if it has no lines.
  public var logs: [OperationLog] = []
  /// The run orders that the viewer requests with ``Interest/runOrder``, at most one for each queue; empty
  /// if the viewer requests none.
  public var runOrders: [RunOrder] = []
  /// The groups that the viewer requests with ``Interest/groups``; `nil` if the viewer requests none, or
  /// while the monitor counts the operations.
  public var groups: OperationGroups?
  /// The state of each process, sorted by number, if a viewer watches several processes as one;
  /// otherwise empty. The viewer sets this value; a process does not send it.
  public var processes: [ProcessReport] = []

  /// Creates an update without events and runs.
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

  /// The number of unfinished operations that the monitor keeps.
  package var keptUnfinishedCount: Int { keptCount - keptFinishedCount }
}

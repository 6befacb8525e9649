// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The changes since the update before, of what is within the viewer's ``Interest``.
public struct Update: Sendable, Equatable {
  /// When this was gathered.
  public var time: MonitorTime
  /// Every live queue, by id.
  public var queues: [QueueReport]
  /// Operations that have come within the interest, or have changed, whole, by id.
  public var changed: [OperationReport]
  /// Operations that are no longer within the interest, or no longer kept.
  public var removed: [OperationReport.ID]
  /// How many operations the list would hold without a limit.
  public var matchCount: Int
  /// How many operations are kept: all unfinished ones, as far as they have been taken up, and the last
  /// that have finished. Where very many come and go, taking up all that stay takes some updates.
  public var keptCount: Int
  /// What depends on the interest's subjects; `nil` where there are none.
  public var dependents: Dependents?
  /// How many operations there are that no other depends on; `nil` where these are not wanted, or not
  /// all have been counted yet.
  public var rootCount: Int?
  /// How many state changes of the history were lost, since the start: events that were too many for one
  /// update, and steps of operations that came and went in such numbers that they were only counted.
  /// Counts are exact all the same.
  public var lostChanges: UInt64
  /// What has happened since the update before; `nil` where no events are wanted.
  public var events: EventNews?
  /// What runs and ran; `nil` where that is not wanted.
  public var runs: RecentRuns?
  /// What probably is not meant, what matters most first.
  public var warnings: [MonitorWarning] = []
  /// How long operations waited and ran lately, of those that were recorded.
  public var times = TimeStatistics()
  /// The same for each class of the interest's single operations and of its graphs, by the class's name;
  /// a class of which nothing is known is left out, and so are classes beyond some sixty.
  public var classTimes: [String: TimeStatistics] = [:]
  /// For how long the viewer was told nothing although there was something to tell, because it had not
  /// taken what it was told before; zero where it keeps up.
  public var behind = Duration.zero
  /// What is known of the interest's one operation beyond its report; `nil` where there is none, or it
  /// has finished.
  public var detail: OperationDetail?
  /// The processes, by number, where several are watched as one; empty where one is. No process says so.
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

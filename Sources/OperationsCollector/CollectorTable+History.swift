// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

extension CollectorTable {
  /// Returns the runs (executions of operations) that have not ended, and the runs that ended
  /// within a time window before `now`. If their number exceeds the limit, runs that have not ended
  /// are preferred, and then the newest runs.
  func recentRuns(_ wanted: Interest.Timeline, at now: MonitorTime) -> RecentRuns {
    let window = max(.zero, min(wanted.window, RunLog.longestWindow))
    let limit = max(0, wanted.limit)
    var runs = running.prefix(limit).compactMap { report($0).flatMap { OperationRun($0) } }
    let ended = runLog.runs(endedAfter: now - window, limit: limit - runs.count)
    runs += ended.runs
    runs.sort { ($0.started, $0.id) < ($1.started, $1.id) }
    return RecentRuns(runs: runs, count: running.count + ended.count)
  }

  /// Returns the statistics of the recent slot waits and run times for the kinds of these
  /// operations.
  func kindTimes(
    of operations: Set<OperationReport.ID>, at now: MonitorTime
  ) -> [String: TimeStatistics] {
    let kinds = Set(operations.lazy.compactMap { self.entries[$0]?.report.kind })
    return kindTimes.statistics(of: kinds, in: times, at: now, isAtRest: isAtRest)
  }

  /// Returns the operation with this id; `nil` if it has finished or no longer exists.
  func operation(_ id: OperationReport.ID) -> Operation? {
    guard let entry = entries[id], let record = entry.record else { return nil }
    return QueueRegistry.queue(entry.report.queue)?.operation(of: record)
  }

  /// Returns the detail of one operation; `nil` if it has finished or no longer exists.
  func detail(of id: OperationReport.ID) -> OperationDetail? {
    operation(id).map { OperationDetail($0, id: id) }
  }
}

extension QueueRegistry {
  /// Returns the operation queue with this id; `nil` if no queue has this id.
  static func queue(_ id: QueueReport.ID) -> OperationQueue? {
    queues.first { $0.id.rawValue == id.rawValue }
  }
}

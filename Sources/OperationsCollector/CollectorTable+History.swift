// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

extension CollectorTable {
  /// What runs and what ran within a window before `now`: what runs first, then the newest.
  func recentRuns(_ wanted: Interest.Timeline, at now: MonitorTime) -> RecentRuns {
    let window = max(.zero, min(wanted.window, RunLog.longestWindow))
    let limit = max(0, wanted.limit)
    var runs = running.prefix(limit).compactMap { report($0).flatMap { OperationRun($0) } }
    let ended = runLog.runs(endedAfter: now - window, limit: limit - runs.count)
    runs += ended.runs
    runs.sort { ($0.started, $0.id) < ($1.started, $1.id) }
    return RecentRuns(runs: runs, count: running.count + ended.count)
  }

  /// The statistics of the classes of these operations.
  func classTimes(
    of operations: Set<OperationReport.ID>, at now: MonitorTime
  ) -> [String: TimeStatistics] {
    let names = Set(operations.lazy.compactMap { self.entries[$0]?.report.className })
    return classTimes.statistics(of: names, in: times, at: now)
  }

  /// The operation itself; `nil` where it is over or gone.
  func operation(_ id: OperationReport.ID) -> Operation? {
    guard let entry = entries[id], let record = entry.record else { return nil }
    return QueueRegistry.queue(entry.report.queue)?.operation(of: record)
  }

  /// What is told of one operation alone; `nil` where it is over or gone.
  func detail(of id: OperationReport.ID) -> OperationDetail? {
    operation(id).map { OperationDetail($0, id: id) }
  }
}

extension QueueRegistry {
  /// A live queue; `nil` where it is gone.
  static func queue(_ id: QueueReport.ID) -> OperationQueue? {
    queues.first { $0.id.rawValue == id.rawValue }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

// This file contains the values of an update that depend on the whole table and on a viewer's request.

extension CollectorTable {
  /// Whether no operation executes. In this case, the last changes of the statistics are sent at once.
  var isAtRest: Bool { queues.values.allSatisfy { $0.counts.executing == 0 } }

  /// Returns the operations that an update contains: all operations, or the operations that are listed, singled out by
  /// the viewer, and named by warnings, with the operations that explain why they were cancelled.
  func wantedOperations(
    _ interest: Interest, _ listed: [SortKey], _ singled: Set<OperationReport.ID>,
    warnings: [MonitorWarning]
  ) -> Set<OperationReport.ID> {
    guard interest.rowLimit != nil else { return Set(entries.keys) }
    var wanted = Set(listed.lazy.map(\.id))
    wanted.formUnion(singled)
    for warning in warnings { wanted.formUnion(warning.operations + warning.awaited) }
    wanted = wanted.filter { entries[$0] != nil }
    OperationReport.addCauses(to: &wanted, for: interest) { id in
      entries[id].map { $0.report.cancellationCause?.operation }
    }
    return wanted
  }

  /// Returns the reports of all queues, sorted by id.
  func queueReports(withTimes: Bool, at now: MonitorTime) -> [QueueReport] {
    var reports = queues.values.sorted { $0.id < $1.id }
    guard withTimes else { return reports }
    let isAtRest = isAtRest
    for index in reports.indices {
      reports[index].times =
        kindTimes.statistics(
          of: .queue(reports[index].id), in: times, at: now, isAtRest: isAtRest)
        ?? TimeStatistics()
    }
    return reports
  }

  /// Adds the values to a group that do not depend on the list.
  ///
  /// - Parameters:
  ///   - group: The group with its counts.
  ///   - now: The current time.
  ///   - isAtRest: The value of ``isAtRest``.
  func complete(_ group: inout OperationGroups.Group, at now: MonitorTime, isAtRest: Bool) {
    switch group.key {
    case .kind(let kind): group.endedCount = times.endedCount(ofKind: kind)
    case .queue(let queue): group.endedCount = endedCounts.count(of: queue)
    }
    guard let recent = times.times(of: group.key) else { return }
    group.times =
      kindTimes.statistics(of: group.key, in: times, at: now, isAtRest: isAtRest)
      ?? TimeStatistics()
    group.runBuckets = recent.runBuckets
  }
}

extension Interest {
  /// Whether the viewer requests rows of the list or groups of its operations. Otherwise the list is empty.
  var needsList: Bool { rowLimit != nil || groups != nil }
}

/// The number of operations of each queue that have ended since monitoring began.
struct EndedCounts {
  /// The maximum number of queues whose counts are kept after they no longer exist.
  private static let limit = 1_024

  private var counts: [QueueReport.ID: (first: Int, last: Int)] = [:]

  /// Stores the counts of a queue.
  ///
  /// - Parameters:
  ///   - report: The queue.
  ///   - isFirstReading: Whether the queue may have existed before monitoring began.
  mutating func note(_ report: QueueReport, isFirstReading: Bool) {
    let ended = report.counts.finished + report.counts.cancelled
    counts[report.id, default: (isFirstReading ? ended : 0, ended)].last = ended
  }

  /// Returns the number of operations of a queue that have ended.
  func count(of queue: QueueReport.ID) -> Int { counts[queue].map { $0.last - $0.first } ?? 0 }

  /// Removes queues that no longer exist, if there are very many of them.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    if counts.count > ids.count + Self.limit { counts = counts.filter { ids.contains($0.key) } }
  }
}

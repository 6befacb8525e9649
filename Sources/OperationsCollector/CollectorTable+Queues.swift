// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The queues that no longer exist, and that some sessions have not reported yet.
struct DepartedQueues {
  /// The maximum number of queues that are kept. If a session does not report for a long time, the queues
  /// would otherwise take ever more memory.
  private static let limit = 1_024

  /// The version of the table that has the last changes of each queue.
  private var versions: [QueueReport.ID: UInt64] = [:]

  /// The queues.
  var ids: Set<QueueReport.ID> { Set(versions.keys) }

  /// Adds a queue.
  mutating func note(_ id: QueueReport.ID, at version: UInt64) { versions[id] = version }

  /// Returns whether all sessions have reported one of the queues.
  ///
  /// - Parameter version: The oldest version that a session has reported.
  /// - Returns: `true` if the last changes of a queue are part of that version.
  func hasReported(upTo version: UInt64) -> Bool { versions.values.contains { $0 <= version } }

  /// Removes the queues that all sessions have reported.
  ///
  /// - Parameter version: The oldest version that a session has reported.
  mutating func dropReported(upTo version: UInt64) {
    versions = versions.filter { $0.value > version }
    if versions.count > Self.limit { versions = [:] }
  }
}

extension CollectorTable {
  /// The oldest version of the table that a session has reported.
  private var oldestReportedVersion: UInt64 { lists.values.map(\.reportedVersion).min() ?? .max }

  /// Whether the table has queues that no longer exist and that all sessions have reported.
  var hasReportedDepartedQueues: Bool { departedQueues.hasReported(upTo: oldestReportedVersion) }

  /// Applies the last changes of queues that no longer exist, or whose `deinit` has begun. Their operations
  /// would otherwise be missing in a recording of a short process, or keep an old state.
  ///
  /// - Returns: The queues whose `deinit` has begun.
  func applyLastChanges(of queues: [QueueRegistry.DepartedQueue]) -> Set<QueueReport.ID> {
    var departing: Set<QueueReport.ID> = []
    for queue in queues {
      var hasMore = true
      while hasMore {
        let changes = queue.takeChanges(for: collector, limit: Collector.slice)
        apply(changes)
        let id = QueueReport.ID(changes.id.rawValue)
        if queue.isDeparting {
          departing.insert(id)
        } else {
          departedQueues.note(id, at: version)
        }
        hasMore = changes.hasMore
      }
    }
    return departing
  }

  /// Removes all queues except the given ones, and except the queues that no longer exist and that a session
  /// has not reported. Therefore each viewer receives the name and the last counts of a queue.
  func keepQueues(_ existing: Set<QueueReport.ID>) {
    departedQueues.dropReported(upTo: oldestReportedVersion)
    let ids = existing.union(departedQueues.ids)
    let knownCount = queues.count
    queues = queues.filter { ids.contains($0.key) }
    if queues.count < knownCount {
      readyQueueCount = queues.values.count { $0.counts.ready > 0 }
      // A session's list of operations may be sorted by the name of the removed queue, so it must
      // be updated.
      for list in lists.values { list.queueNameDidChange(in: self) }
    }
    ready = ready.filter { ids.contains($0.key) }
    readyOrders = readyOrders.filter { ids.contains($0.key) }
    endedCounts.keepQueues(ids)
    removeQueueHistories(except: ids)
    inversions.keepQueues(ids)
    queueConditions.keepQueues(ids)
  }
}

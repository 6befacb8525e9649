// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The activity of the process's queues before the telemetry started.
struct TelemetryPast {
  /// The counts of each queue before the start.
  var counts: [QueueReport.ID: StateCounts] = [:]
  /// The id of the newest queue when the telemetry started. If a queue is not in `counts` and has a
  /// greater id, it was created later. If it has a smaller id, it had already been deallocated,
  /// although the collector may still report it to sessions.
  var lastQueue = QueueReport.ID(0)
  /// The moment at which reporting begins. Operations that finished earlier are not reported. The
  /// moment is not earlier than the reading of `counts`, so that every reported operation is also
  /// counted.
  var end = MonitorTime(nanoseconds: .min)

  /// The activity of the process's queues up to now.
  static var now: TelemetryPast {
    var past = TelemetryPast()
    // A queue is created only to get its id. Queues are numbered in the order of their creation.
    past.lastQueue = QueueReport.ID(OperationQueue().id.rawValue)
    // Queues return their counts even if they do not store records yet.
    let collector = CollectorID()
    for queue in QueueRegistry.queues {
      let changes = queue.takeChanges(
        for: collector, limit: 0, adopting: 0, newRecords: nil)
      past.counts[QueueReport.ID(changes.id.rawValue)] = StateCounts(
        finished: changes.counts.finished, failed: changes.counts.failed,
        cancelled: changes.counts.cancelled, total: changes.counts.total)
    }
    past.end = MonitorTime.now
    return past
  }

  /// Returns the counts of a queue when the telemetry started. The telemetry subtracts these
  /// counts.
  func counts(of queue: QueueReport) -> StateCounts {
    counts[queue.id] ?? (queue.id > lastQueue ? StateCounts() : queue.counts)
  }
}

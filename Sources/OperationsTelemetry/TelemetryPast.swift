// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// The activity of the process's queues before the telemetry started.
struct TelemetryPast {
  /// The counts of each queue before the start.
  var counts: [QueueReport.ID: StateCounts] = [:]
  /// The newest queue at the start. A queue that is not in `counts` and has a greater number was created
  /// later. A queue with a smaller number was deallocated by then, though other sessions that have watched it
  /// may still report it.
  var lastQueue = QueueReport.ID(0)
  /// Operations that finished before this moment are not reported. The moment is not earlier than the reading
  /// of the counts, so that every reported operation is also counted.
  var end = MonitorTime(nanoseconds: .min)

  /// The activity up to now.
  static var now: TelemetryPast {
    var past = TelemetryPast()
    // Only its number is used: queues are numbered in the order of their creation.
    past.lastQueue = QueueReport.ID(OperationQueue().id.rawValue)
    // The counts are also available from queues that do not record events yet.
    let collector = CollectorID()
    for queue in QueueRegistry.queues {
      let changes = queue.takeChanges(
        for: collector, limit: 0, adopting: 0, newRecords: nil)
      past.counts[QueueReport.ID(changes.id.rawValue)] = StateCounts(
        finished: changes.counts.finished, cancelled: changes.counts.cancelled,
        total: changes.counts.total)
    }
    past.end = WallClock.monotonicNow
    return past
  }

  /// Returns the counts of a queue before the start, which are not reported.
  func counts(of queue: QueueReport) -> StateCounts {
    counts[queue.id] ?? (queue.id > lastQueue ? StateCounts() : queue.counts)
  }
}

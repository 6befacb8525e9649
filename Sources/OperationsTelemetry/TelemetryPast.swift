// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// What the process's queues had done before somebody wanted to know.
struct TelemetryPast {
  /// What each queue had counted by then.
  var counts: [QueueReport.ID: StateCounts] = [:]
  /// A queue that is not there and comes after this one was made later. One before it was gone by then,
  /// though others that have watched it may still tell of it.
  var lastQueue = QueueReport.ID(0)
  /// What had finished before that is no news. Not before the counts were taken, so that nothing is
  /// news that is not counted.
  var end = MonitorTime(nanoseconds: .min)

  /// Everything up to now.
  static var now: TelemetryPast {
    var past = TelemetryPast()
    // Its number is all that is wanted of it: queues are numbered in the order in which they are made.
    past.lastQueue = QueueReport.ID(OperationQueue().id.rawValue)
    // Who does not keep a queue's records is told its counts all the same.
    let stranger = RecorderID()
    for queue in QueueRegistry.queues {
      let changes = queue.takeRecordedChanges(
        for: stranger, limit: 0, adopting: 0, newRecords: nil)
      past.counts[QueueReport.ID(changes.id.rawValue)] = StateCounts(
        finished: changes.finished, cancelled: changes.cancelled, total: changes.total)
    }
    past.end = WallClock.monotonicNow
    return past
  }

  /// What is not counted of a queue.
  func counts(of queue: QueueReport) -> StateCounts {
    counts[queue.id] ?? (queue.id > lastQueue ? StateCounts() : queue.counts)
  }
}

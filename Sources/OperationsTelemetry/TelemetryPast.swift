// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// What the process's queues had done before somebody wanted to know.
struct TelemetryPast {
  /// What each queue had counted by then; one that is not here came later.
  var counts: [QueueReport.ID: StateCounts] = [:]
  /// What had finished before that is no news. Not before the counts were taken, so that nothing is
  /// news that is not counted.
  var end = MonitorTime(nanoseconds: .min)

  /// Everything up to now.
  static var now: TelemetryPast {
    var past = TelemetryPast()
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
}

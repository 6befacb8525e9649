// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The log lines that the viewer of a replay has received.
struct ReplayLogs: Sendable {
  /// The number of the line after the last line that was sent of each requested operation.
  private var ends: [OperationReport.ID: UInt64] = [:]

  /// Returns the lines that the viewer requests and has not received, and notes them as received. Each
  /// operation that the viewer has not requested before has a log, also if there are no lines.
  mutating func take(from tails: LogTails, for interest: Interest.Logs) -> [OperationLog] {
    var logs: [OperationLog]
    switch interest {
    case .all: logs = tails.all
    case .operations(let ids): logs = ids.sorted().map { tails.answer(about: $0) }
    }
    let known = ends
    ends = [:]
    for log in logs { ends[log.operation] = log.end }
    logs = logs.compactMap { log in
      guard let end = known[log.operation] else { return log }
      return log.end > end ? log.from(end) : nil
    }
    return logs
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Detects that queues wait for a thread because the pool has reached its limit of threads.
struct ThreadCondition {
  /// The time for which queues may wait for a thread before a warning. The limit of threads is
  /// often reached for only some milliseconds.
  static let patience = Duration.seconds(1)
  /// The time between two checks while all threads are in use. The checks are necessary because a
  /// queue sends no event when it begins to wait.
  static let interval = Duration.milliseconds(250)

  private var use: ThreadUse?
  private var since: MonitorTime?
  private var lastNoted = MonitorTime(nanoseconds: .min)

  /// Updates the condition with the current use of threads, which is `nil` if the process has no
  /// queue. The use of threads contains the number of threads, its limit and the number of waiting
  /// requests.
  mutating func note(_ use: ThreadUse?, at now: MonitorTime) {
    self.use = use
    lastNoted = now
    since = use?.isAtLimit == true ? since ?? now : nil
  }

  /// Returns the warning that queues wait for a thread, if it is due at a moment.
  func warnings(at now: MonitorTime) -> [MonitorWarning] {
    guard let use, let since, now - since >= Self.patience else { return [] }
    return [
      MonitorWarning(
        kind: .threadLimit, count: use.waitingCount, since: since, limit: use.limit)
    ]
  }

  /// The time of the next check if nothing changes before that time; `nil` if threads are free.
  var nextMoment: MonitorTime? {
    guard let use, use.count >= use.limit else { return nil }
    return lastNoted + Self.interval
  }
}

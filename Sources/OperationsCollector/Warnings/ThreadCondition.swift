// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Whether queues wait because the pool has reached its limit of threads, and since when.
struct ThreadCondition {
  /// How long the condition lasts before it is a warning. The limit is often reached for some milliseconds.
  static let patience = Duration.seconds(1)
  /// The time between two checks while all threads are in use. A queue that begins to wait sends no
  /// event.
  static let interval = Duration.milliseconds(250)

  private var use: ThreadUse?
  private var since: MonitorTime?
  private var lastNoted = MonitorTime(nanoseconds: .min)

  /// Updates the condition. `use` is `nil` if the process has no queue.
  mutating func note(_ use: ThreadUse?, at now: MonitorTime) {
    self.use = use
    lastNoted = now
    since = use?.isAtLimit == true ? since ?? now : nil
  }

  /// The warnings at this moment.
  func warnings(at now: MonitorTime) -> [MonitorWarning] {
    guard let use, let since, now - since >= Self.patience else { return [] }
    return [
      MonitorWarning(
        kind: .threadLimit, count: use.waitingCount, since: since, limit: use.limit)
    ]
  }

  /// When to check again although nothing changes.
  var nextMoment: MonitorTime? {
    guard let use, use.count >= use.limit else { return nil }
    return lastNoted + Self.interval
  }
}

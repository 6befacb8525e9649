// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// For how long queues have been in a condition that is worth a warning when it lasts.
struct QueueConditions {
  /// So long a queue may hold ready operations back before it is said.
  static let suspensionPatience = Duration.seconds(10)
  /// So long a free slot may stay empty although an operation is ready.
  static let slotPatience = Duration.milliseconds(200)

  private var suspended: [QueueReport.ID: MonitorTime] = [:]
  private var idle: [QueueReport.ID: MonitorTime] = [:]

  /// Takes in how the queues are now.
  mutating func note(_ queues: some Sequence<QueueReport>, at now: MonitorTime) {
    var stillSuspended: [QueueReport.ID: MonitorTime] = [:]
    var stillIdle: [QueueReport.ID: MonitorTime] = [:]
    for queue in queues {
      if queue.isSuspended, queue.counts.held > 0 {
        stillSuspended[queue.id] = suspended[queue.id] ?? now
      } else if Self.leavesSlotsEmpty(queue) {
        stillIdle[queue.id] = idle[queue.id] ?? now
      }
    }
    suspended = stillSuspended
    idle = stillIdle
  }

  /// What is to be said at this moment.
  func warnings(
    of queues: [QueueReport.ID: QueueReport], at now: MonitorTime
  ) -> [MonitorWarning] {
    func due(
      _ since: [QueueReport.ID: MonitorTime], _ patience: Duration, _ kind: MonitorWarning.Kind,
      _ count: (StateCounts) -> Int
    ) -> [MonitorWarning] {
      since.filter { now - $0.value >= patience }.sorted { $0.key < $1.key }
        .compactMap { id, since in
          queues[id].map {
            MonitorWarning(kind: kind, queue: id, count: count($0.counts), since: since)
          }
        }
    }
    return due(suspended, Self.suspensionPatience, .suspendedWithReady, \.held)
      + due(idle, Self.slotPatience, .readyButNotStarted, \.ready)
  }

  /// The next moment after `now` at which there is more to say although nothing changes.
  func nextMoment(after now: MonitorTime) -> MonitorTime? {
    let moments =
      suspended.values.map { $0 + Self.suspensionPatience }
      + idle.values.map { $0 + Self.slotPatience }
    return moments.filter { $0 > now }.min()
  }

  /// Where the system decides about the width, a queue that runs anything may be at its limit.
  private static func leavesSlotsEmpty(_ queue: QueueReport) -> Bool {
    let counts = queue.counts
    guard !queue.isSuspended, counts.ready > 0 else { return false }
    return queue.width.map { counts.executing < $0 } ?? (counts.executing == 0)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// For how long queues have been in a condition that is worth a warning when it lasts.
struct QueueConditions {
  /// So long a queue may hold ready operations back before it is said.
  static let suspensionPatience = Duration.seconds(10)
  /// So long a free slot may stay empty although an operation is ready.
  static let slotPatience = Duration.milliseconds(200)
  /// So long the main queue may run nothing although an operation is ready.
  static let mainQueuePatience = Duration.milliseconds(250)

  /// A queue that starts nothing although it could.
  private struct Idleness {
    let since: MonitorTime
    /// How many operations it had begun by then: where there are more it was only seen between two.
    let begunCount: Int
    let isMain: Bool

    var due: MonitorTime {
      since + (isMain ? QueueConditions.mainQueuePatience : QueueConditions.slotPatience)
    }
  }

  private var suspended: [QueueReport.ID: MonitorTime] = [:]
  private var idle: [QueueReport.ID: Idleness] = [:]

  /// Takes in how the queues are now.
  ///
  /// - Parameters:
  ///   - queues: All queues.
  ///   - mainQueue: Which of them is the main queue; `nil` where none is.
  ///   - now: The present time.
  mutating func note(
    _ queues: some Sequence<QueueReport>, mainQueue: QueueReport.ID? = nil, at now: MonitorTime
  ) {
    var stillSuspended: [QueueReport.ID: MonitorTime] = [:]
    var stillIdle: [QueueReport.ID: Idleness] = [:]
    for queue in queues {
      if queue.isSuspended, queue.counts.held > 0 {
        stillSuspended[queue.id] = suspended[queue.id] ?? now
      } else if Self.leavesSlotsEmpty(queue) {
        let new = Idleness(
          since: now, begunCount: Self.begunCount(queue.counts), isMain: queue.id == mainQueue)
        let old = idle[queue.id]
        stillIdle[queue.id] = old?.begunCount == new.begunCount ? old : new
      }
    }
    suspended = stillSuspended
    idle = stillIdle
  }

  /// What is to be said at this moment, the main queue first.
  func warnings(
    of queues: [QueueReport.ID: QueueReport], at now: MonitorTime
  ) -> [MonitorWarning] {
    let held = suspended.sorted { $0.key < $1.key }.compactMap { id, since -> MonitorWarning? in
      guard now - since >= Self.suspensionPatience, let queue = queues[id] else { return nil }
      return MonitorWarning(
        kind: .suspendedWithReady, queue: id, count: queue.counts.held, since: since)
    }
    let due = idle.filter { $0.value.due <= now }.sorted { $0.key < $1.key }
    func warnings(ofMain isMain: Bool) -> [MonitorWarning] {
      due.compactMap { id, idleness in
        guard idleness.isMain == isMain, let queue = queues[id] else { return nil }
        return MonitorWarning(
          kind: isMain ? .mainQueueBlocked : .readyButNotStarted, queue: id,
          count: queue.counts.ready, since: idleness.since)
      }
    }
    return warnings(ofMain: true) + held + warnings(ofMain: false)
  }

  /// The next moment after `now` at which there is more to say although nothing changes.
  func nextMoment(after now: MonitorTime) -> MonitorTime? {
    let moments =
      suspended.values.map { $0 + Self.suspensionPatience } + idle.values.map(\.due)
    return moments.filter { $0 > now }.min()
  }

  /// Where the system decides about the width, a queue that runs anything may be at its limit.
  private static func leavesSlotsEmpty(_ queue: QueueReport) -> Bool {
    let counts = queue.counts
    guard !queue.isSuspended, counts.ready > 0 else { return false }
    return queue.width.map { counts.executing < $0 } ?? (counts.executing == 0)
  }

  /// How many operations have been started or retired so far.
  private static func begunCount(_ counts: StateCounts) -> Int {
    counts.executing + counts.finished + counts.cancelled
  }
}

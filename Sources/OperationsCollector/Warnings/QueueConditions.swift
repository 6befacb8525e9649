// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The times since when queues have been in a condition that causes a warning if it lasts.
struct QueueConditions {
  /// The time for which a suspended queue may hold ready operations before a warning.
  static let suspensionPatience = Duration.seconds(10)
  /// The time for which a slot of a queue may stay free, although an operation is ready, before a
  /// warning.
  static let slotPatience = Duration.milliseconds(200)
  /// The time for which the main queue may start no operation, although an operation is ready,
  /// before a warning.
  static let mainQueuePatience = Duration.milliseconds(250)

  /// The condition of a queue that starts no operation although an operation is ready, a slot is
  /// free, and its limit of starts is not reached.
  private struct Idleness {
    let since: MonitorTime
    /// The number of operations that the queue had started when the condition began. If the queue
    /// has started more operations since, it was idle only between two operations.
    let begunCount: Int
    let isMain: Bool

    var due: MonitorTime {
      since + (isMain ? QueueConditions.mainQueuePatience : QueueConditions.slotPatience)
    }
  }

  private var suspended: [QueueReport.ID: MonitorTime] = [:]
  private var idle: [QueueReport.ID: Idleness] = [:]
  /// The queues that have started as many operations as their limits allow.
  private var limited: Set<QueueReport.ID> = []

  /// Notes whether a queue has started as many operations as its limit allows. If so, its ready operations wait for
  /// the limit, and cause no warning.
  mutating func noteStartLimit(of queue: QueueReport.ID, isReached: Bool) {
    if isReached { limited.insert(queue) } else if !limited.isEmpty { limited.remove(queue) }
  }

  /// Removes all queues except the given ones.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    if !limited.isEmpty { limited.formIntersection(ids) }
  }

  /// Updates the times since when queues are in conditions that may cause a warning. Called after
  /// queues have changed.
  ///
  /// - Parameters:
  ///   - queues: All queues.
  ///   - mainQueue: The main queue; `nil` if the program does not use it.
  ///   - now: The current time.
  mutating func note(
    _ queues: some Sequence<QueueReport>, mainQueue: QueueReport.ID? = nil, at now: MonitorTime
  ) {
    var stillSuspended: [QueueReport.ID: MonitorTime] = [:]
    var stillIdle: [QueueReport.ID: Idleness] = [:]
    for queue in queues {
      if queue.isSuspended, queue.counts.held > 0 {
        stillSuspended[queue.id] = suspended[queue.id] ?? now
      } else if !limited.contains(queue.id), Self.leavesSlotsEmpty(queue) {
        let new = Idleness(
          since: now, begunCount: Self.begunCount(queue.counts), isMain: queue.id == mainQueue)
        let old = idle[queue.id]
        stillIdle[queue.id] = old?.begunCount == new.begunCount ? old : new
      }
    }
    suspended = stillSuspended
    idle = stillIdle
  }

  /// Returns the warnings about queues at a moment. The warning about the main queue comes first.
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

  /// Returns the next moment after `now` at which the warnings about queues may change even if no
  /// queue changes.
  func nextMoment(after now: MonitorTime) -> MonitorTime? {
    let moments =
      suspended.values.map { $0 + Self.suspensionPatience } + idle.values.map(\.due)
    return moments.filter { $0 > now }.min()
  }

  /// Returns whether a queue has a free slot and a ready operation. If the system decides the
  /// width, a queue that executes an operation is assumed to have no free slot.
  private static func leavesSlotsEmpty(_ queue: QueueReport) -> Bool {
    let counts = queue.counts
    guard !queue.isSuspended, counts.ready > 0 else { return false }
    return queue.width.map { counts.executing < $0 } ?? (counts.executing == 0)
  }

  /// Returns the number of operations that the queue has started or that have finished so far.
  private static func begunCount(_ counts: StateCounts) -> Int {
    counts.executing + counts.finished + counts.cancelled
  }
}

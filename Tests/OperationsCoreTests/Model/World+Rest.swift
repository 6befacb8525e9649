// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
@testable import OperationsCore
import TestSupport

extension World {
  /// What changes whenever anything happens in a queue.
  struct Pulse: Equatable {
    var counts: [QueueScheduler.Counts?] = []
    var beginCounts: [Int] = []
  }

  /// Blocks the calling thread until nothing is under way any more but bodies that wait for the
  /// program. Looks at real states, and lets other threads run in between.
  ///
  /// - Returns: Whether it came to that in time.
  func comeToRest(within limit: Duration) -> Bool {
    // Queues are looked at one after the other, and something may pass from one that is yet to be
    // looked at to one that has been. Then an operation has left its queue in between, which shows
    // as a difference between two looks.
    var before: Pulse?
    return poll(for: limit) {
      let now = pulseAtRest()
      defer { before = now }
      return now != nil && now == before
    }
  }

  /// `nil` where anything is under way.
  private func pulseAtRest() -> Pulse? {
    let state = reports.snapshot
    let entries = state.entries
    let heldByHand = entries.indices.count {
      entries[$0].isStartedByHand && entries[$0].isHeldOpen
        && !program.operations[$0].kind.isAsynchronous
    }
    guard state.startingCount == heldByHand else { return nil }
    var pulse = Pulse()
    pulse.beginCounts = entries.map(\.beginCount)
    for index in program.queues.indices {
      guard let queue = livingQueue(index) else {
        pulse.counts.append(nil)
        continue
      }
      let here = entries.indices.filter { entries[$0].queue == index && entries[$0].isHeldOpen }
      let barrierCount = here.count { program.operations[$0].kind == .barrier }
      let (counts, hasWork) = queue.core.withScheduler { scheduler, _ in
        (scheduler.counts, scheduler.hasWork)
      }
      guard !hasWork, counts.executing == here.count - barrierCount,
        Barriers.startedCount(in: queue) == barrierCount
      else { return nil }
      pulse.counts.append(counts)
    }
    return pulse
  }
}

/// Looks again and again until it is so, and lets other threads run in between.
///
/// - Returns: Whether it came to that in time.
func poll(for limit: Duration, until isSo: () -> Bool) -> Bool {
  let deadline = ContinuousClock.now + limit
  while !isSo() {
    if ContinuousClock.now > deadline { return isSo() }
    sched_yield()
  }
  return true
}

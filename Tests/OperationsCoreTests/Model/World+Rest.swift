// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
@testable import OperationsCore
import TestSupport

extension World {
  /// What changes whenever anything happens in a queue.
  struct Pulse: Equatable {
    var counts: [QueueScheduler.Counts?] = []
    var barrierCounts: [Int] = []
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
    var pulse = Pulse()
    var heldByHand = 0
    var held = Array(repeating: 0, count: program.queues.count)
    var heldBarriers = held
    for index in program.operations.indices {
      let entry = state.entries[index]
      pulse.beginCounts.append(entry.beginCount)
      guard entry.isHeldOpen else { continue }
      let kind = program.operations[index].kind
      if let queue = entry.queue {
        if kind == .barrier { heldBarriers[queue] += 1 } else { held[queue] += 1 }
      } else if kind.blocksStart {
        heldByHand += 1
      }
    }
    guard state.startingCount == heldByHand else { return nil }
    for index in program.queues.indices {
      guard let queue = livingQueue(index) else {
        pulse.counts.append(nil)
        continue
      }
      let (counts, barriers, hasWork) = queue.core.withScheduler { scheduler, _ in
        (scheduler.counts, scheduler.allBarriers, scheduler.hasWork)
      }
      let startedBarriers = barriers.count { $0.state == .executing || $0.isFinished }
      guard !hasWork, counts.executing == held[index], startedBarriers == heldBarriers[index] else {
        return nil
      }
      pulse.barrierCounts.append(barriers.count)
      pulse.counts.append(counts)
    }
    return pulse
  }
}

/// Looks again and again until it is so, and lets other threads run in between.
///
/// However short the limit is, it looks so often that on a busy machine the others have had their
/// turn.
///
/// - Returns: Whether it came to that in time.
func poll(for limit: Duration, until isSo: () -> Bool) -> Bool {
  let deadline = ContinuousClock.now + limit
  var looks = 0
  while !isSo() {
    looks += 1
    // Not each time: the clock costs more than the look.
    if looks.isMultiple(of: 1_024), ContinuousClock.now > deadline { return isSo() }
    sched_yield()
  }
  return true
}

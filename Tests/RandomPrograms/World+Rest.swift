// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

extension World {
  /// Counts of the events in queues. Every event changes at least one of the counts.
  struct Pulse: Equatable {
    var counts: [QueueSnapshot.Counts?] = []
    var barrierCounts: [Int] = []
    var beginCounts: [Int] = []
  }

  /// Blocks the calling thread until no event is pending, except that operations wait for steps of
  /// the program. It reads the states of the queues repeatedly, and lets other threads run after
  /// each reading.
  ///
  /// - Returns: Whether nothing was pending within the time limit.
  func comeToRest(within limit: Duration) -> Bool {
    // The queues are read one after the other, so one reading may miss an operation that becomes
    // ready in a queue that was read before. The operation that caused this has left its queue, so
    // the next reading differs.
    var before: Pulse?
    return poll(for: limit) {
      let now = pulseAtRest()
      defer { before = now }
      return now != nil && now == before
    }
  }

  /// Returns the counts of the events so far; `nil` if any event is pending.
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
      let content = queue.schedulerContent
      let startedBarriers = content.barriers.count { $0.state == .executing || $0.isFinished }
      guard !content.hasWork, content.counts.executing == held[index],
        startedBarriers == heldBarriers[index]
      else { return nil }
      pulse.barrierCounts.append(content.barriers.count)
      pulse.counts.append(content.counts)
    }
    // The library also acts on its own threads, for example to read `isReady`. These actions are
    // pending events too.
    return OperationQueue.hasDuties ? nil : pulse
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport

@testable import OperationsCore

/// A simple model of a queue's scheduler: a single list, which is searched for each choice.
struct SchedulerModel {
  struct Entry {
    let operation: Operation
    let isBarrier: Bool
    var isStarted = false
    /// The priority band of the operation, and the sequence number of its arrival in that band;
    /// `nil` while the operation is not ready.
    var position: (band: UInt8, order: Int)?
  }

  /// The operations that have not left the queue, in the order of addition.
  private(set) var entries: [Entry] = []
  private var lastOrder = 0
  /// The operation that left the queue most recently after it was started.
  private var lastLeft: Operation?

  mutating func add(_ operation: Operation, isBarrier: Bool) {
    entries.append(Entry(operation: operation, isBarrier: isBarrier))
    reposition(entries.count - 1)
  }

  private mutating func reposition(_ index: Int) {
    let status = entries[index].operation.status.load(ordering: .relaxed)
    guard !entries[index].isBarrier, status.isEligible else { return entries[index].position = nil }
    let band =
      status.isCancelled
      ? ReadyBands.cancelled : ReadyBands.band(priorityIndex: status.priorityIndex)
    if entries[index].position?.band == band { return }
    lastOrder += 1
    entries[index].position = (band, lastOrder)
  }

  /// Changes the status of an operation that was not started, and notifies the scheduler.
  mutating func changeOne(
    _ random: inout SeededGenerator, _ bench: SchedulerBench,
    _ event: (inout OperationStatus) -> Bool
  ) {
    guard
      let index = entries.indices.filter({ !entries[$0].isStarted }).randomElement(using: &random)
    else { return }
    // A barrier is not accessible to its user, so the only event that can happen to a barrier is
    // the cancellation of all operations.
    var probe = entries[index].operation.status.load(ordering: .relaxed)
    _ = event(&probe)
    if entries[index].isBarrier, !probe.isCancelled { return }
    bench.change(entries[index].operation, event)
    reposition(index)
  }

  /// Finishes a random operation that was started. If `amongAll` is `true`, the operation may be
  /// one that was not started, as a subclass may finish it then.
  mutating func finishOne(
    _ random: inout SeededGenerator, _ bench: SchedulerBench, amongAll: Bool
  ) {
    let candidates = entries.indices.filter {
      entries[$0].isStarted || amongAll && !entries[$0].isBarrier
    }
    guard let index = candidates.randomElement(using: &random) else { return }
    let entry = entries.remove(at: index)
    bench.finish(entry.operation)
    if entry.isStarted, !entry.isBarrier { lastLeft = entry.operation }
  }

  /// Gives a random operation that was chosen back to the scheduler, as if it were not ready. The
  /// operation may already have left the queue.
  mutating func parkOne(_ random: inout SeededGenerator, _ bench: SchedulerBench) {
    if Bool.random(using: &random), let left = lastLeft.take() { return bench.giveBack(left) }
    let candidates = entries.indices.filter { entries[$0].isStarted && !entries[$0].isBarrier }
    guard let index = candidates.randomElement(using: &random) else { return }
    bench.giveBack(entries[index].operation)
    entries[index].isStarted = false
    entries[index].position = nil
    reposition(index)
  }

  /// Returns the operation that the scheduler must start now.
  mutating func takeNext(_ scheduler: QueueScheduler) -> Operation? {
    let width = scheduler.maxConcurrentOperationCount
    let startedCount = entries.count { $0.isStarted }
    guard !scheduler.isSuspended, width < 0 || startedCount < width else { return nil }
    let end = entries.firstIndex { $0.isBarrier } ?? entries.count
    if end == 0, let first = entries.first {
      if first.isStarted { return nil }
      entries[0].isStarted = true
      return first.operation
    }
    let ready = entries[..<end].indices.filter {
      !entries[$0].isStarted && entries[$0].position != nil
    }
    let next = ready.min { left, right in
      guard let left = entries[left].position, let right = entries[right].position else {
        return false
      }
      return left < right
    }
    guard let next else { return nil }
    entries[next].isStarted = true
    return entries[next].operation
  }
}

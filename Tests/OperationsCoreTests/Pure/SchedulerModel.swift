// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport

@testable import OperationsCore

/// The behavior of a queue in its simplest form: one list, which is searched each time.
struct SchedulerModel {
  struct Entry {
    let operation: Operation
    let isBarrier: Bool
    var isStarted = false
    /// The band of the operation and its position in the order of arrival; `nil` while the
    /// operation is not ready.
    var position: (band: UInt8, order: Int)?
  }

  /// The operations that have not left, in the order of addition.
  private(set) var entries: [Entry] = []
  private var lastOrder = 0
  /// An operation that was started and has left since.
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
    // Only `cancel()` can access a barrier.
    var probe = entries[index].operation.status.load(ordering: .relaxed)
    _ = event(&probe)
    if entries[index].isBarrier, !probe.isCancelled { return }
    bench.change(entries[index].operation, event)
    reposition(index)
  }

  /// Finishes an operation that was started, or any operation, as a subclass may do.
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

  /// Returns an operation that was chosen to be started, possibly too late because it has left by
  /// then.
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

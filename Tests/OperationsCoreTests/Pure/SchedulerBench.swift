// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import Testing

@testable import OperationsCore

/// A scheduler without locks or threads, with the parts of a queue around it. After each step, it
/// checks that the counts add up.
final class SchedulerBench {
  var scheduler = QueueScheduler(queue: QueueID.next())
  var effects = QueueEffects()

  /// Releases the remaining operations, so that a test need not finish all of them.
  deinit {
    scheduler.isSuspended = false
    scheduler.maxConcurrentOperationCount = -1
    for operation in scheduler.allOperations { finish(operation) }
    for barrier in scheduler.allBarriers {
      if barrier.place.stage != .executing { _ = takeNext() }
      finish(barrier)
    }
    endSection()
    discardEffects()
  }

  /// Adds operations to the scheduler as one batch.
  func add(_ operations: [Operation]) {
    for operation in operations {
      #expect(operation.update { $0.enqueue() })
      _ = Unmanaged.passRetained(operation)
    }
    takeIn(operations)
  }

  /// Adds a barrier to the scheduler.
  @discardableResult
  func addBarrier(_ name: String = "barrier") -> Operation {
    let barrier = Self.operation(name)
    #expect(barrier.update { $0.enqueue() })
    barrier.update { $0.insert(.barrier) }
    _ = Unmanaged.passRetained(barrier)
    takeIn([barrier])
    return barrier
  }

  /// Passes operations with changed status to the scheduler, in the order of the array.
  func takeIn(_ operations: [Operation]) {
    guard let first = operations.first else { return }
    for (operation, next) in zip(operations, operations.dropFirst()) {
      operation.inboxNext = .passUnretained(next)
    }
    operations.last?.inboxNext = nil
    scheduler.takeIn(.passUnretained(first), &effects)
    check()
  }

  /// Changes the status of an operation and, if necessary, passes the operation to the scheduler.
  func change(
    _ operation: Operation, _ event: (inout OperationStatus) -> Bool
  ) {
    if operation.update(event) { takeIn([operation]) }
  }

  /// Returns the operation that the scheduler has chosen, and releases the reference of a thread
  /// that would start it. The scheduler still keeps the operation alive.
  static func operation(_ chosen: StartableOperation) -> Operation {
    defer { if !chosen.isPlain { chosen.reference.release() } }
    return chosen.reference.takeUnretainedValue()
  }

  func takeNext() -> Operation? {
    defer { check() }
    return scheduler.takeNext().map(Self.operation)
  }

  /// Returns an operation to the scheduler because its `isReady` was `false` when it was about to
  /// be started.
  func giveBack(_ operation: Operation) {
    scheduler.giveBack(operation, reading: operation.status.load(ordering: .relaxed).reading)
    check()
  }

  /// Finishes and retires an operation, which may not have been started.
  func finish(_ operation: Operation) {
    operation.update { _ = $0.finish() }
    #expect(scheduler.retire(operation, &effects))
    check()
    endSection()
  }

  func endSection() {
    scheduler.endSection(&effects)
    effects.releaseOperations()
  }

  /// Releases the effects of the scheduler without carrying them out.
  ///
  /// The references of ``QueueEffects`` are unmanaged: overwriting a value leaks them.
  func discardEffects() {
    effects.takeAftermath()?.release()
    _ = effects.takeWakeups()
    effects = QueueEffects()
  }

  var names: [String] { scheduler.allOperations.map { $0.name ?? "" } }

  /// Takes all operations that may start from the scheduler, and returns their names in the order
  /// of their start.
  func takeAll() -> [String] {
    var names: [String] = []
    while let next = takeNext() { names.append(next.name ?? "") }
    return names
  }

  private func check() {
    let counts = scheduler.counts
    #expect(
      counts.waiting + counts.ready + counts.executing + counts.finished + counts.cancelled
        == counts.total)
    #expect(names.count == counts.unfinished)
    #expect(counts.cancelling >= 0 && counts.cancelling <= counts.unfinished)
  }

  static func operation(
    _ name: String, _ priority: Operation.QueuePriority = .normal
  ) -> Operation {
    let operation = Operation()
    operation.name = name
    operation.queuePriority = priority
    return operation
  }
}

extension ReadyBands {
  /// The operation to start next; `nil` if no operation is ready.
  var first: Unmanaged<Operation>? {
    var copy = self
    return copy.firstInPlace()
  }
}

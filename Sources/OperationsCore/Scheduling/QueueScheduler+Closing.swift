// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueScheduler {
  /// Adds a waiter that is woken when the queue is empty. Returns `false` if the queue is already
  /// empty.
  mutating func addWaiterForEmpty(_ waiter: any Waiter) -> Bool {
    if isEmpty { return false }
    waitersForEmpty[ObjectIdentifier(waiter)] = waiter
    return true
  }

  /// Removes a waiter that no longer waits. If the waiter was already notified, the method does
  /// nothing.
  mutating func removeWaiterForEmpty(_ waiter: any Waiter) {
    waitersForEmpty.removeValue(forKey: ObjectIdentifier(waiter))
  }

  // MARK: A closed queue

  /// Withholds an operation that was pushed while another thread closed the queue, so that it cannot start
  /// before it is cancelled.
  mutating func withholdLate(
    _ operation: Operation, _ status: OperationStatus, _ effects: inout QueueEffects
  ) {
    if status.isCancelled || status.isFinished { return }
    operation.place.isWithheld = true
    refuseLate(operation, &effects)
  }

  /// Cancels a barrier that was pushed while another thread closed the queue.
  mutating func cancelLate(_ barrier: Operation, _ effects: inout QueueEffects) {
    barrier.update { $0.insert(.cancelled) }
    refuseLate(nil, &effects)
  }

  private func refuseLate(_ operation: Operation?, _ effects: inout QueueEffects) {
    let name = name.isEmpty ? OperationQueue.defaultName(monitor.queue) : name
    let error = OperationQueueClosedError(queue: monitor.queue, name: name)
    effects.mutableWakeups.callbacks.append { error.refuseLate(operation) }
  }

  // MARK: Cancelling what has not started

  /// Cancels the barriers and block operations that have not started, and withholds all other operations that
  /// have not started.
  ///
  /// A block operation without observers is cancelled here, because no code of the user takes part. An operation
  /// that the queue has chosen counts as started. If the queue takes it back, because its `isReady` is `false`, it
  /// is cancelled then: see ``giveBack(_:reading:)``.
  ///
  /// - Parameter cause: The cause to store; `nil` if no collector records.
  /// - Returns: The withheld operations. The caller must cancel them after the lock.
  mutating func cancelPending(_ cause: CancellationCause?) -> [Operation] {
    var withheld: [Operation] = []
    for (index, barrier) in barriers.operations.enumerated() {
      if index == 0, barriers.front == .running { continue }
      barrier._withUnsafeGuaranteedRef { barrier in barrier.update { $0.insert(.cancelled) } }
    }
    var current = operations.after(nil)
    while let operation = current {
      operation._withUnsafeGuaranteedRef {
        if cancelIfPending($0, cause) { withheld.append($0) }
      }
      current = operations.after(operation)
    }
    return withheld
  }

  /// Returns whether the operation is withheld, so that the caller must cancel it.
  private mutating func cancelIfPending(_ operation: Operation, _ cause: CancellationCause?) -> Bool
  {
    let status = operation.status.load(ordering: .acquiring)
    if status.isCancelled || status.isFinished { return false }
    // Another thread cancels the operation. The queue must withhold it until then.
    if operation.place.isWithheld { return false }
    switch operation.place.stage {
    case .waiting, .ready: break
    case .executing:
      operation.place.isWithheld = status.isPending
      return false
    case .outside, .lingering, .gone: return false
    }
    if operation.isExactlyBlockOperation, cancelUnobserved(operation, cause) { return false }
    operation.place.isWithheld = true
    reposition(operation, status)
    return true
  }

  /// Cancels a block operation that has no observers. Returns `false` if it has observers.
  private mutating func cancelUnobserved(_ operation: Operation, _ cause: CancellationCause?)
    -> Bool
  {
    if let cause { operation.makeRare { $0.noteCause(cause) } }
    let (isCancelled, status) = operation.update { status in
      let verdict = status.cancelUnobserved()
      // The push that this event has claimed is not necessary, because this method handles the event.
      if verdict?.mustPush == true { status.remove(.inInbox) }
      return (verdict != nil, status)
    }
    if isCancelled { reposition(operation, status) }
    return isCancelled
  }

  /// Lets the queue start withheld operations that were not cancelled.
  mutating func stopWithholding(_ operations: [Operation]) {
    for operation in operations where operation.place.isWithheld {
      operation.place.isWithheld = false
      if operation.place.stage == .waiting || operation.place.stage == .ready {
        reposition(operation, operation.status.load(ordering: .acquiring))
      }
    }
  }
}

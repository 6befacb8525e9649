// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueCore {
  /// Facts about a queue that a thread reads when it adds an operation. A mark is never removed.
  struct Marks: OptionSet {
    let rawValue: UInt8

    /// The queue's properties have or had observers.
    static let observed = Marks(rawValue: 1 << 0)
    /// The queue is closed and accepts no operations. The mark is set under the lock, together with the
    /// scheduler's `isClosed`.
    static let closed = Marks(rawValue: 1 << 1)
  }

  /// Whether the queue's properties have or had observers.
  @inline(__always)
  var isObserved: Bool { has(.observed) }

  /// Whether the queue is closed and accepts no operations.
  var isClosed: Bool { has(.closed) }

  @inline(__always)
  private func has(_ mark: Marks) -> Bool {
    marks.load(ordering: .sequentiallyConsistent) & mark.rawValue != 0
  }

  func insert(_ mark: Marks) { marks.bitwiseOr(mark.rawValue, ordering: .sequentiallyConsistent) }

  /// Closes the queue: operations that are pushed into the inbox from now on are refused.
  ///
  /// The critical section reads the inbox before it closes the queue. So an operation that was pushed
  /// before is accepted. A thread that has read the marks before this call may push an operation after it.
  /// The scheduler then refuses the operation: see ``QueueScheduler/withholdLate(_:_:_:)``.
  func close() {
    withScheduler { scheduler, _ in
      if scheduler.isClosed { return }
      scheduler.isClosed = true
      scheduler.watchAdditions()
      insert(.closed)
      scheduler.monitor.queueDidChange()
    }
  }

  // MARK: Refusing

  /// Refuses new operations, which are claimed for this queue and were not pushed into its inbox.
  ///
  /// The operations are cancelled on the calling thread. Another queue finishes them, because this queue may be
  /// suspended or have no free slot.
  ///
  /// - Parameters:
  ///   - first: The oldest operation.
  ///   - last: The newest operation. The operations are linked through `inboxNext`.
  func refuse(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    var operations: [Operation] = []
    var current: Unmanaged<Operation>? = last
    while let reference = current {
      let operation = reference.takeRetainedValue()
      current = reference.toOpaque() == first.toOpaque() ? nil : operation.inboxNext
      operation.inboxNext = nil
      operations.append(operation)
    }
    let error = OperationQueueClosedError(queue: id, name: owner.takeUnretainedValue().givenName)
    for operation in operations.reversed() {
      takeBack(operation)
      // The record, if there is one, belongs to this queue, which the operation has not entered.
      operation.withRare { $0?.record = nil }
      error.refuse(operation)
      // If `cancel()` has finished the operation, it cannot be added. It needs no queue in that case.
      _ = OperationQueue.refused.core.add(operation)
    }
  }

  /// Refuses a barrier, whose block is released without running.
  func refuseBarrier() {
    OperationQueueClosedError(queue: id, name: owner.takeUnretainedValue().givenName).noteBarrier()
  }

  // MARK: Cancelling what has not started

  /// Cancels the operations and barriers that have not started.
  func cancelPending() {
    let (operations, cause) = withScheduler { scheduler, _ in
      let cause = CancellationCause.queue(id)
      return (scheduler.cancelPending(MonitorLevel.isOn ? cause : nil), cause)
    }
    cancelWithheld(operations, because: cause)
  }

  /// Cancels operations that the scheduler withholds, and then lets the queue start those whose override of
  /// `cancel()` has not cancelled them.
  func cancelWithheld(_ operations: [Operation], because cause: CancellationCause? = nil) {
    if operations.isEmpty { return }
    for operation in operations {
      CancellationScope.cancel(operation, because: cause ?? .queue(id)) { operation.cancel() }
    }
    withScheduler { scheduler, _ in scheduler.stopWithholding(operations) }
  }
}

extension OperationQueueClosedError {
  /// Cancels an operation that a closed queue refuses, and reports the addition.
  ///
  /// If the override of `cancel()` in a subclass does not cancel the operation, the base class does, so that the
  /// operation does not run.
  fileprivate func refuse(_ operation: Operation) {
    OperationDiagnostic.note(
      .addsToClosedQueue,
      "\(operation.description) was added to the queue “\(name)”, which is closed; the operation is cancelled "
        + "and does not run")
    operation.cancel(with: self)
    if !operation.status.load(ordering: .acquiring).isCancelled { operation.performCancel() }
  }

  fileprivate func noteBarrier() {
    OperationDiagnostic.note(
      .addsToClosedQueue,
      "a barrier was added to the queue “\(name)”, which is closed; its block does not run")
  }

  /// Refuses an operation that was pushed into the queue's inbox while another thread closed the queue; if
  /// `operation` is `nil`, a barrier.
  func refuseLate(_ operation: Operation?) {
    // The code of the user must not run on this thread, which may be a worker between two operations.
    OperationQueue.duties.addOperation {
      if let operation { refuse(operation) } else { noteBarrier() }
    }
  }
}

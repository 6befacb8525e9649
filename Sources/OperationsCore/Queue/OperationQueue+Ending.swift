// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What `shutdown(_:)` does with the operations that
/// a queue has when it is closed.
public enum OperationQueueShutdownMode: Sendable, Hashable, CaseIterable {
  /// All operations run.
  case drain
  /// Operations that have not started are cancelled, as by
  /// ``OperationQueueSupplement/cancelPendingOperations()``. Executing operations continue to their end.
  case cancelPending
  /// All operations are cancelled, as by ``OperationQueue/cancelAllOperations()``.
  case cancelAll
}

/// The error of an operation that was added to a closed queue. The operation is cancelled with this error.
public struct OperationQueueClosedError: Error, Equatable, CustomStringConvertible {
  /// Identifies the closed queue.
  public let queue: QueueID
  /// The name of the closed queue, or its default name, when the operation was added.
  public let name: String

  /// What happened, in one sentence.
  public var description: String { "the queue “\(name)” is closed and accepts no operations" }
}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Cancels the operations and barriers of the queue that have not started. Executing operations are not
  /// cancelled.
  ///
  /// The method decides about all operations at one moment. An operation that the queue has started before this
  /// moment is not cancelled. An operation that has not started is cancelled, and does not start between the
  /// decision and its cancellation. So the body of an operation either runs without being cancelled by this
  /// method, or never runs. Operations that are added after this moment are not cancelled.
  ///
  /// The operations are cancelled in the order of addition, barriers first. Like all cancelled operations, they
  /// leave the queue when a slot is free. The members of a group that has started are not cancelled. A subclass's
  /// `cancel()` is called on this thread, and if it does not cancel the operation, the operation runs. Can be called
  /// on any thread, also in an operation of the queue. A call takes a time that is proportional to the number of
  /// operations in the queue.
  public func cancelPendingOperations() { core.cancelPending() }

  /// Whether the queue is closed, because `shutdown(_:)` was called. A closed queue
  /// accepts no operations and cannot be opened again. Can be read on any thread.
  public var isClosed: Bool { core.isClosed }

  /// Closes the queue, and blocks until all of its operations and barriers have finished.
  ///
  /// The queue is closed at one moment. An operation that was added before this moment belongs to the queue, and
  /// the call waits for it. An operation that is added later is refused: it is cancelled with an
  /// ``OperationQueueClosedError``, it finishes without running, and the addition is reported as an
  /// ``OperationDiagnostic``. If one thread adds an operation while another thread closes the queue, a refused
  /// operation may be cancelled after the addition has returned. Blocks and barriers that are refused do not run.
  ///
  /// If the queue is suspended, this method resumes it, and if its width is 0, the width becomes the default width,
  /// because the operations could not finish otherwise. With `.cancelPending` and `.cancelAll`, the operations are
  /// cancelled before that.
  ///
  /// - An operation with unmet dependencies is waited for too, and keeps the queue from becoming empty as long as it
  ///   waits. With `.drain`, the call does not return if such a dependency never finishes. The other modes cancel the
  ///   operation, and it waits for nothing.
  /// - A ``GroupOperation`` that has started can still add members to itself, because its members are not operations
  ///   of this queue.
  /// - Completion blocks may run after this method has returned.
  /// - A second call waits too. It applies its own mode to the operations that have not finished, so that a call with
  ///   `.cancelAll` makes an earlier call with `.drain` return sooner.
  /// - The ``OperationQueue/main`` queue cannot be closed. The call has no effect and is reported as an
  ///   ``OperationDiagnostic``.
  ///
  /// - Parameter mode: What happens to the operations that the queue has.
  /// - Precondition: The caller is not inside one of the queue's own operations. It is not on the main thread if
  ///   only this thread can start the operations.
  @available(
    *, noasync, message: "Blocks a thread. In an asynchronous function, call `await shutdown()`"
  )
  public func shutdown(_ mode: OperationQueueShutdownMode = .drain) {
    let method = "-[OperationQueue shutdown:]"
    guard mayBeClosed, mayWait(method) else { return }
    close(mode)
    waitUntilEmpty()
  }

  /// Closes the queue, and waits until all of its operations and barriers have finished, without blocking a
  /// thread.
  ///
  /// The rules of the blocking method apply. If the waiting task is cancelled, the wait continues, so that a program
  /// does not end while its operations execute. To end the wait sooner, cancel the operations:
  ///
  /// ```swift
  /// await withTaskCancellationHandler {
  ///   await queue.shutdown()
  /// } onCancel: {
  ///   queue.cancelAllOperations()
  /// }
  /// ```
  ///
  /// - Parameter mode: What happens to the operations that the queue has.
  /// - Precondition: The caller is not inside one of the queue's own operations.
  public func shutdown(_ mode: OperationQueueShutdownMode = .drain) async {
    guard mayBeClosed, !isInsideOwnOperation("-[OperationQueue shutdown:]") else { return }
    close(mode)
    let task = WaitingTask()
    guard core.withScheduler({ scheduler, _ in scheduler.addWaiterForEmpty(task) }) else { return }
    ForkedProcess.check("to wait for the operations of a queue")
    _ = await CurrentWork.awaiting(.queue(self)) {
      await task.waitRegardless()
      return true
    }
  }
}

extension OperationQueue {
  /// Closes the queue, and cancels the operations that the mode selects. A suspended queue is resumed.
  fileprivate final func close(_ mode: OperationQueueShutdownMode) {
    core.close()
    switch mode {
    case .drain: break
    case .cancelPending: core.cancelPending()
    case .cancelAll: cancelAllOperations()
    }
    resumeForEnding()
  }

  /// Makes it possible for operations to leave the queue: resumes it, and gives it the default width if its width
  /// is 0.
  final func resumeForEnding() {
    if givenWidth == 0 { maxConcurrentOperationCount = Self.defaultMaxConcurrentOperationCount }
    if givenSuspension { isSuspended = false }
  }

  /// Returns whether the queue can be closed, and reports the attempt to close ``main``.
  fileprivate final var mayBeClosed: Bool {
    if core.isMain {
      OperationDiagnostic.note(
        .shutsDownMainQueue, "OperationQueue.main cannot be closed; shutdown() has no effect")
    }
    return !core.isMain
  }

  // MARK: Waiting

  /// Returns whether the calling thread can wait until the queue is empty, and reports a mistake otherwise.
  final func mayWait(_ method: String) -> Bool {
    CurrentWork.retireWhatHasRun()
    if isInsideOwnOperation(method) { return false }
    if core.isOnMainDispatchQueue, MainDispatchQueue.isHeldHere, core.hasPending {
      refuseToWaitOnMain(method)
      return false
    }
    return true
  }

  /// Returns whether the caller is inside an operation of the queue, and reports its wait as a mistake in that case.
  final func isInsideOwnOperation(_ method: String) -> Bool {
    guard CurrentWork.isInsideOperation(of: core) else { return false }
    OperationMisuse.raise(
      .waitInsideOwnQueue,
      "\(method): called inside an operation of “\(name ?? "")”, which would wait for itself")
    return true
  }

  /// Blocks the calling thread until the queue is empty.
  final func waitUntilEmpty() {
    let latch = Latch()
    guard core.withScheduler({ scheduler, _ in scheduler.addWaiterForEmpty(latch) }) else { return }
    ForkedProcess.check("to wait for the operations of a queue")
    CurrentWork.waiting(for: .queue(self)) { latch.wait() }
  }
}

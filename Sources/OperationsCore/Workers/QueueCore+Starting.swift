// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueCore {
  /// Starts a chosen operation on the calling thread. The caller has stored the operation in
  /// `scope`. If ``StartableOperation/isPlain`` is `false`, the caller releases the operation after
  /// this call.
  ///
  /// - Returns: The finished work, which the queue must handle.
  @inline(__always)
  func start(
    _ operation: StartableOperation, _ scope: UnsafeMutablePointer<CurrentWork.Scope>
  ) -> FinishedWork {
    guard operation.isPlain else {
      operation.reference._withUnsafeGuaranteedRef {
        startAsking($0, countsAsStart: operation.countsAsStart)
      }
      if let job = scope.pointee.firstJob.take() {
        CurrentWork.passNextQueueOn(scope)
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
      if scope.pointee.retired != nil { CurrentWork.releaseRetired(scope) }
      return FinishedWork()
    }
    return startPlain(operation, scope)
  }

  /// Starts a plain operation: its class is exactly `BlockOperation`, and it has no exclusions.
  @inline(__always)
  func startPlain(
    _ operation: StartableOperation, _ scope: UnsafeMutablePointer<CurrentWork.Scope>
  ) -> FinishedWork {
    let madeReady = operation.reference._withUnsafeGuaranteedRef {
      unsafeDowncast($0, to: BlockOperation.self).startWithoutRetiring(in: self, scope)
    }
    guard let madeReady else {
      CurrentWork.releaseRetired(scope)
      return FinishedWork()
    }
    return FinishedWork(operation: FinishedBlock(operation), madeReady: madeReady)
  }

  private func mayStart(_ operation: Operation, _ status: OperationStatus) -> Bool {
    if operation.isReady { return !status.has(.excludesOthers) || operation.hasItsTurn() }
    if status.has(.excludesOthers) { operation.loseItsTurn(isReady: false) }
    return false
  }

  @inline(never)
  private func startAsking(_ operation: Operation, countsAsStart: Bool) {
    // This is the last time that a subclass's `isReady` is read before the start. The thread holds
    // no locks. A barrier that is due always starts: it is not counted, so it cannot be given back.
    let status = operation.status.load(ordering: .acquiring)
    if !status.has(.cancelled), !status.has(.barrier), !mayStart(operation, status) {
      let mustCancel = withScheduler { scheduler, _ in
        if countsAsStart { scheduler.withdrawStart() }
        return scheduler.giveBack(operation, reading: status.reading)
      }
      if mustCancel { cancelWithheld([operation]) }
      return
    }
    if countsAsStart {
      if status.isCancelled {
        withScheduler { scheduler, _ in scheduler.withdrawStart() }
      } else {
        recordStart()
      }
    }
    if operation.isExactlyBlockOperation {
      // This thread does not call `start()`: for a block operation, `start()` treats every call as
      // a direct call by the program.
      if operation.run(isByHand: false) { operation.finishWasSet() }
    } else if status.has(.cancelled) {
      operation.start()
    } else {
      operation.withContext {
        operation.start()
        return operation.status.load(ordering: .acquiring).isFinished
      }
    }
  }
}

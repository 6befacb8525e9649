// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension QueueCore {
  /// Starts an operation that was taken, on the calling thread, which says in its frame that it runs
  /// this one.
  ///
  /// - Returns: What is still to be done in the queue.
  @inline(__always)
  func start(_ operation: StartableOperation) -> FinishedWork {
    guard operation.isPlain else {
      startAsking(operation.reference.takeRetainedValue())
      return FinishedWork()
    }
    return FinishedWork(
      operation: FinishedBlock(operation),
      madeReady: operation.reference._withUnsafeGuaranteedRef {
        unsafeDowncast($0, to: BlockOperation.self).startWithoutRetiring(in: self)
      })
  }

  @inline(never)
  private func startAsking(_ operation: Operation) {
    // The last moment to ask a subclass, on a thread that holds no lock of anybody's.
    let status = operation.status.load(ordering: .acquiring)
    if !status.isCancelled,
      !operation.isReady || status.has(.excludesOthers) && !operation.hasItsTurn()
    {
      withScheduler { scheduler, _ in scheduler.park(operation, reading: status.reading) }
    } else if operation.isExactlyBlockOperation {
      // Whose `start()` takes every call for one by hand.
      if operation.run(isByHand: false) { operation.finishWasSet() }
    } else {
      operation.start()
    }
  }
}

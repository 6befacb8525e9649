// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The work that a worker has done for its queue.
struct FinishedWork {
  /// The operation that has run and must be retired.
  var operation: FinishedBlock?
  /// Operations of the same queue that this has made ready. They are handed over in the critical
  /// section in which the worker takes the next operation anyway, which is most often one of them.
  var madeReady = OperationChain()
}

/// A plain block operation that a worker has executed. Its queue keeps it alive until it is
/// retired.
struct FinishedBlock {
  private let reference: Unmanaged<Operation>

  init(_ operation: StartableOperation) { reference = operation.reference }

  /// - Precondition: The operation is a plain block operation.
  init(_ operation: Unmanaged<Operation>) { reference = operation }

  @inline(__always)
  var isBarrier: Bool { reference._withUnsafeGuaranteedRef { $0.isBarrier } }

  /// - Returns: `false` if the finish must be announced first. In that case nothing was changed.
  @inline(__always)
  func retire(_ scheduler: inout QueueScheduler, _ effects: inout QueueEffects) -> Bool {
    reference._withUnsafeGuaranteedRef { scheduler.retire($0, &effects) }
  }

  /// Returns whether `released` is only this block, and releasing it releases nothing else.
  @inline(__always)
  func isAll(of released: Unmanaged<Operation>) -> Bool {
    reference._withUnsafeGuaranteedRef {
      reference.toOpaque() == released.toOpaque() && $0.inboxNext == nil && $0.isNothingButBlock
    }
  }

  /// Finishes the block, if necessary, and retires it.
  ///
  /// - Precondition: If the block has finished, its dependents have been notified.
  func retire(from queue: QueueCore) {
    let operation = reference.takeUnretainedValue()
    if operation.status.load(ordering: .acquiring).isFinished {
      queue.retire(operation)
    } else {
      finishAndRetire()
    }
  }

  /// Finishes the block, if necessary, and performs all steps that follow the finish.
  func finishAndRetire() {
    let operation = reference.takeUnretainedValue()
    operation.finishRun()
    operation.finishWasSet()
  }
}

/// An operation that a queue has chosen to be started.
struct StartableOperation {
  let reference: Unmanaged<Operation>
  /// Whether it is a plain block operation, which may start without a check. Its queue keeps it
  /// alive until the thread that starts it retires it.
  let isPlain: Bool

  /// Retains an operation that is not plain. It may finish on its own before it is started, and the
  /// queue releases it then.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - isBlock: Whether its class is exactly `BlockOperation`.
  ///   - status: Its status when it was chosen.
  /// - Precondition: The queue's lock is held.
  @inline(__always)
  init(_ operation: Unmanaged<Operation>, isBlock: Bool, _ status: OperationStatus) {
    reference = operation
    isPlain = isBlock && !status.has(.excludesOthers)
    if !isPlain { _ = operation.retain() }
  }
}

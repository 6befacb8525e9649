// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// What a worker brings back to its queue.
struct FinishedWork {
  /// What has run and is still to be retired.
  var operation: FinishedBlock?
  /// Operations of the same queue that this has made ready: handed over in the critical section in
  /// which the worker takes the next one anyway, which is most often one of them.
  var madeReady = OperationChain()
}

/// A plain block operation that a worker has run. Its queue keeps it alive until it is retired.
struct FinishedBlock {
  private let reference: Unmanaged<Operation>

  init(_ operation: StartableOperation) { reference = operation.reference }

  /// - Precondition: It is a plain block operation.
  init(_ operation: Unmanaged<Operation>) { reference = operation }

  @inline(__always)
  var isBarrier: Bool { reference._withUnsafeGuaranteedRef { $0.isBarrier } }

  /// - Returns: `false`, with nothing done, where somebody has to be told of the finish first.
  @inline(__always)
  func retire(_ scheduler: inout QueueScheduler, _ effects: inout QueueEffects) -> Bool {
    reference._withUnsafeGuaranteedRef { scheduler.retire($0, &effects) }
  }

  /// Whether `released` is this block alone, and releasing it releases nothing else.
  @inline(__always)
  func isAll(of released: Unmanaged<Operation>) -> Bool {
    reference._withUnsafeGuaranteedRef {
      reference.toOpaque() == released.toOpaque() && $0.inboxNext == nil && $0.isNothingButBlock
    }
  }

  /// Finishes it, if that is not done, and retires it.
  ///
  /// - Precondition: If it has finished, its dependents have been told.
  func retire(from queue: QueueCore) {
    let operation = reference.takeUnretainedValue()
    if operation.status.load(ordering: .acquiring).isFinished {
      queue.retire(operation)
    } else {
      finishAndRetire()
    }
  }

  /// Finishes it, if that is not done, and does all that follows the finish.
  func finishAndRetire() {
    let operation = reference.takeUnretainedValue()
    operation.finishRun()
    operation.finishWasSet()
  }
}

/// An operation that a queue has chosen to be started.
struct StartableOperation {
  let reference: Unmanaged<Operation>
  /// Whether it is a plain block operation, with nobody to ask whether it may start. Its queue keeps it
  /// alive until it is retired, by whoever starts it.
  let isPlain: Bool

  /// Retains what may finish by itself before it is started, upon which the queue lets go of it.
  ///
  /// - Precondition: The queue's lock is held.
  @inline(__always)
  init(_ operation: Unmanaged<Operation>) {
    reference = operation
    isPlain = operation._withUnsafeGuaranteedRef {
      $0.isExactlyBlockOperation
        && !$0.status.load(ordering: .relaxed).has(.excludesOthers)
    }
    if !isPlain { _ = operation.retain() }
  }
}

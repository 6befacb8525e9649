// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The work that a worker has done for its queue.
struct FinishedWork {
  /// The operation that the worker has run, and that must leave its queue (be retired).
  var operation: FinishedBlock?
  /// Operations of the same queue that became ready when the executed operation finished. They are
  /// handed over to the queue in the critical section in which the worker takes its next operation.
  /// In most cases, the worker takes one of them.
  var madeReady = OperationChain()
}

/// An operation that a worker has executed. Its queue keeps the operation alive until the operation
/// is retired (has left the queue).
struct FinishedBlock {
  private let reference: Unmanaged<Operation>

  init(_ operation: StartableOperation) { reference = operation.reference }

  /// Creates a value for an operation that a worker has executed.
  init(_ operation: Unmanaged<Operation>) { reference = operation }

  @inline(__always)
  var isBarrier: Bool { reference._withUnsafeGuaranteedRef { $0.isBarrier } }

  /// Retires the executed operation: makes it leave its queue.
  ///
  /// - Returns: `false` if the finish must be announced first. In that case nothing was changed.
  @inline(__always)
  func retire(_ scheduler: inout QueueScheduler, _ effects: inout QueueEffects) -> Bool {
    reference._withUnsafeGuaranteedRef { scheduler.retire($0, &effects) }
  }

  /// Returns whether `released`, a list of operations to release, contains only this operation, and
  /// the release of this operation releases no other object.
  ///
  /// - Precondition: The class of this operation is exactly `BlockOperation`.
  @inline(__always)
  func isAll(of released: Unmanaged<Operation>) -> Bool {
    reference._withUnsafeGuaranteedRef {
      reference.toOpaque() == released.toOpaque() && $0.inboxNext == nil && $0.isNothingButBlock
    }
  }

  /// Finishes the executed operation if it has not finished, and retires it (makes it leave its
  /// queue).
  ///
  /// - Precondition: If the operation has finished, its dependents have been notified.
  func retire(from queue: QueueCore) {
    let operation = reference.takeUnretainedValue()
    if operation.status.load(ordering: .acquiring).isFinished {
      queue.retire(operation)
    } else {
      finishAndRetire()
    }
  }

  /// Finishes the executed operation if it has not finished, and performs all steps that follow the
  /// finish.
  func finishAndRetire() {
    let operation = reference.takeUnretainedValue()
    operation.finishRun()
    operation.finishWasSet()
  }
}

/// An operation that a queue has chosen to be started.
struct StartableOperation {
  let reference: Unmanaged<Operation>
  /// Whether the operation can start without a check: its class is exactly `BlockOperation`, and it
  /// has no exclusions. The queue keeps such an operation alive until the thread that starts the
  /// operation retires it.
  var isPlain: Bool { kind == .plain }
  /// Whether the operation counts as a start of a queue with a limit of starts.
  var countsAsStart: Bool { kind == .counted }
  private let kind: Kind

  /// The steps before the start of an operation.
  private enum Kind: UInt8 {
    /// The operation starts without a check.
    case plain
    /// The operation may need a check.
    case checked
    /// The operation may need a check, and its start is counted.
    case counted
  }

  /// Creates a value for a chosen operation, and retains the operation if ``isPlain`` is `false`.
  /// Such an operation may finish on its own before it is started, and its queue would then release
  /// it.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - isBlock: Whether the operation's class is exactly `BlockOperation`.
  ///   - status: The status of the operation when it was chosen.
  ///   - countsAsStart: Whether the operation counts as a start. If it does, `isBlock` must be `false`.
  /// - Precondition: The caller holds the queue's lock.
  @inline(__always)
  init(
    _ operation: Unmanaged<Operation>, isBlock: Bool, _ status: OperationStatus,
    countsAsStart: Bool = false
  ) {
    reference = operation
    kind = isBlock && !status.has(.excludesOthers) ? .plain : countsAsStart ? .counted : .checked
    if kind != .plain { _ = operation.retain() }
  }
}

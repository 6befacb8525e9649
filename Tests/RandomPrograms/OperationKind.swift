// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The kinds of operations in random programs.
enum OperationKind: Hashable, Sendable, CaseIterable {
  /// A `BlockOperation`, and no subclass of it: queues start and finish it by a fast path.
  case block
  /// A subclass that overrides only `main()`.
  case plain
  /// A subclass with its own `isExecuting` and `isFinished`. It announces changes without holding
  /// its lock.
  case asynchronous
  /// A subclass that overrides `main()` and `isFinished`. Its `main()` returns immediately, and it
  /// announces its finish later.
  case late
  /// A subclass like `asynchronous`, but its `start()` returns only after the operation has left
  /// its queue.
  case lingering
  /// A subclass like `asynchronous` that also has its own `isCancelled`. Its `cancel()` does not
  /// call `super`, finishes the operation immediately, and announces all changes under the
  /// operation's lock.
  case selfFinishing
  /// A subclass with one property `phase`, from which `isReady`, `isExecuting` and `isFinished` are
  /// derived. It is not ready after it has started or finished. Its `cancel()` calls `super` and
  /// finishes the operation.
  case stateful
  /// A subclass whose `isReady` is `super.isReady` combined with its own condition.
  case conditional
  /// A subclass whose `isReady` is only its own condition: dependencies do not keep it waiting.
  case oblivious
  /// A barrier block. The queue creates the operation, so the program can only add the barrier and
  /// let it finish.
  case barrier

  /// Whether a step of the program finishes the operation. A synchronous operation finishes when
  /// its `main()` or its block returns.
  var isAsynchronous: Bool {
    self == .asynchronous || self == .late || self == .lingering || finishesOnCancel
  }

  /// Whether `start()` returns only after the operation has finished.
  var blocksStart: Bool { !isAsynchronous || self == .lingering }

  /// Whether `cancel()` finishes the operation in any state.
  var finishesOnCancel: Bool { self == .selfFinishing || self == .stateful }

  /// Whether the model can predict the readiness of an operation of this kind that has mutual
  /// exclusions or requires the success of dependencies.
  var hasPlainReadiness: Bool { !hasCondition && self != .barrier }

  /// Whether `isReady` includes a condition of the subclass.
  var hasCondition: Bool { self == .conditional || self == .oblivious }
}

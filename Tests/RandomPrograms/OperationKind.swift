// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The kinds of operations in programs.
enum OperationKind: Hashable, Sendable, CaseIterable {
  /// Exactly a `BlockOperation`: the queue has a fast path to start and retire it.
  case block
  /// A subclass that overrides `main()`.
  case plain
  /// A subclass with its own `isExecuting` and `isFinished`, announced outside its lock.
  case asynchronous
  /// A subclass that overrides `main()`, which returns at once, and `isFinished`, which it announces later.
  case late
  /// Like `asynchronous`, but its `start()` returns only after the operation has left its queue.
  case lingering
  /// Like `asynchronous`, with its own `isCancelled` too: `cancel()` does not call `super`,
  /// finishes it at once, and announces everything under its lock.
  case selfFinishing
  /// A subclass with one phase, from which `isReady`, `isExecuting` and `isFinished` are derived:
  /// it is not ready after it has started or finished. `cancel()` calls `super` and finishes it.
  case stateful
  /// A subclass whose `isReady` is `super.isReady` combined with its own condition.
  case conditional
  /// A subclass whose `isReady` is only its own condition: dependencies do not keep it waiting.
  case oblivious
  /// A barrier block. Its queue creates it: the program can only add it and let it finish.
  case barrier

  /// Whether the program finishes it, instead of the return of its body.
  var isAsynchronous: Bool {
    self == .asynchronous || self == .late || self == .lingering || finishesOnCancel
  }

  /// Whether `start()` is blocked until the operation finishes.
  var blocksStart: Bool { !isAsynchronous || self == .lingering }

  /// Whether `cancel()` finishes it in any state.
  var finishesOnCancel: Bool { self == .selfFinishing || self == .stateful }

  /// Whether the model predicts the readiness of the operation with exclusions and requirements.
  var hasPlainReadiness: Bool { !hasCondition && self != .barrier }

  /// Whether `isReady` includes its own condition.
  var hasCondition: Bool { self == .conditional || self == .oblivious }
}

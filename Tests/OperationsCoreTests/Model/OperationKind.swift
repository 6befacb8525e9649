// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The kinds of operations that programs are made of.
enum OperationKind: Hashable, Sendable, CaseIterable {
  /// Exactly a `BlockOperation`: the queue starts and retires it by a way of its own.
  case block
  /// A subclass that overrides `main()`.
  case plain
  /// A subclass with `isExecuting` and `isFinished` of its own, announced outside its lock.
  case asynchronous
  /// A subclass that overrides `main()`, which returns at once, and `isFinished`, which it announces later.
  case late
  /// As `asynchronous`, but its `start()` returns only after the operation has left its queue.
  case lingering
  /// As `asynchronous`, with `isCancelled` too: `cancel()` does not call `super`, finishes it at
  /// once, and announces everything under its lock.
  case selfFinishing
  /// A subclass with one phase, from which `isReady`, `isExecuting` and `isFinished` are derived: it
  /// is ready no more once it has started or finished. `cancel()` calls `super` and finishes it.
  case stateful
  /// A subclass whose `isReady` is `super.isReady` and a condition of its own.
  case conditional
  /// A subclass whose `isReady` is a condition of its own alone: dependencies do not hold it up.
  case oblivious
  /// A barrier block. It is its queue's own: the program can only add it and let it finish.
  case barrier

  /// Whether the program says when it has finished, rather than a body that returns.
  var isAsynchronous: Bool {
    self == .asynchronous || self == .late || self == .lingering || finishesOnCancel
  }

  /// Whether `start()` is blocked until the operation finishes.
  var blocksStart: Bool { !isAsynchronous || self == .lingering }

  /// Whether `cancel()` finishes it, wherever it is.
  var finishesOnCancel: Bool { self == .selfFinishing || self == .stateful }

  /// Whether `isReady` has a part of its own.
  var hasCondition: Bool { self == .conditional || self == .oblivious }
}

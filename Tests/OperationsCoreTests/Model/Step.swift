// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// One thing that a program does. Operations and queues are meant by their index in the program.
///
/// What a step asks for may be impossible when its turn comes: the operation is in a queue already,
/// or its reference was dropped. Then it is left out, so that every part of a program is a program.
enum Step: Hashable, Sendable {
  /// `addOperation`, `addOperations` where there are several, `addBarrierBlock` for a barrier.
  case add([Int], to: Int)
  /// `start()` by hand, on a thread of its own.
  case start(Int)
  /// Lets the body of one that executes return; an asynchronous one says that it has finished, even
  /// before it was started.
  case finish(Int)
  case cancel(Int)
  case cancelAll(in: Int)
  case depend(Int, on: Int)
  case undepend(Int, from: Int)
  case prioritise(Int, Operation.QueuePriority)
  /// The operation's own part of `isReady` becomes `true`, and that is announced.
  case allow(Int)
  /// The operation's own part of `isReady` becomes `false`, and that is announced.
  case forbid(Int)
  case suspend(Int)
  case resume(Int)
  case setWidth(Int, Int)
  /// The program lets go of its reference.
  case drop(Int)
  case dropQueue(Int)
  /// `waitUntilFinished()`, on a thread of its own.
  case wait(Int)
  /// `waitUntilAllOperationsAreFinished()`, on a thread of its own.
  case waitForAll(in: Int)
}

// MARK: - Indices

extension Step {
  /// The operations that the step is about.
  var operations: [Int] {
    switch self {
    case .add(let members, to: _): members
    case .depend(let operation, on: let other), .undepend(let operation, from: let other):
      [operation, other]
    case .start(let operation), .finish(let operation), .cancel(let operation),
      .prioritise(let operation, _), .allow(let operation), .forbid(let operation),
      .drop(let operation), .wait(let operation):
      [operation]
    case .cancelAll, .suspend, .resume, .setWidth, .dropQueue, .waitForAll: []
    }
  }

  /// The queue that the step is about.
  var queue: Int? {
    switch self {
    case .add(_, to: let queue), .cancelAll(in: let queue), .suspend(let queue),
      .resume(let queue), .setWidth(let queue, _), .dropQueue(let queue),
      .waitForAll(in: let queue):
      queue
    case .start, .finish, .cancel, .depend, .undepend, .prioritise, .allow, .forbid, .drop, .wait:
      nil
    }
  }

  /// The same step with the indices that operations and queues have now, `nil` where they are no
  /// more; `nil` where nothing is left of it.
  func renumbered(operation: (Int) -> Int?, queue: (Int) -> Int?) -> Step? {
    switch self {
    case .add(let members, let target):
      let left = members.compactMap(operation)
      return left.isEmpty ? nil : queue(target).map { .add(left, to: $0) }
    case .depend(let dependent, let dependency):
      guard let dependent = operation(dependent), let dependency = operation(dependency) else {
        return nil
      }
      return .depend(dependent, on: dependency)
    case .undepend(let dependent, let dependency):
      guard let dependent = operation(dependent), let dependency = operation(dependency) else {
        return nil
      }
      return .undepend(dependent, from: dependency)
    case .start(let one): return operation(one).map { .start($0) }
    case .finish(let one): return operation(one).map { .finish($0) }
    case .cancel(let one): return operation(one).map { .cancel($0) }
    case .prioritise(let one, let priority):
      return operation(one).map { .prioritise($0, priority) }
    case .allow(let one): return operation(one).map { .allow($0) }
    case .forbid(let one): return operation(one).map { .forbid($0) }
    case .drop(let one): return operation(one).map { .drop($0) }
    case .wait(let one): return operation(one).map { .wait($0) }
    case .cancelAll(let one): return queue(one).map { .cancelAll(in: $0) }
    case .suspend(let one): return queue(one).map { .suspend($0) }
    case .resume(let one): return queue(one).map { .resume($0) }
    case .setWidth(let one, let width): return queue(one).map { .setWidth($0, width) }
    case .dropQueue(let one): return queue(one).map { .dropQueue($0) }
    case .waitForAll(let one): return queue(one).map { .waitForAll(in: $0) }
    }
  }
}

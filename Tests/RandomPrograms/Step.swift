// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// A step of a random program. It refers to operations and queues by their indices in the program.
///
/// A step may be impossible when it is performed, because the operation is already in a queue, or
/// because the program has released its reference. An impossible step is skipped, so every part of
/// a program is a valid program.
enum Step: Hashable, Sendable {
  /// Adds operations to a queue: calls `addOperation`, `addOperations` for several operations, or
  /// `addBarrierBlock` for a barrier.
  case add([Int], to: Int)
  /// Calls `start()` of an operation directly, on a new thread.
  case start(Int)
  /// Ends the work of an executing operation. An asynchronous operation announces its finish, and
  /// may do so before its start.
  case finish(Int)
  case cancel(Int)
  case cancelAll(in: Int)
  case depend(Int, on: Int)
  /// Makes an operation depend on the success of another one: calls `addDependency(_:requires:)`
  /// with `.success`.
  case require(Int, on: Int)
  case undepend(Int, from: Int)
  case prioritise(Int, Operation.QueuePriority)
  /// Sets the operation's own condition to `true`, and announces the change of `isReady`.
  case allow(Int)
  /// Sets the operation's own condition to `false`, and announces the change of `isReady`.
  case forbid(Int)
  case suspend(Int)
  case resume(Int)
  case setWidth(Int, Int)
  /// Releases the program's reference to an operation.
  case drop(Int)
  case dropQueue(Int)
  /// Calls `waitUntilFinished()` of an operation, on a new thread.
  case wait(Int)
  /// Calls `waitUntilAllOperationsAreFinished()` of a queue, on a new thread.
  case waitForAll(in: Int)
}

// MARK: - Indices

extension Step {
  /// The operations that a step of a random program uses.
  var operations: [Int] {
    switch self {
    case .add(let members, to: _): members
    case .depend(let operation, on: let other), .require(let operation, on: let other),
      .undepend(let operation, from: let other):
      [operation, other]
    case .start(let operation), .finish(let operation), .cancel(let operation),
      .prioritise(let operation, _), .allow(let operation), .forbid(let operation),
      .drop(let operation), .wait(let operation):
      [operation]
    case .cancelAll, .suspend, .resume, .setWidth, .dropQueue, .waitForAll: []
    }
  }

  /// The queue that a step of a random program uses, if any.
  var queue: Int? {
    switch self {
    case .add(_, to: let queue), .cancelAll(in: let queue), .suspend(let queue),
      .resume(let queue), .setWidth(let queue, _), .dropQueue(let queue),
      .waitForAll(in: let queue):
      queue
    case .start, .finish, .cancel, .depend, .require, .undepend, .prioritise, .allow, .forbid,
      .drop, .wait:
      nil
    }
  }

  /// Returns the step with new indices of its operations and queues. The closures return `nil` for
  /// an operation or a queue that was removed. Returns `nil` if nothing remains of the step.
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
    case .require(let dependent, let dependency):
      guard let dependent = operation(dependent), let dependency = operation(dependency) else {
        return nil
      }
      return .require(dependent, on: dependency)
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// Performs the steps of a random program on several threads. It skips a step if the step would be
/// a misuse for some order of the threads, and records which operations the steps force to run
/// before others.
final class StepGate: Sendable {
  /// The actions that exclude each other. Each operation has at most one of them: for example, it is
  /// added to a queue or started directly.
  private enum Claim { case free, adding, added, started, finishedEarly }

  private let world: World
  private let claims: Monitored<[Claim]>
  /// The operations that a step starts directly. They get no dependencies, because they must be
  /// ready when they are started.
  private let startedByHand: Set<Int>
  /// The operations that a step waits for. The program keeps its references to them, because it
  /// could not finish them otherwise.
  private let waitedFor: Set<Int>
  /// The pairs of operations for which a step removes the dependency of the first on the second.
  private let loosened: Set<[Int]>

  init(_ world: World) {
    self.world = world
    let program = world.program
    claims = Monitored(Array(repeating: .free, count: program.operations.count))
    var startedByHand: Set<Int> = []
    var waitedFor: Set<Int> = []
    var loosened: Set<[Int]> = []
    for step in program.steps {
      switch step {
      case .start(let index) where !program.operations[index].kind.hasCondition:
        startedByHand.insert(index)
      case .wait(let index): waitedFor.insert(index)
      case .undepend: loosened.insert(step.operations.sorted())
      default: break
      }
    }
    self.startedByHand = startedByHand
    self.waitedFor = waitedFor
    self.loosened = loosened
  }

  private var program: Program { world.program }

  /// Performs a step before the threads begin, and records the dependency that it adds.
  func prepare(_ step: Step) {
    perform(step)
    let index: Int, other: Int
    switch step {
    case .depend(let one, on: let another), .require(let one, on: let another):
      (index, other) = (one, another)
    default: return
    }
    guard isDependent(index), index != other else { return }
    guard program.operations[other].kind != .barrier, !loosened.contains([other, index]),
      program.operations[index].kind != .oblivious
    else { return }
    let isRequired = if case .require = step { mayRequire(index) } else { false }
    world.reports.note { state in
      state.entries[index].predecessors.append(other)
      if isRequired { state.entries[index].required.append(other) }
    }
  }

  /// Performs a step, unless it would be a misuse of the library.
  func perform(_ step: Step) {
    switch step {
    case .add(let members, to: let queue): add(members, to: queue)
    case .start(let index):
      guard startedByHand.contains(index), claim(index, .started) else { return }
      world.perform(step)
    case .finish(let index):
      if program.operations[index].kind.isAsynchronous { endEarly(index, step) }
    case .cancel(let index):
      if program.operations[index].kind.finishesOnCancel {
        endEarly(index, step)
      } else {
        world.perform(step)
      }
    case .cancelAll(in: let queue):
      // The cancellation may also affect operations that are being added to the queue at this
      // moment.
      for case .add(let members, to: queue) in program.steps { world.excuse(members) }
      world.perform(step)
    case .require(let index, on: let other):
      guard isDependent(index), index != other else { return }
      world.perform(mayRequire(index) ? step : .depend(index, on: other))
    case .depend(let index, on: let other), .undepend(let index, from: let other):
      if isDependent(index), index != other { world.perform(step) }
    case .drop(let index):
      if !waitedFor.contains(index) { world.perform(step) }
    case .prioritise, .allow, .forbid, .suspend, .resume, .setWidth, .dropQueue, .wait, .waitForAll:
      world.perform(step)
    }
  }

  /// Returns whether an operation may require the success of its dependencies. An operation that
  /// finishes when it is cancelled may not: it could finish before it is added to a queue.
  private func mayRequire(_ index: Int) -> Bool {
    let kind = program.operations[index].kind
    return kind.hasPlainReadiness && !kind.finishesOnCancel
  }

  private func isDependent(_ index: Int) -> Bool {
    !startedByHand.contains(index) && program.operations[index].kind != .barrier
  }

  // MARK: Claims

  /// Reserves an operation for an action that is possible only once.
  ///
  /// - Returns: Whether the calling thread was the first one to reserve the operation.
  private func claim(_ index: Int, _ claim: Claim) -> Bool {
    claims.change { claims in
      guard claims[index] == .free else { return false }
      claims[index] = claim
      return true
    }
  }

  private func add(_ members: [Int], to queue: Int) {
    let wanted = members.filter {
      !startedByHand.contains($0) && (program.operations[$0].kind != .barrier || members.count == 1)
    }
    let claimed = wanted.filter { claim($0, .adding) }
    guard !claimed.isEmpty else { return }
    noteBarriers(ahead: claimed, in: queue)
    world.perform(.add(claimed, to: queue))
    claims.change { claims in
      for index in claimed { claims[index] = .added }
    }
  }

  /// Records which operations must finish before others. Operations that are already in the queue
  /// must finish before an added barrier, and barriers in the queue before the added operations.
  /// [BA-1]
  private func noteBarriers(ahead claimed: [Int], in queue: Int) {
    let added = claims.value
    world.reports.note { state in
      let here = state.entries.indices.filter {
        added[$0] == .added && state.entries[$0].queue == queue
      }
      for index in claimed {
        let isBarrier = program.operations[index].kind == .barrier
        state.entries[index].predecessors += here.filter {
          isBarrier || program.operations[$0].kind == .barrier
        }
      }
    }
  }

  /// Performs a step that may finish an operation early. A finished operation cannot be added, so
  /// the operation is first reserved, unless it is already in a queue.
  private func endEarly(_ index: Int, _ step: Step) {
    let mayEnd = claims.change { claims in
      if claims[index] == .free { claims[index] = .finishedEarly }
      return claims[index] != .adding
    }
    if mayEnd { world.perform(step) }
  }
}

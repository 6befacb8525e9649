// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// Performs only steps that are not a misuse for any order of the threads, and records the order that
/// they require.
final class StepGate: Sendable {
  /// The actions with an operation that are possible only once.
  private enum Claim { case free, adding, added, started, finishedEarly }

  private let world: World
  private let claims: Monitored<[Claim]>
  /// The operations that a step starts directly: they get no dependencies, because they must be
  /// ready at the start.
  private let startedByHand: Set<Int>
  /// The operations that a step waits for: they are not dropped, because then nothing could finish
  /// them.
  private let waitedFor: Set<Int>
  /// The pairs of operations between which a step removes the dependency.
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

  /// Performs a step before all others, and notes its requirements.
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

  /// Performs a step if it is not a misuse.
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
      // Includes operations that are being added at this moment.
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

  /// Returns whether an operation may require the success of its dependencies. It may not if cancelling
  /// finishes it, because it could finish before it is added.
  private func mayRequire(_ index: Int) -> Bool {
    let kind = program.operations[index].kind
    return kind.hasPlainReadiness && !kind.finishesOnCancel
  }

  private func isDependent(_ index: Int) -> Bool {
    !startedByHand.contains(index) && program.operations[index].kind != .barrier
  }

  // MARK: Claims

  /// - Returns: Whether no other thread was faster.
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

  /// Operations that are in the queue by now are before a barrier, and barriers are before later
  /// operations. [BA-1]
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

  /// The operation is finished by the program. This must be known before it is added, because it
  /// cannot be added afterwards.
  private func endEarly(_ index: Int, _ step: Step) {
    let mayEnd = claims.change { claims in
      if claims[index] == .free { claims[index] = .finishedEarly }
      return claims[index] != .adding
    }
    if mayEnd { world.perform(step) }
  }
}

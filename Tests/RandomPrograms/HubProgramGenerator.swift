// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// Generates random programs in which two operations, the hubs, have up to 40 dependencies and dependents, and
/// sometimes more. The same seed generates the same program.
///
/// Dependencies are added and removed, also twice, before and after the operations are added to queues, while
/// others finish and are cancelled. Like ``ProgramGenerator``, this generator tries each step with a model.
struct HubProgramGenerator {
  private var random: SeededGenerator
  private var walk: EdgeWalk
  private var program = Program(operations: [], queues: [], steps: [])

  private static let sizes: [EdgeWalk.Size] =
    Array(repeating: .forty, count: 4)
    + EdgeWalk.Size.all.filter { $0.dependencies + $0.dependents < 100 }

  private init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    walk = EdgeWalk(Self.sizes.randomElement(using: &random) ?? .forty)
  }

  /// Generates the program that a seed determines.
  @Sendable static func program(seed: UInt64) -> Program {
    var generator = HubProgramGenerator(seed: seed)
    generator.makeCast()
    generator.makeSteps()
    return generator.program
  }

  // MARK: Operations and queues

  /// Most operations are block operations, so that several of them finish in one step.
  private static let kinds: [OperationKind] =
    Array(repeating: .block, count: 10) + [
      .plain, .plain, .plain, .asynchronous, .late, .selfFinishing, .stateful, .conditional,
    ]

  private mutating func makeCast() {
    for index in 0..<walk.count {
      // A hub with a completion block stores its edges in another object from the beginning.
      let isHub = walk.hubs.contains(index)
      let kind = Self.kinds.randomElement(using: &random) ?? .block
      program.operations.append(
        Program.Item(
          kind: kind, hasCompletionBlock: chance(oneIn: isHub ? 3 : 16),
          isObserved: chance(oneIn: isHub ? 4 : 16)))
    }
    for _ in 0..<(chance(oneIn: 3) ? 2 : 1) {
      program.queues.append(Program.Line(width: Int.random(in: 1...3, using: &random)))
    }
  }

  // MARK: Steps

  private mutating func makeSteps() {
    var model = Model(program.forModel)
    let count = 4 * (walk.size.dependencies + walk.size.dependents) + 100
    for _ in 0..<(4 * count) where program.steps.count < count {
      if let taken = model.perform(step(after: model, of: count)) { program.steps.append(taken) }
    }
  }

  private mutating func step(after model: Model, of count: Int) -> Step {
    let progress = Double(program.steps.count) / Double(count)
    if Double.random(in: 0..<1, using: &random) < (progress < 0.5 ? 0.85 : 0.4) {
      return walk.step(
        using: &random, dependencies: { model.items[$0].dependencies },
        dependents: { model.items[$0].dependents })
    }
    let operation = anyOperation(hubsOneIn: 10)
    let queue = Int.random(in: program.queues.indices, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<25:
      // The hubs are added late, so that most of their edges are added while they wait.
      return .add([progress > 0.6 ? anyOperation(hubsOneIn: 4) : operation], to: queue)
    case 25..<33: return .add((0..<4).map { _ in anyOperation(hubsOneIn: 30) }, to: queue)
    case 33..<73:
      let executing = model.items.indices.filter { model.items[$0].phase == .executing }
      return .finish(executing.randomElement(using: &random) ?? operation)
    case 73..<80: return .cancel(operation)
    case 80..<84: return .start(operation)
    case 84..<88: return model.items[operation].condition ? .forbid(operation) : .allow(operation)
    case 88..<92: return .drop(operation)
    case 92..<95: return .prioritise(operation, chance(oneIn: 2) ? .high : .normal)
    case 95..<98: return model.lines[queue].isSuspended ? .resume(queue) : .suspend(queue)
    default: return .wait(operation)
    }
  }

  private mutating func anyOperation(hubsOneIn count: Int) -> Int {
    Int.random(in: chance(oneIn: count) ? walk.hubs : 0..<walk.count, using: &random)
  }

  private mutating func chance(oneIn count: Int) -> Bool {
    Int.random(in: 0..<count, using: &random) == 0
  }
}

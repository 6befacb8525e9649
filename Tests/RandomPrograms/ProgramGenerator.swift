// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// Generates random programs. The same seed generates the same program.
///
/// Each step is tried with a model, and most steps without an effect are left out.
struct ProgramGenerator {
  /// The theme of a program, which determines the kind of steps that is frequent in the program.
  private enum Theme: CaseIterable {
    case everything, order, dependencies, exclusions, control, lifetimes
  }

  private var random: SeededGenerator
  private var program = Program(operations: [], queues: [], steps: [])
  private let theme: Theme
  private let moves: [(Move, weight: Int)]
  /// Only a few priorities are used, so that many operations have equal priorities.
  private let priorities: [Operation.QueuePriority]

  private init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let theme = Theme.allCases.randomElement(using: &random) ?? .everything
    self.theme = theme
    moves = Self.moves.map { ($0.0, weight: $0.weight * ($0.themes.contains(theme) ? 4 : 1)) }
    priorities = Array(Operation.QueuePriority.allCases.shuffled(using: &random).prefix(2))
    self.random = random
  }

  /// Generates the program that a seed determines.
  static func program(seed: UInt64) -> Program {
    var generator = ProgramGenerator(seed: seed)
    generator.makeCast()
    generator.makeSteps()
    return generator.program
  }

  // MARK: Operations and queues

  private static let kinds: [(OperationKind, weight: Int)] = [
    (.block, 8), (.plain, 4), (.asynchronous, 4), (.late, 4), (.lingering, 2), (.selfFinishing, 3),
    (.stateful, 3), (.conditional, 4), (.oblivious, 1), (.barrier, 4),
  ]
  private static let exclusions: [([Int], weight: Int)] = [([0], 3), ([1], 3), ([0, 1], 2)]
  private static let queueCounts: [(Int, weight: Int)] = [(1, 10), (2, 7), (3, 3)]
  /// The default width (−1) is rare, because each blocked operation in such a queue delays the test
  /// by an interval of the sampler, the thread that checks for blocked workers.
  private static let widths: [(Int, weight: Int)] = [(1, 20), (2, 12), (3, 5), (0, 2), (-1, 1)]

  private mutating func makeCast() {
    for _ in 0..<Int.random(in: 2...8, using: &random) {
      let kind = pick(Self.kinds)
      let isOwn = kind != .barrier
      let hasExclusions =
        isOwn && (theme == .exclusions ? !chance(oneIn: 4) : chance(oneIn: 6))
      program.operations.append(
        Program.Item(
          kind: kind, hasCompletionBlock: isOwn && chance(oneIn: 4),
          exclusions: hasExclusions ? pick(Self.exclusions) : [],
          isObserved: isOwn && chance(oneIn: 4)))
    }
    if theme == .order || theme == .dependencies && chance(oneIn: 2) {
      program.queues = [Program.Line()]
    } else {
      for _ in 0..<pick(Self.queueCounts) {
        let line = Program.Line(width: pick(Self.widths), isOnDispatch: chance(oneIn: 4))
        program.queues.append(line)
      }
    }
  }

  // MARK: Steps

  private enum Move {
    case add, addBatch, start, finish, cancel, cancelAll, depend, require, undepend, prioritise
    case turnCondition, turnSuspension, setWidth, drop, dropQueue, wait, waitForAll
  }

  /// The kinds of steps, with their frequency, and with the themes of programs in which they are
  /// more frequent.
  private static let moves: [(Move, weight: Int, themes: [Theme])] = [
    (.add, 32, [.order]), (.addBatch, 8, [.order]), (.start, 4, []), (.finish, 44, []),
    (.cancel, 8, []), (.cancelAll, 1, [.control]), (.depend, 18, [.dependencies]),
    (.require, 6, [.dependencies, .exclusions]),
    (.undepend, 5, [.dependencies]), (.prioritise, 6, [.order]), (.turnCondition, 8, []),
    (.turnSuspension, 5, [.control]),
    (.setWidth, 4, [.control]), (.drop, 3, [.lifetimes]), (.dropQueue, 1, [.lifetimes]),
    (.wait, 2, [.lifetimes]), (.waitForAll, 1, [.control, .lifetimes]),
  ]

  private mutating func makeSteps() {
    var model = Model(program.forModel)
    let count = Int.random(in: 5...25, using: &random)
    for _ in 0..<(4 * count) where program.steps.count < count {
      if let taken = model.perform(step(after: model)) { program.steps.append(taken) }
    }
  }

  private mutating func step(after model: Model) -> Step {
    let operation = anyOperation()
    let queue = Int.random(in: program.queues.indices, using: &random)
    switch pick(moves) {
    case .add: return .add([operation], to: queue)
    case .addBatch:
      let count = Int.random(in: 2...4, using: &random)
      return .add((0..<count).map { _ in anyOperation() }, to: queue)
    case .start: return .start(operation)
    case .finish:
      // A finish before the start is rare, and only asynchronous operations can finish before their
      // start.
      let executing = model.items.indices.filter { model.items[$0].phase == .executing }
      let isEarly = chance(oneIn: 12)
      return .finish(isEarly ? operation : executing.randomElement(using: &random) ?? operation)
    case .cancel: return .cancel(operation)
    case .cancelAll: return .cancelAll(in: queue)
    case .depend:
      // Some operations have several dependents, whose order is checked.
      let isFirst = theme == .dependencies && !chance(oneIn: 4)
      return .depend(operation, on: isFirst ? 0 : anyOperation())
    case .require: return .require(operation, on: anyOperation())
    case .undepend:
      let other = model.items[operation].dependencies.randomElement(using: &random)
      return .undepend(operation, from: other ?? anyOperation())
    case .prioritise:
      return .prioritise(operation, priorities.randomElement(using: &random) ?? .normal)
    case .turnCondition:
      return model.items[operation].condition ? .forbid(operation) : .allow(operation)
    case .turnSuspension:
      return model.lines[queue].isSuspended ? .resume(queue) : .suspend(queue)
    case .setWidth: return .setWidth(queue, pick(Self.widths))
    case .drop: return .drop(operation)
    case .dropQueue: return .dropQueue(queue)
    case .wait: return .wait(operation)
    case .waitForAll: return .waitForAll(in: queue)
    }
  }

  // MARK: Choices

  private mutating func anyOperation() -> Int {
    Int.random(in: program.operations.indices, using: &random)
  }

  private mutating func chance(oneIn count: Int) -> Bool {
    Int.random(in: 0..<count, using: &random) == 0
  }

  private mutating func pick<Value>(_ choices: [(Value, weight: Int)]) -> Value {
    var left = Int.random(in: 0..<choices.reduce(0) { $0 + $1.weight }, using: &random)
    for (value, weight) in choices {
      left -= weight
      if left < 0 { return value }
    }
    preconditionFailure("A random number is outside its range")
  }
}

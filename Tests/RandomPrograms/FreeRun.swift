// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport

@testable import OperationsCore

/// Runs a random program on several threads at once, and checks at the end the conditions that are
/// true for every order of events. The work of operations does not block.
///
/// Of the first third of the steps, those that start no operation run first, one after the other,
/// so that dependencies exist when operations start. The other steps are distributed among the
/// threads, and each thread runs its steps in order. Operations depend only on operations with
/// smaller indices, so that there are no cycles.
struct FreeRun {
  /// The deliberate fault in the tested operations and queues; `nil` in normal tests.
  var fault: World.Fault?
  /// The thread pool of the program's queues.
  var pool = WorkerPool.shared

  /// Runs a program on several threads.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - patience: The time limit for expected events.
  /// - Returns: The violations at the end; `nil` if no condition is violated.
  @Sendable func discrepancy(in program: Program, patience: Duration) -> Discrepancy? {
    let world = World(program, usesDispatch: true, fault: fault, pool: pool)
    _ = world.reports.letEverythingEnd()
    let gate = StepGate(world)
    let steps = program.steps.map(Self.withoutCycle)
    let head = steps.prefix(steps.count / 3)
    for step in head where step.isPreparation { gate.prepare(step) }
    let rest = head.filter { !$0.isPreparation } + steps.dropFirst(head.count)
    let threadCount = 2 + steps.count % 2
    let pace = Steps(threadCount)
    onThreads(threadCount) { thread in
      for (number, step) in rest.enumerated() where number % threadCount == thread {
        pace.awaitOthers(number / threadCount)
        gate.perform(step)
        pace.advance(thread)
      }
      pace.leave(thread)
    }
    var findings = world.windDown(within: patience)
    findings += Self.overcrowding(in: program, world.reports.snapshot)
    return findings.isEmpty ? nil : Discrepancy(stepCount: nil, findings: findings)
  }

  private static func withoutCycle(_ step: Step) -> Step {
    switch step {
    case .depend(let one, on: let other): .depend(max(one, other), on: min(one, other))
    case .require(let one, on: let other): .require(max(one, other), on: min(one, other))
    case .undepend(let one, from: let other): .undepend(max(one, other), from: min(one, other))
    default: step
    }
  }

  /// Returns a violation for each queue that has executed more operations at the same time than the
  /// greatest width that the queue has had. [MX-1, MX-4]
  private static func overcrowding(in program: Program, _ state: Reports.State) -> [String] {
    program.queues.indices.compactMap { queue in
      var widths = [program.queues[queue].width]
      for case .setWidth(queue, let width) in program.steps { widths.append(width) }
      let limit = widths.contains(-1) ? Int.max : max(1, widths.max() ?? 1)
      let most = state.highestRunningCount[queue]
      if most <= limit { return nil }
      return
        "\(Program.name(ofQueue: queue)) ran \(most) at once, and was never wider than \(limit)"
    }
  }
}

extension Step {
  /// Whether the step of the random program starts no operation.
  fileprivate var isPreparation: Bool {
    switch self {
    case .depend, .require, .prioritise, .suspend, .setWidth, .forbid: true
    default: false
    }
  }
}

/// Makes threads run their steps at about the same time, so that the threads race during the whole
/// program.
private final class Steps: Sendable {
  private static let looks = 2_000

  private let first = Atomic<Int>(0)
  private let second = Atomic<Int>(0)
  private let third: Atomic<Int>

  init(_ count: Int) { third = Atomic(count > 2 ? 0 : Int.max) }

  func advance(_ thread: Int) {
    switch thread {
    case 0: first.wrappingAdd(1, ordering: .relaxed)
    case 1: second.wrappingAdd(1, ordering: .relaxed)
    default: third.wrappingAdd(1, ordering: .relaxed)
    }
  }

  func leave(_ thread: Int) {
    switch thread {
    case 0: first.store(Int.max, ordering: .relaxed)
    case 1: second.store(Int.max, ordering: .relaxed)
    default: third.store(Int.max, ordering: .relaxed)
    }
  }

  /// Spins until the other threads have reached the same step, but only for a limited number of
  /// rounds, because the other threads may be blocked.
  func awaitOthers(_ step: Int) {
    for _ in 0..<Self.looks {
      let slowest = min(
        first.load(ordering: .relaxed), second.load(ordering: .relaxed),
        third.load(ordering: .relaxed))
      if slowest >= step { return }
    }
  }
}

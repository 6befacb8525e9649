// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
@testable import RandomPrograms
import TestSupport
import Testing

@Suite("Shrinking programs that fail")
struct ShrinkerTests {
  @Test("Irrelevant parts are removed, and the others are renumbered")
  func leavesOutWhatDoesNotMatter() {
    let program = Program(
      operations: (0..<6).map { _ in
        Program.Item(kind: .asynchronous, hasCompletionBlock: true, isObserved: true)
      },
      queues: [Program.Line(width: 3), Program.Line(width: 2)],
      steps: [
        .suspend(0), .add([0, 1, 4], to: 1), .depend(4, on: 5), .cancel(2), .wait(1),
        .setWidth(1, 3), .finish(4), .resume(0), .drop(3),
      ])
    let smallest = Shrinker().shrink(program) { candidate in
      candidate.steps.contains { step in
        guard case .add(_, to: _) = step else { return false }
        return true
      } && candidate.steps.contains { $0 == .finish($0.operations.first ?? -1) }
    }
    #expect(
      smallest
        == Program(
          operations: [Program.Item(kind: .block)], queues: [Program.Line()],
          steps: [.add([0], to: 0), .finish(0)]))
  }

  @Test("Each simplification makes a program smaller or simpler, so that shrinking ends")
  func endsByItself() {
    for seed in UInt64(0)..<20 {
      var program = ProgramGenerator.program(seed: seed)
      var count = 0
      while let next = program.smaller.last(where: { $0 != program }) {
        program = next
        count += 1
      }
      #expect(program.steps.isEmpty && count < 1_000)
    }
  }

  @Test("A program that is short enough is not reduced further")
  func stopsAtSufficientStepCount() {
    let program = Program(
      operations: [Program.Item(kind: .block)], queues: [Program.Line()],
      steps: (1...9).map { .setWidth(0, $0) })
    let smallest = Shrinker(sufficientStepCount: 4).shrink(program) { !$0.steps.isEmpty }
    #expect(1...4 ~= smallest.steps.count)
    #expect(Shrinker(sufficientStepCount: 9).shrink(program) { _ in true } == program)
  }

  @Test("The same seed makes the same program")
  func seedsRepeat() {
    #expect(ProgramGenerator.program(seed: 7) == ProgramGenerator.program(seed: 7))
    #expect(ProgramGenerator.program(seed: 7) != ProgramGenerator.program(seed: 8))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
@testable import RandomPrograms
import TestSupport
import Testing

/// Random programs for which the library once broke its documented rules, reduced to the smallest
/// number of steps.
@Suite("Programs that once failed")
struct FoundProgramTests {
  @Test(
    "PR-3: dependents become ready in the order in which they were made to wait",
    arguments: [0, 1, 2, 5])
  func dependentsKeepTheirOrder(otherCount: Int) async throws {
    // Several operations depend on one operation. One of these dependencies is removed, and then
    // another operation begins to depend on the same operation. In the order of notifications, the
    // new dependent must not get the place of the removed one.
    let others = Array(3..<(3 + otherCount))
    let program = Program(
      operations: Array(repeating: Program.Item(kind: .block), count: 4 + otherCount),
      queues: [Program.Line()],
      steps: [.depend(1, on: 0), .depend(2, on: 0)] + others.map { .depend($0, on: 0) } + [
        .undepend(1, from: 0), .depend(3 + otherCount, on: 0), .add([0], to: 0),
        .add([3 + otherCount, 2] + others, to: 0), .finish(0), .finish(2),
      ] + others.map { .finish($0) } + [.finish(3 + otherCount)])
    try await passes(program)
  }

  @Test(
    "A released operation that required the success of a cancelled one is gone: it is not cancelled",
    arguments: [OperationKind.stateful, .selfFinishing])
  func releasedRequirer(kind: OperationKind) async throws {
    // The library was right. The model cancelled the operation, which then finished by itself.
    let program = Program(
      operations: [
        Program.Item(kind: kind, hasCompletionBlock: true), Program.Item(kind: .block),
      ],
      queues: [Program.Line()],
      steps: [.require(0, on: 1), .cancel(1), .drop(0), .add([1], to: 0)])
    try await passes(program)
  }

  @Test(
    "K-10, DE-16: isReady that is read while its change is being announced does not strand it",
    arguments: [true, false])
  func readWhileAnnounced(isFinish: Bool) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let dependency = Operation()
      let finished = Operation()
      finished.start()
      let operation = PlainSubclass()
      operation.addDependency(dependency)
      queue.addOperation(operation)
      // The queue evaluates the readiness of the operation again for each new dependency. Here, it
      // does so between the two announcements (`will` and `did`) of the change that follows the
      // finish or the removal of the only unmet dependency.
      let observation = operation.observe(\.isReady, options: [.prior]) { operation, change in
        if change.isPrior { operation.addDependency(finished) }
      }
      if isFinish { dependency.start() } else { operation.removeDependency(dependency) }
      #expect(poll(for: .seconds(Patience.seconds)) { operation.isFinished })
      withExtendedLifetime(observation) {}
    }
  }

  private func passes(_ program: Program) async throws {
    let discrepancy = try await onOwnThread {
      LockStepRun().discrepancy(in: program, patience: .seconds(Patience.seconds))
    }
    #expect(discrepancy == nil, "\(program.text(marking: discrepancy?.stepCount))")
  }
}

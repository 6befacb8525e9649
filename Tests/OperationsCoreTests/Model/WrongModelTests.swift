// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import RandomPrograms
import TestSupport
import Testing

/// Checks that the comparison of the library with its model detects faults. In each test, either
/// the model or the tested operations have a deliberate fault.
@Suite("Deliberate faults are detected", .oneAtATime)
struct WrongModelTests {
  /// The maximum number of steps in the smallest program that shows a fault.
  private static let longest = 12

  private static let rules: [(String, Model.Rules)] =
    [
      ("CA-6: cancelled operations are first", .cancelledFirst),
      ("PR-3: priorities", .priorities),
      ("PR-3: first ready, first started", .firstReadyFirst),
      ("PR-5: the tail of a new priority", .tailOfNewLevel),
      ("MX-1: width", .width),
      ("MX-7: suspension", .suspension),
      ("CA-4: cancelling ends waiting", .cancelEndsWaiting),
      ("CA-9: a cancelled dependency satisfies no dependent", .onlyFinishSatisfies),
      ("CA-2: a finished one is not cancelled", .finishedStaysUncancelled),
      ("DE-9: removing a dependency", .removingReleases),
      ("DE-6: a dependency counts once", .idempotentDependencies),
      ("DE-14: dependencies are retained", .retainsDependencies),
      ("DE-18: a condition of its own", .ownCondition),
      ("BA-1: barriers", .barriers),
      ("Limits of exclusions", .exclusions),
      ("Requirements of success", .requirements),
    ]

  @Test("A model that lacks a rule is contradicted, by a dozen steps at most", arguments: rules)
  func ruleLeftOut(name: String, rule: Model.Rules) async throws {
    let run = LockStepRun(rules: .all.subtracting(rule))
    let steps = try await smallestFailure(of: run.discrepancy)
    #expect(steps.count <= Self.longest, "\(steps)")
  }

  @Test(
    "A world with a fault fails step by step, within a dozen steps", arguments: World.Fault.allCases
  )
  func faultStepByStep(fault: World.Fault) async throws {
    let steps = try await smallestFailure(of: LockStepRun(fault: fault).discrepancy)
    #expect(steps.count <= Self.longest, "\(steps)")
  }

  // The test with several threads omits two faults. The fault that ignores mutual exclusions is
  // visible on several threads only if two operations happen to overlap; the step-by-step test
  // makes them overlap. The fault by which an operation finishes when its `start()` returns is
  // visible only if the program looks at the operation before its work ends.
  @Test(
    "A world with a fault fails with several threads at once",
    arguments: World.Fault.allCases.filter { $0 != .ignoresExclusions && $0 != .finishesWithStart })
  func faultAtOnce(fault: World.Fault) async throws {
    try await onOwnThread {
      var examination = Self.examination(FreeRun(fault: fault).discrepancy)
      // A short time limit is enough: a correct program needs less than this time also on a busy
      // machine, so only a faulty program exceeds it.
      examination.patience = .seconds(1)
      #expect(examination.firstFailure(inPrograms: 5_000, seed: 1) != nil)
    }
  }

  /// Returns the steps of the smallest failing program that was found. If no program fails, records
  /// an issue and returns no steps.
  private func smallestFailure(of check: @escaping Examination.Check) async throws -> [Step] {
    try await onOwnThread {
      var examination = Self.examination(check)
      // A program that is run step by step fails each time if it fails once, so a short time limit
      // for the repetition is enough.
      examination.confirmingPatience = .milliseconds(500)
      // The reduction ends early in short tests, because each attempt to reduce the program further
      // waits for a failure.
      examination.sufficientStepCount = Effort.percent >= 100 ? 0 : Self.longest
      let begin = ContinuousClock.now
      guard let found = examination.firstFailure(inPrograms: 5_000, seed: 1) else {
        Issue.record("Nothing was noticed")
        return []
      }
      let (smallest, discrepancy) = examination.shrunk(found.program, found.discrepancy)
      print(ContinuousClock.now - begin, found.seed, "\n\(smallest)\n\(discrepancy)")
      return smallest.steps
    }
  }

  /// Returns a search for failing programs that waits only for a short time for expected events,
  /// because failures are expected.
  private static func examination(_ check: @escaping Examination.Check) -> Examination {
    Examination(
      title: "Deliberate fault", check: check, patience: .milliseconds(50),
      shortPatience: .milliseconds(50))
  }
}

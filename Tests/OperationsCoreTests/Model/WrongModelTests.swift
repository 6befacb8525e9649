// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import RandomPrograms
import TestSupport
import Testing

/// Checks that the comparison detects faults. Here the model, or the world that is compared with it, has
/// deliberate faults.
@Suite("Deliberate faults are detected", .oneAtATime)
struct WrongModelTests {
  /// The maximum number of steps of a program that shows a fault.
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

  // An ignored exclusion shows only if two bodies happen to overlap. The test above makes them overlap.
  @Test(
    "A world with a fault fails with several threads at once",
    arguments: World.Fault.allCases.filter { $0 != .ignoresExclusions })
  func faultAtOnce(fault: World.Fault) async throws {
    try await onOwnThread {
      let examination = Self.examination(FreeRun(fault: fault).discrepancy)
      #expect(examination.firstFailure(inPrograms: 5_000, seed: 1) != nil)
    }
  }

  /// Returns the steps of the smallest failing program that is found; an issue if none fails.
  private func smallestFailure(of check: @escaping Examination.Check) async throws -> [Step] {
    try await onOwnThread {
      var examination = Self.examination(check)
      // In lock step, a failing program fails each time.
      examination.confirmingPatience = .milliseconds(500)
      // Each further attempt waits for a failure.
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

  /// Returns an examination with a short time limit, because failures are expected.
  private static func examination(_ check: @escaping Examination.Check) -> Examination {
    Examination(
      title: "Wrong on purpose", check: check, patience: .milliseconds(50),
      shortPatience: .milliseconds(50))
  }
}

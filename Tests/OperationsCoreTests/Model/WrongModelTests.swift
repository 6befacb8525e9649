// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// What finds no fault may be blind. So here the model, or the world that is compared with it, is
/// wrong on purpose.
@Suite("What is wrong on purpose is found out", .oneAtATime)
struct WrongModelTests {
  private static let rules: [(String, Model.Rules)] =
    [
      ("CA-6: cancelled ones go first", .cancelledFirst),
      ("PR-3: priorities", .priorities),
      ("PR-3: first ready, first started", .firstReadyFirst),
      ("PR-5: the tail of a new priority", .tailOfNewLevel),
      ("MX-1: width", .width),
      ("MX-7: suspension", .suspension),
      ("CA-4: cancelling ends waiting", .cancelEndsWaiting),
      ("CA-9: a cancelled dependency satisfies nobody", .onlyFinishSatisfies),
      ("CA-2: a finished one is not cancelled", .finishedStaysUncancelled),
      ("DE-9: removing a dependency", .removingReleases),
      ("DE-6: a dependency counts once", .idempotentDependencies),
      ("DE-14: dependencies are retained", .retainsDependencies),
      ("DE-18: a condition of its own", .ownCondition),
      ("BA-1: barriers", .barriers),
    ]

  @Test("A model that lacks a rule is contradicted, by a dozen steps at most", arguments: rules)
  func ruleLeftOut(name: String, rule: Model.Rules) async throws {
    let run = LockStepRun(rules: .all.subtracting(rule))
    let steps = try await smallestFailure(of: run.discrepancy)
    #expect(steps.count <= 12, "\(steps)")
  }

  @Test(
    "A world with a fault fails step by step, within a dozen steps", arguments: World.Fault.allCases
  )
  func faultStepByStep(fault: World.Fault) async throws {
    let steps = try await smallestFailure(of: LockStepRun(fault: fault).discrepancy)
    #expect(steps.count <= 12, "\(steps)")
  }

  @Test("A world with a fault fails with several threads at once", arguments: World.Fault.allCases)
  func faultAtOnce(fault: World.Fault) async throws {
    try await onOwnThread {
      let examination = Self.examination(FreeRun(fault: fault).discrepancy)
      #expect(examination.firstFailure(inPrograms: 5_000, seed: 1) != nil)
    }
  }

  /// The steps of the smallest program that is found to fail; an issue where none does.
  private func smallestFailure(of check: @escaping Examination.Check) async throws -> [Step] {
    try await onOwnThread {
      var examination = Self.examination(check)
      // Step by step what fails does so each time.
      examination.confirmingPatience = .milliseconds(500)
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

  /// Expects failures, and so has little patience.
  private static func examination(_ check: @escaping Examination.Check) -> Examination {
    Examination(
      title: "Wrong on purpose", check: check, patience: .milliseconds(50),
      shortPatience: .milliseconds(50))
  }
}

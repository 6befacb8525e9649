// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

/// What finds no fault may be blind. So here the model, or what the library is given to do, is wrong
/// on purpose.
@Suite("Wrong models are found out", .serialized)
struct WrongModelTests {
  /// Each rule, and the most steps that are needed to show that it was left out.
  static let rules: [(String, Model.Rules, Int)] = [
    ("cancelledFirst", .cancelledFirst, 6), ("priorities", .priorities, 6),
    ("firstReadyFirst", .firstReadyFirst, 6), ("tailOfNewLevel", .tailOfNewLevel, 6),
    ("width", .width, 6), ("suspension", .suspension, 6),
    ("cancelEndsWaiting", .cancelEndsWaiting, 6),
    ("onlyFinishSatisfies", .onlyFinishSatisfies, 6),
    ("finishedStaysUncancelled", .finishedStaysUncancelled, 6),
    ("removingReleases", .removingReleases, 6),
    ("idempotentDependencies", .idempotentDependencies, 6),
    ("retainsDependencies", .retainsDependencies, 6), ("ownCondition", .ownCondition, 6),
  ]

  @Test("A model without one of the rules fails, in a few steps", arguments: rules)
  func ruleLeftOut(name: String, rule: Model.Rules, limit: Int) async throws {
    try await onOwnThread {
      let run = LockStepRun(rules: .all.subtracting(rule))
      let examination = Examination(
        title: name, check: run.discrepancy, patience: .seconds(1),
        shortPatience: .milliseconds(100))
      let found = examination.firstFailure(inPrograms: 5_000, seed: 1)
      guard let found else {
        Issue.record("Nobody has noticed that the rule is missing")
        return
      }
      let (smallest, _) = examination.shrunk(found.program, found.discrepancy)
      #expect(smallest.steps.count <= limit, "\(smallest)")
    }
  }
}

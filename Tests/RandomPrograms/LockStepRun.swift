// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport

/// Runs a random program step by step. After each step, it waits until only a further step can
/// cause events, and compares the state of the operations and queues with the model.
struct LockStepRun {
  /// The rules that the model follows. In normal tests, the model follows all rules.
  var rules = Model.Rules.all
  /// The deliberate fault in the tested operations and queues; `nil` in normal tests.
  var fault: World.Fault?

  /// Runs a program step by step.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - patience: The time limit for expected events.
  /// - Returns: The first violation; `nil` if no condition is violated.
  @Sendable func discrepancy(in program: Program, patience: Duration) -> Discrepancy? {
    let program = program.forModel
    let rehearsal = Rehearsal(program, rules: rules)
    let world = World(program, fault: fault)
    var discrepancy: Discrepancy?
    for scene in rehearsal.scenes where discrepancy == nil {
      world.perform(scene.step)
      let findings = findings(in: world, scene.model, patience)
      if !findings.isEmpty {
        discrepancy = Discrepancy(stepCount: scene.stepCount, findings: findings)
      }
    }
    let remains = world.windDown(within: patience)
    if let discrepancy { return discrepancy }
    return remains.isEmpty ? nil : Discrepancy(stepCount: nil, findings: remains)
  }

  private func findings(
    in world: World, _ model: Model, _ patience: Duration
  ) -> [String] {
    let isAtRest = world.comeToRest(within: patience)
    let picture = model.picture
    var findings = world.picture(asIn: picture).differences(from: picture)
    findings += world.staleObservers + world.reports.snapshot.violations
    if !isAtRest { findings.append("something goes on that the program has not to end") }
    if !findings.isEmpty { return findings }
    let expected = model.aftermath
    var seen = expected
    _ = poll(for: patience) {
      seen = world.aftermath(asIn: expected)
      return seen == expected
    }
    return seen.differences(from: expected)
  }
}

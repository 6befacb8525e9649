// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Runs a program step by step: after each nothing happens any more but what the program brings
/// about itself, and everything is compared with the model.
struct LockStepRun {
  /// What the model is to follow; in earnest all of them.
  var rules = Model.Rules.all
  /// What is wrong with the world; in earnest nothing.
  var fault: World.Fault?

  /// - Parameters:
  ///   - program: The program.
  ///   - patience: How long to wait for what must happen.
  /// - Returns: The first thing that is not as it should be; `nil` where there is none.
  @Sendable func discrepancy(in program: Program, patience: Duration) -> Discrepancy? {
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Runs a program step by step: after each nothing happens any more but what the program brings
/// about itself, and everything is compared with the model.
struct LockStepRun {
  /// How long to wait for what must happen.
  var patience: Duration = .seconds(30)
  /// What the model is to follow; in earnest all of them.
  var rules = Model.Rules.all

  /// - Returns: The first thing that is not as it should be; `nil` where there is none.
  func discrepancy(in program: Program) -> Discrepancy? {
    let rehearsal = Rehearsal(program, rules: rules)
    let world = World(program)
    var discrepancy: Discrepancy?
    for (index, scene) in rehearsal.scenes.enumerated() where discrepancy == nil {
      world.perform(scene.step)
      let findings = findings(in: world, scene.model)
      if !findings.isEmpty { discrepancy = Discrepancy(stepCount: index + 1, findings: findings) }
    }
    let cyclic = program.operations.indices.filter(rehearsal.model.isInCycle)
    let remains = world.windDown(breaking: cyclic, within: patience)
    if let discrepancy { return discrepancy }
    return remains.isEmpty ? nil : Discrepancy(stepCount: nil, findings: remains)
  }

  private func findings(in world: World, _ model: Model) -> [String] {
    guard world.comeToRest(within: patience) else {
      return ["something goes on for ever"] + world.differences(from: model)
    }
    let differences = world.differences(from: model)
    guard differences.isEmpty else { return differences }
    var late: [String] = []
    _ = poll(for: patience) {
      late = world.lateDifferences(from: model)
      return late.isEmpty
    }
    return late
  }
}

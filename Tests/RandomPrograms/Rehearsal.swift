// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The possible steps of a random program, and the state that the model requires after each step.
struct Rehearsal {
  struct Scene {
    /// The number of steps of the original program up to this step, including the impossible ones.
    let stepCount: Int
    /// The step of the random program, as it was performed.
    let step: Step
    /// The state that the model requires after the step.
    let model: Model
  }

  private(set) var scenes: [Scene] = []

  init(_ program: Program, rules: Model.Rules = .all) {
    var model = Model(program, rules: rules)
    for (index, step) in program.steps.enumerated() {
      guard let taken = model.perform(step) else { continue }
      scenes.append(Scene(stepCount: index + 1, step: taken, model: model))
    }
  }
}

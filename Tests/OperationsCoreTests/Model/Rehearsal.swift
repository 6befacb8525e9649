// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A program without what is impossible in it, and what must be seen after each step.
struct Rehearsal {
  struct Scene {
    /// How many of the program's steps are over with this one.
    let stepCount: Int
    /// The step as it is taken.
    let step: Step
    /// What must be seen after it.
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

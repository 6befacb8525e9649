// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A program without its impossible steps, and the required state after each step.
struct Rehearsal {
  struct Scene {
    /// The number of the program's steps up to this one.
    let stepCount: Int
    /// The performed step.
    let step: Step
    /// The required state after it.
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

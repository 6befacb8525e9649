// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A program without what is impossible in it, and what must be seen after each step.
struct Rehearsal {
  struct Scene {
    let step: Step
    let model: Model
  }

  private(set) var scenes: [Scene] = []
  /// At the end of the program.
  private(set) var model: Model

  init(_ program: Program, rules: Model.Rules = .all) {
    model = Model(program, rules: rules)
    for step in program.steps {
      if let taken = model.perform(step) { scenes.append(Scene(step: taken, model: model)) }
    }
  }
}

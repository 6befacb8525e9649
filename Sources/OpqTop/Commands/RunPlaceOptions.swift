// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import JobRun

/// The option that selects the directory with the runs.
struct RunPlaceOptions: ParsableArguments {
  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "The directory whose folder \"runs\" has the runs. (default: .opq)", valueName: "directory"))
  var state: String?

  /// The place of the runs.
  var place: RunPlace { state.map { RunPlace(state: $0) } ?? .beside(file: nil) }

  /// Checks that the option is not given without a run.
  ///
  /// - Throws: `ValidationError` if it has no effect.
  func check(_ target: TargetOptions) throws {
    if state != nil, target.run == nil { throw ValidationError("--state needs --run") }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport

/// Functions for tests that run job files.
protocol JobFileTests {}

extension JobFileTests {
  /// Writes a job file, whose jobs find the test's directory in the variable `DIR`.
  func write(_ jobs: String, in scene: LaunchScene, head: String = "") throws -> String {
    let path = scene.file("jobs.yaml")
    try "environment: {DIR: '\(scene.directory.path)'}\n\(head)\njobs:\n\(jobs)\n".write(
      toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// Runs jobs to their end. The output and the errors are files of the scene.
  func run(
    _ jobs: String, _ arguments: [String] = [], in scene: LaunchScene
  ) throws -> PseudoTerminal.Ending? {
    try scene.run(["run", try write(jobs, in: scene)] + arguments)
  }

  /// The lines of the output without durations.
  func lines(_ scene: LaunchScene) -> [String] {
    scene.contents("output").split(separator: "\n").map {
      String($0).replacing(#/ in [0-9.]+(ms|s|m[0-9]+s)/#, with: "")
    }
  }
}

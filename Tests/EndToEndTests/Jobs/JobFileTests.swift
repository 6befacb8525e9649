// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension LaunchScene {
  /// Returns the only run beside a job file of this scene.
  func onlyRun(sourceLocation: SourceLocation = #_sourceLocation) throws -> StoredRun {
    let path = file(".opq/runs")
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    #expect(names.count == 1, sourceLocation: sourceLocation)
    let name = try #require(names.first, sourceLocation: sourceLocation)
    return StoredRun(path: "\(path)/\(name)")
  }

  /// Returns the process that executes the only run.
  func runner(sourceLocation: SourceLocation = #_sourceLocation) throws -> Int32 {
    try #require(try onlyRun().runner, sourceLocation: sourceLocation)
  }

  /// Ends the runner of a test that has left it behind, and waits for its end.
  func endRunner() throws {
    let run = try onlyRun()
    if let runner = run.runner { kill(runner, SIGTERM) }
    #expect(poll(for: .seconds(60), pausing: true) { run.runner == nil })
  }
}

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

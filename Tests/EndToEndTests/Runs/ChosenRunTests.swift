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

/// Tests of the run that `opq-top run --resume` chooses, and of jobs that are read from a pipe.
@Suite("The run that is resumed", .timeLimit(.minutes(10)), .onOwnThread)
struct ChosenRunTests {
  private static let jobs = """
      held: {run: 'echo "$OPQ_RUN $OPQ_ATTEMPT" >> "$DIR/ran"; \(StoredRunScene.hold())'}
    """

  /// Starts a run, and waits until its job runs.
  private func start(in scene: StoredRunScene) throws -> (runner: StartedProgram, run: StoredRun) {
    let count = scene.lines("ran").count
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait { scene.lines("ran").count > count }, "\(runner.errors)")
    let run = scene.runs.first { $0.records("runner").last?.process == runner.window.child }
    return (runner, try #require(run))
  }

  @Test("RD-4: Without an id, the newest interrupted run is resumed, and a line names it")
  func newestInterrupted() throws {
    let scene = try StoredRunScene(Self.jobs)
    let killed = try start(in: scene)
    killed.runner.kill()
    // A signal ends the second run in the regular way.
    let ended = try start(in: scene)
    ended.runner.window.signal(SIGINT)
    #expect(ended.runner.end() == .status(130), "\(ended.runner.errors)")
    #expect(ended.run.records("finish").count == 1)
    let living = try start(in: scene)
    let list = try scene.run(["runs"]).output
    for run in [killed.run, ended.run] {
      #expect(list.contains("\(run.id)  interrupted "), "\(list)")
    }
    let dry = try scene.run(["run", "--resume", "--dry-run"]).output
    #expect(dry.hasPrefix("resuming run \(ended.run.id) (\(scene.file))\n"), "\(dry)")
    try scene.open()
    #expect(living.runner.end() == .status(0))
    for run in [ended.run, killed.run, living.run] {
      let resumed = try scene.run(["run", "--resume", "--batch"])
      #expect(resumed.ending == .status(0), "\(resumed.errors)")
      #expect(
        resumed.output.hasPrefix("resuming run \(run.id) (\(scene.file))\n"), "\(resumed.output)")
    }
    #expect(
      scene.lines("ran") == [
        "\(killed.run.id) 1", "\(ended.run.id) 1", "\(living.run.id) 1", "\(ended.run.id) 2",
      ])
    // A run that the user has named needs no name.
    let named = try scene.run(["run", "--resume", "--batch", killed.run.id])
    #expect(named.ending == .status(0) && !named.output.contains("resuming"), "\(named.output)")
  }

  @Test(
    "RD-1: Jobs from a process substitution, and from the file of standard input, are stored",
    arguments: ["<(cat input)", "--lines <(cat lines)", "/dev/stdin <input"])
  func pipe(words: String) throws {
    let scene = try StoredRunScene("  unused: {run: 'false'}")
    let command = "echo ran >> '\(scene.directory)/ran'; test -e '\(scene.directory)/go'"
    for (name, text) in [
      ("input", "jobs:\n  line-1:\n    run: |\n      \(command)\n"), ("lines", "\(command)\n"),
    ] {
      try text.write(toFile: scene.scene.file(name), atomically: true, encoding: .utf8)
    }
    let script = "cd \"$1\" && \"$0\" run --batch \(words)"
    #expect(
      try scene.scene.run(["-c", script, BuiltProgram.path, scene.directory], of: "/bin/bash")
        == .status(1))
    for name in ["input", "lines"] {
      try FileManager.default.removeItem(atPath: scene.scene.file(name))
    }
    let run = try scene.onlyRun()
    #expect(run.contents("input").contains(command))
    try scene.open()
    #expect(try scene.run(["retry", "line-1"]).ending == .status(0))
    #expect(scene.lines("ran") == ["ran", "ran"])
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of the options `--run` and `--state` of the commands that take a process.
@Suite("The options --run and --state", .timeLimit(.minutes(10)), .onOwnThread)
struct RunOptionTests {
  private static let jobs = """
      held: {run: 'echo held > "$DIR/ran"; \(StoredRunScene.hold())', grace: 1s}
      next: {run: 'true', needs: [held]}
    """

  @Test(
    "RD-10: Each command that takes a process finds the runner by the run, also in another place")
  func allCommands() throws {
    let scene = try StoredRunScene(Self.jobs)
    let runner = try scene.start(["run", "--batch", "--state", "my state", scene.file])
    #expect(scene.wait(for: "held", in: "ran"), "\(runner.errors)")
    #expect(scene.runs.isEmpty)
    let run = try #require(scene.runs(in: scene.scene.file("my state/runs")).first)
    let place = ["--run", String(run.id.dropLast(4)), "--state", "my state"]
    func expect(_ arguments: [String], _ words: String) throws {
      let program = try scene.run(arguments)
      #expect(program.ending == .status(0), "\(arguments): \(program.errors)")
      #expect(program.output.contains(words), "\(arguments): \(program.output)")
    }
    for command in [["attach"], []] {
      try expect(command + place + ["--batch", "-n", "1"], "held")
    }
    try expect(["why", "next"] + place, "held")
    try expect(["tree", "next", "--ascii"] + place, "held")
    try expect(["suspend", "default"] + place, "queue default suspended")
    try expect(["resume", "default"] + place, "queue default resumed")
    try expect(["wait", "--state", "executing", "held", "--run", run.path], "held")
    let recording = scene.scene.file("run.opq")
    let recorder = try scene.start(["record", "-o", recording] + place)
    #expect(scene.wait { FileManager.default.fileExists(atPath: recording) }, "\(recorder.errors)")
    try expect(["cancel", "next"] + place, "cancel requested")
    try expect(["runs", "--state", "my state"], run.id)
    try scene.open()
    #expect(runner.end() == .status(1), "\(runner.errors)")
    #expect(recorder.end() == .status(0), "\(recorder.errors)")
    let log = try scene.run(["log", "held", "--run", run.id, "--state", "my state"])
    #expect(log.ending == .status(0) && log.output.isEmpty, "\(log.errors)")
  }

  @Test(
    "RD-10: The run of an ended process is one sentence that names other commands, with the status 3"
  )
  func endedRun() throws {
    let scene = try StoredRunScene("  only: {run: 'true'}")
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(0))
    let run = try scene.onlyRun()
    for command in [
      ["attach", "--batch"], ["--batch"], ["why", "only"], ["tree", "only"], ["wait", "only"],
      ["cancel", "only"], ["suspend", "default"], ["resume", "default"], ["record", "-o", "x.opq"],
    ] {
      let program = try scene.run(command + ["--run", run.id])
      #expect(program.ending == .status(3) && program.output.isEmpty, "\(command)")
      program.expectSentence(run.id, "opq-top runs", "opq-top log JOB --run \(run.id)")
    }
    let unknown = try scene.run(["why", "only", "--run", "19990101"])
    #expect(unknown.ending == .status(3))
    unknown.expectSentence("there is no run \"19990101\"", run.id)
    let both = try scene.run(["why", "only", "--run", run.id, "-p", "1"])
    #expect(both.ending == .status(2))
    both.expectSentence("use only one of --pid, --wait, --socket and --run")
    let alone = try scene.run(["why", "only", "--state", ".opq"])
    #expect(alone.ending == .status(2))
    alone.expectSentence("--state needs --run")
    for command in [["why", "only"], ["log", "only"], ["attach", "--batch"]] {
      let program = try scene.run(command + ["--run", run.path, "--state", ".opq"])
      #expect(program.ending == .status(2) && program.output.isEmpty, "\(command)")
      program.expectSentence("--state cannot be combined with the path of a run")
    }
  }

  @Test("RD-10: An id of several runs, and a place that is a file, have the status 2")
  func otherMistakes() throws {
    let scene = try StoredRunScene("  only: {run: 'true'}")
    for _ in 1...2 { #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(0)) }
    let start = String(scene.runs[0].id.prefix(4))
    for command in [["why", "only", "--run"], ["log", "only", "--run"], ["run", "--resume"]] {
      let ambiguous = try scene.run(command + [start])
      #expect(ambiguous.ending == .status(2), "\(command)")
      ambiguous.expectSentence("the ids of 2 runs begin with \"\(start)\"")
      let unreadable = try scene.run(command + [start, "--state", scene.file])
      #expect(unreadable.ending == .status(2), "\(command)")
    }
    #expect(try scene.run(["runs", "--state", scene.file]).ending == .status(2))
  }

  @Test("RD-10: A proposed command quotes the path of the run for a shell")
  func quotedPath() throws {
    let scene = try StoredRunScene("  only: {run: 'true'}")
    let state = scene.scene.file("my state")
    #expect(
      try scene.run(["run", "--batch", "--state", state, scene.file]).ending == .status(0))
    let run = try #require(scene.runs(in: "\(state)/runs").first)
    let program = try scene.run(["why", "only", "--run", run.path])
    program.expectSentence("opq-top log JOB --run '\(run.path)'")
  }
}

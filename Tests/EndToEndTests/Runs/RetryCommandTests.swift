// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of `opq-top retry` that answers without a new runner.
@Suite("opq-top retry", .timeLimit(.minutes(10)), .onOwnThread)
struct RetryCommandTests {
  private static let jobs = """
      broken: {run: 'echo "attempt $OPQ_ATTEMPT"; test -e "$DIR/repaired"'}
      held: {run: 'echo >> "$DIR/ran"; \(StoredRunScene.hold())'}
      other: {run: 'true'}
    """

  /// Starts a run, and waits until a job has failed and another one runs.
  private func start(
    in scene: StoredRunScene, environment: [String] = []
  ) throws -> (runner: StartedProgram, run: StoredRun) {
    let runner = try scene.start(
      ["run", "--batch", "-j3", scene.file], environment: environment)
    #expect(scene.wait(for: "\n", in: "ran"), "\(runner.errors)")
    let run = try scene.onlyRun()
    #expect(scene.wait { run.end(of: "other") != nil && run.end(of: "broken") != nil })
    return (runner, run)
  }

  @Test("RD-5: A living run says for each job whether it is retried, and its name is the new job")
  func answers() throws {
    let scene = try StoredRunScene(Self.jobs)
    let (runner, run) = try start(in: scene)
    try scene.open("repaired")
    let retried = try scene.run(["retry", "broken", "held", "other", "nonesuch", "--run", run.id])
    #expect(retried.ending == .status(1) && retried.errors.isEmpty, "\(retried.errors)")
    let lines = retried.output.split(separator: "\n")
    #expect(lines.count == 4 && lines.first == "retried: broken", "\(retried.output)")
    for (line, name) in zip(lines.dropFirst(), ["held", "other", "nonesuch"]) {
      #expect(line.hasPrefix("not retried: ") && line.contains(name))
    }
    #expect(scene.wait { run.end(of: "broken")?.state == "succeeded" })
    let wait = try scene.run(["wait", "--state", "succeeded", "broken", "--run", run.path])
    #expect(wait.ending == .status(0), "\(wait.errors)")
    #expect(try scene.run(["log", "broken", "--attempt", "2"]).output == "attempt 2\n")
    try scene.open()
    #expect(runner.end() == .status(0), "\(runner.output)")
    #expect(run.records("start", of: "other").count == 1)
  }

  @Test("RD-5: A read-only run refuses a retry with the status 5")
  func readOnlyRun() throws {
    let scene = try StoredRunScene(Self.jobs)
    let (runner, run) = try start(in: scene, environment: ["OPQ_MONITOR=ro"])
    let refused = try scene.run(["retry", "broken", "--run", run.id])
    #expect(refused.ending == .status(5) && refused.output.isEmpty)
    refused.expectSentence("read-only")
    try scene.open()
    #expect(runner.end() == .status(1))
    #expect(run.records("retry").isEmpty)
  }

  @Test("RD-5: Without a run, or with an unknown one, the status is 3")
  func unknownRun() throws {
    let scene = try StoredRunScene(Self.jobs)
    let none = try scene.run(["retry", "broken"])
    #expect(none.ending == .status(3))
    none.expectSentence("there are no runs in")
    let state = try scene.run(["retry", "broken", "--run", "2026", "--state", "nowhere"])
    #expect(state.ending == .status(3))
    state.expectSentence("nowhere/runs")
  }

  @Test("RD-5: A path names the run and its place, so --state is refused beside it")
  func pathAndPlace() throws {
    let scene = try StoredRunScene(Self.jobs)
    try scene.open()
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    let run = try scene.onlyRun()
    let both = try scene.run(["retry", "broken", "--run", run.path, "--state", "nowhere"])
    #expect(both.ending == .status(2) && both.output.isEmpty)
    both.expectSentence("--state cannot be combined with the path of a run")
    #expect(run.records("runner").count == 1)
  }

  @Test("RD-5: Many names of jobs are more than one message to a living run")
  func manyJobs() throws {
    let scene = try StoredRunScene(Self.jobs)
    let (runner, run) = try start(in: scene)
    let names = (0..<2_500).map { "unknown-\($0)-" + String(repeating: "x", count: 500) }
    try scene.open("repaired")
    let retried = try scene.run(["retry", "--run", run.id] + names + ["broken"])
    #expect(retried.ending == .status(1) && retried.errors.isEmpty, "\(retried.errors)")
    let lines = retried.output.split(separator: "\n")
    #expect(lines.count == 2_501 && lines.last == "retried: broken")
    try scene.open()
    #expect(runner.end() == .status(0), "\(runner.output)")
  }
}

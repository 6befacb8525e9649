// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of `opq-top runs`, and of the option `--run` of other commands.
@Suite("The list of runs", .timeLimit(.minutes(10)), .onOwnThread)
struct RunListTests {
  private static let jobs = """
      first: {run: 'echo first >> "$DIR/ran"'}
      held: {run: 'echo "held $OPQ_ATTEMPT" >> "$DIR/ran"; \(StoredRunScene.hold())', needs: [first], grace: 1s}
      last: {run: 'true', needs: [held]}
    """

  /// Runs of a scene: one that has finished, one whose runner was killed, and one that is alive.
  private struct Runs {
    let finished, interrupted, living: StoredRun
    let runner: StartedProgram
  }

  private func start(in scene: StoredRunScene) throws -> Runs {
    try scene.open()
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(0))
    let finished = try scene.onlyRun()
    try FileManager.default.removeItem(atPath: scene.scene.file("go"))
    func next(_ count: Int) throws -> (StoredRun, StartedProgram) {
      let known = Set(scene.runs.map(\.id))
      let runner = try scene.start(["run", "--batch", scene.file])
      #expect(scene.wait { scene.lines("ran").filter { $0.hasPrefix("held") }.count == count })
      return (try #require(scene.runs.first { !known.contains($0.id) }), runner)
    }
    let (interrupted, killed) = try next(2)
    killed.kill()
    let (living, runner) = try next(3)
    return Runs(finished: finished, interrupted: interrupted, living: living, runner: runner)
  }

  @Test("RD-8: runs lists the states and the counts, as text and as JSON")
  func list() throws {
    let scene = try StoredRunScene(Self.jobs)
    let runs = try start(in: scene)
    let listed = try scene.run(["runs"])
    #expect(listed.ending == .status(0), "\(listed.errors)")
    func words(about run: StoredRun) -> [Substring] {
      let line = listed.output.split(separator: "\n").first { $0.hasPrefix(run.id) } ?? ""
      return line.split(separator: " ")
    }
    // The columns are the id, the state, the process, the number of jobs, and the counts of the states.
    #expect(words(about: runs.finished).dropFirst().prefix(4) == ["finished", "-", "3", "3"])
    #expect(words(about: runs.interrupted).dropFirst().prefix(4) == ["interrupted", "-", "3", "1"])
    let process = try #require(runs.living.runner)
    #expect(words(about: runs.living).dropFirst().prefix(4) == ["running", "\(process)", "3", "1"])
    #expect(words(about: runs.living).last?.hasSuffix("jobs.yaml") == true)
    let json = try scene.run(["runs", "--json"])
    #expect(json.ending == .status(0), "\(json.errors)")
    for run in [runs.finished, runs.interrupted, runs.living] {
      #expect(json.output.contains("\"\(run.id)\""))
    }
    #expect(json.output.contains("\"interrupted\""))
    try scene.open()
    #expect(runs.runner.end() == .status(0))
  }

  @Test("RD-8: Without a run, the list is empty")
  func emptyList() throws {
    let scene = try StoredRunScene(Self.jobs)
    let listed = try scene.run(["runs"])
    #expect(listed.ending == .status(3) && listed.output == "")
    listed.expectSentence("there are no runs in")
    #expect(try scene.run(["runs", "--json"]).output.contains("\"runs\":[]"))
  }

  @Test("RD-8: Old runs are removed after a question, and a run that is alive is kept")
  func pruning() throws {
    let scene = try StoredRunScene(Self.jobs)
    let runs = try start(in: scene)
    #expect(try scene.run(["runs", "--prune", "--older-than", "1d", "--yes"]).ending == .status(0))
    #expect(scene.runs.count == 3)
    // Without a terminal and without --yes, nothing is removed.
    let refused = try scene.run(["runs", "--prune"])
    #expect(refused.ending == .status(2))
    refused.expectSentence("--yes")
    #expect(scene.runs.count == 3)
    for (answer, isRemoved) in [("n", false), ("y", true)] {
      let window = try scene.show(["runs", "--prune"])
      #expect(window.wait { $0.contains("?") }, "\(window.screen)")
      window.type("\(answer)\r")
      #expect(window.waitForEnd() != nil)
      #expect(!scene.runs.contains { $0.id == runs.finished.id } == isRemoved)
    }
    #expect(scene.runs.contains { $0.id == runs.living.id })
    try scene.open()
    #expect(runs.runner.end() == .status(0))
    #expect(runs.living.end(of: "last")?.state == "succeeded")
  }

  @Test("RD-10: Commands find the runner of a run, and say if there is none")
  func otherCommands() throws {
    let scene = try StoredRunScene(Self.jobs)
    let runs = try start(in: scene)
    let id = runs.living.id
    let why = try scene.run(["why", "last", "--run", id])
    #expect(why.ending == .status(0) && why.output.contains("held"), "\(why.errors)")
    // The path of the directory finds it too.
    let tree = try scene.run(["tree", "last", "--run", runs.living.path])
    #expect(tree.ending == .status(0) && tree.output.contains("held"), "\(tree.errors)")
    let dead = try scene.run(["why", "last", "--run", runs.interrupted.id])
    #expect(dead.ending == .status(3))
    dead.expectSentence(runs.interrupted.id)
    let suspended = try scene.run(["suspend", "default", "--run", id])
    #expect(suspended.ending == .status(0), "\(suspended.errors)")
    #expect(try scene.run(["resume", "default", "--run", id]).ending == .status(0))
    #expect(try scene.run(["cancel", "held", "--run", id]).ending == .status(0))
    #expect(runs.runner.end() == .status(1))
    #expect(runs.living.end(of: "held")?.state == "cancelled")
    #expect(runs.living.end(of: "held")?.byRun == nil)
  }
}

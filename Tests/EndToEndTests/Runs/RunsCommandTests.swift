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

/// Tests of `opq-top runs`, with runs of real processes.
@Suite("opq-top runs", .timeLimit(.minutes(10)), .onOwnThread)
struct RunsCommandTests {
  /// The parts of `runs --json` that the tests check.
  private struct Listing: Decodable {
    struct Run: Decodable {
      let id: String
      let state: String
      let process: Int32?
      let jobCount: Int
      let counts: [String: Int]
      let ageSeconds: Double
      let file: String?
      let directory: String
    }

    let schema: String
    let runs: [Run]
  }

  private static let held = """
      first: {run: 'echo first >> "$DIR/ran"'}
      held: {run: '\(StoredRunScene.hold())', needs: [first]}
    """

  private func listing(
    of scene: StoredRunScene, _ arguments: [String] = []
  ) throws -> [Listing.Run] {
    let program = try scene.run(["runs", "--json"] + arguments)
    #expect(program.ending == .status(0), "\(program.errors)")
    let listing = try JSONDecoder().decode(Listing.self, from: Data(program.output.utf8))
    #expect(listing.schema == "opq.runs/1")
    return listing.runs
  }

  /// Returns a scene with a run that has finished.
  private func finishedScene() throws -> StoredRunScene {
    let scene = try StoredRunScene("  first: {run: 'true'}\n  broken: {run: 'exit 3'}")
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    return scene
  }

  /// Makes a run look as if it had begun an hour ago.
  private func makeOld(_ run: StoredRun) throws {
    let request = run.contents("request.json")
    let match = try #require(request.firstMatch(of: #/"created":([0-9]+)/#))
    let time = try #require(Int(match.1)) - 3_600 * 1_000_000_000
    try request.replacing(match.0, with: "\"created\":\(time)").write(
      toFile: run.file("request.json"), atomically: true, encoding: .utf8)
  }

  @Test("RD-8: Without runs, the status is 3, and the list as JSON is empty")
  func noRuns() throws {
    let scene = try StoredRunScene("  first: {run: 'true'}")
    let text = try scene.run(["runs"])
    #expect(text.ending == .status(3) && text.output.isEmpty)
    text.expectSentence("there are no runs in", ".opq/runs")
    let json = try scene.run(["runs", "--json"])
    #expect(json.ending == .status(3))
    #expect(json.output == "{\"runs\":[],\"schema\":\"opq.runs/1\"}\n")
    #expect(try scene.run(["runs", "--prune", "--yes"]).output == "no run to delete\n")
  }

  @Test("RD-8: runs shows a run that runs, is interrupted, and has finished, with its counts")
  func states() throws {
    let scene = try StoredRunScene(Self.held)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "first", in: "ran"), "\(runner.errors)")
    let run = try scene.onlyRun()
    #expect(scene.wait { run.records("start", of: "held").count == 1 })
    let running = try #require(try listing(of: scene).first)
    #expect(running.id == run.id && running.state == "running")
    #expect(running.process == runner.window.child && running.file == scene.file)
    #expect(running.jobCount == 2 && running.counts["succeeded"] == 1 && running.ageSeconds >= 0)
    runner.kill()
    let interrupted = try #require(try listing(of: scene).first)
    #expect(interrupted.state == "interrupted" && interrupted.process == nil)
    try scene.open()
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    let finished = try #require(try listing(of: scene).first)
    #expect(finished.state == "finished" && finished.counts["succeeded"] == 2)
    let text = try scene.run(["runs"])
    let lines = text.output.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasPrefix("ID "))
    #expect(lines[1].hasPrefix("\(run.id)  finished "))
    // The same list, from another directory.
    #expect(try listing(of: scene, ["--state", scene.scene.file(".opq")]).map(\.id) == [run.id])
  }

  @Test("RD-8: A damaged run is listed with the reason")
  func damagedRun() throws {
    let scene = try finishedScene()
    let run = try scene.onlyRun()
    try "no JSON".write(toFile: run.file("request.json"), atomically: true, encoding: .utf8)
    let text = try scene.run(["runs"])
    #expect(text.ending == .status(0))
    #expect(text.output.contains("\(run.id)  damaged ") && text.output.contains("request.json"))
  }

  @Test("RD-8: Without a terminal, --prune needs --yes, and lists what it would delete")
  func pruneWithoutTerminal() throws {
    let scene = try finishedScene()
    let run = try scene.onlyRun()
    let refused = try scene.run(["runs", "--prune"])
    #expect(refused.ending == .status(2) && refused.output.contains(run.id))
    refused.expectSentence("--prune needs --yes")
    let younger = try scene.run(["runs", "--prune", "--yes", "--older-than", "30m"])
    #expect(younger.ending == .status(0) && younger.output == "no run to delete\n")
    #expect(scene.runs.count == 1)
    try makeOld(run)
    let older = try scene.run(["runs", "--prune", "--yes", "--older-than", "30m"])
    #expect(older.ending == .status(0) && older.output == "deleted 1 run\n")
    #expect(scene.runs.isEmpty)
  }

  @Test("RD-8: On a terminal, --prune asks, and only y deletes", arguments: ["n", "", "y"])
  func pruneOnTerminal(answer: String) throws {
    let scene = try finishedScene()
    let run = try scene.onlyRun()
    let window = try scene.show(["runs", "--prune"])
    #expect(window.wait { $0.contains(run.id) && $0.contains("Delete 1 run with the output") })
    window.type("\(answer)\r")
    #expect(window.waitForEnd() == .status(0))
    #expect(scene.runs.isEmpty == (answer == "y"))
    #expect(window.screen.contains(answer == "y" ? "deleted 1 run" : "nothing was deleted"))
  }

  @Test("RD-8: --prune deletes no run that is alive, and none with a command that still runs")
  func livingRuns() throws {
    let scene = try StoredRunScene(Self.held)
    let killed = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "first", in: "ran"), "\(killed.errors)")
    let interrupted = try scene.onlyRun()
    #expect(scene.wait { interrupted.group(of: "held") != nil })
    killed.kill()
    try makeOld(interrupted)
    let living = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait { scene.lines("ran").count == 2 }, "\(living.errors)")
    let prune = try scene.run(["runs", "--prune", "--yes"])
    #expect(prune.ending == .status(0) && prune.output == "no run to delete\n")
    prune.expectSentence("\(interrupted.id) is kept, because a command of it is still running")
    #expect(scene.runs.count == 2)
    try scene.open()
    #expect(living.end() == .status(0), "\(living.errors)")
    #expect(scene.wait { interrupted.status(of: "held") == 0 })
    let shim = try #require(interrupted.shim(of: "held"))
    #expect(scene.wait { !StoredRunScene.isAlive(shim) })
    #expect(try scene.run(["runs", "--prune", "--yes"]).output == "deleted 2 runs\n")
    #expect(scene.runs.isEmpty)
  }

  @Test("RD-8: --prune keeps a run with a command that still runs, although its shim was killed")
  func killedShim() throws {
    let scene = try StoredRunScene(Self.held)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "first", in: "ran"), "\(runner.errors)")
    let run = try scene.onlyRun()
    #expect(scene.wait { run.group(of: "held") != nil })
    let (shim, command) = (
      try #require(run.shim(of: "held")), try #require(run.group(of: "held"))
    )
    runner.kill()
    #expect(kill(shim, SIGKILL) == 0)
    #expect(scene.wait { !StoredRunScene.isAlive(shim) } && StoredRunScene.isAlive(command))
    let prune = try scene.run(["runs", "--prune", "--yes"])
    #expect(prune.ending == .status(0) && prune.output == "no run to delete\n")
    prune.expectSentence("\(run.id) is kept, because a command of it is still running")
    try scene.open()
    #expect(scene.wait { !StoredRunScene.isAlive(command) })
    #expect(try scene.run(["runs", "--prune", "--yes"]).output == "deleted 1 run\n")
  }

  @Test("RD-8: A run that has finished and that a dashboard shows is neither resumed nor deleted")
  func shownRun() throws {
    let scene = try StoredRunScene("  first: {run: 'true'}")
    let window = try scene.show(["run", scene.file])
    #expect(window.wait { $0.contains("all jobs have ended") }, "\(window.screen)")
    let run = try scene.onlyRun()
    let runner = try #require(run.runner)
    let text = try scene.run(["runs"])
    #expect(text.output.contains("\(run.id)  finished, shown "), "\(text.output)")
    #expect(text.output.contains(" \(runner) "), "\(text.output)")
    let listed = try listing(of: scene).first
    #expect(listed?.state == "finished" && listed?.process == runner)
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(2) && resumed.output.isEmpty)
    resumed.expectSentence("all jobs of the run \(run.id) have ended", "no dashboard shows it")
    let prune = try scene.run(["runs", "--prune", "--yes"])
    #expect(prune.ending == .status(0) && prune.output == "no run to delete\n")
    prune.expectSentence("\(run.id) is kept, because a dashboard still shows it")
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    #expect(scene.wait { run.runner == nil })
    #expect(try listing(of: scene).first?.process == nil)
  }
}

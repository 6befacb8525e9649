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

/// Tests of runs that continue without the terminal on which they were started.
@Suite("Runs without their terminal", .timeLimit(.minutes(10)), .onOwnThread)
struct DetachedRunTests {
  private static let jobs = """
      held: {run: 'echo start >> "$DIR/ran"; \(StoredRunScene.hold()); echo end >> "$DIR/ran"'}
      next: {run: 'echo next >> "$DIR/ran"', needs: [held]}
    """

  /// Starts a run on a terminal, and waits until its first job runs.
  private func show(in scene: StoredRunScene) throws -> (window: PseudoTerminal, run: StoredRun) {
    let window = try scene.show(["run", scene.file])
    #expect(window.wait { $0.isAlternate && $0.contains("held") }, "\(window.screen)")
    #expect(scene.wait(for: "start", in: "ran"))
    return (window, try scene.onlyRun())
  }

  /// Attaches to a run, lets its jobs end, and checks that they have run once.
  private func expectEnd(of run: StoredRun, in scene: StoredRunScene) throws {
    let window = try scene.show(["attach", "--run", run.id])
    #expect(window.wait { $0.isAlternate && $0.contains("held") }, "\(window.screen)")
    #expect(scene.lines("ran") == ["start"])
    try scene.open()
    #expect(window.wait { $0.contains("all jobs have ended") }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    #expect(scene.lines("ran") == ["start", "end", "next"])
    #expect(run.records("end").map(\.state) == ["succeeded", "succeeded"])
    #expect(run.records("runner").count == 1)
    // The runner ends when no viewer is attached any longer.
    #expect(scene.wait { run.runner == nil })
  }

  @Test("RD-3: If the terminal is closed, the jobs go on, and another terminal shows them")
  func closedTerminal() throws {
    let scene = try StoredRunScene(Self.jobs)
    let (window, run) = try show(in: scene)
    let runner = try #require(run.runner)
    #expect(runner != window.child)
    window.hangUp()
    #expect(window.waitForEnd(isReading: false) != nil)
    #expect(run.runner == runner && StoredRunScene.isAlive(runner))
    try expectEnd(of: run, in: scene)
  }

  @Test("RD-3: The runner has a session of its own, no terminal, and no descriptors of its starter")
  func sessionOfRunner() throws {
    let scene = try StoredRunScene(Self.jobs)
    let (window, run) = try show(in: scene)
    let runner = try #require(run.runner)
    let status = try String(contentsOfFile: "/proc/\(runner)/stat", encoding: .utf8)
    // After the name in parentheses: state, parent, group, session, terminal.
    let words = status.split(separator: ")")[1].split(separator: " ")
    #expect(words[3] == "\(runner)" && words[4] == "0")
    let files = FileManager.default
    let directory = "/proc/\(runner)/fd"
    let targets = try files.contentsOfDirectory(atPath: directory).compactMap {
      try? files.destinationOfSymbolicLink(atPath: "\(directory)/\($0)")
    }
    #expect(!targets.contains { $0.hasPrefix("/dev/pts/") || $0 == "/dev/ptmx" })
    #expect(targets.contains(run.file("runner.log")))
    // `waitForEnd` needs the end of a pipe that the starter has inherited. The runner must not keep it open.
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    #expect(StoredRunScene.isAlive(runner))
    try expectEnd(of: run, in: scene)
  }

  @Test("RD-3: q and Ctrl-C leave the run, and say how to return", arguments: ["q", "\u{3}"])
  func leavingKeys(key: String) throws {
    let scene = try StoredRunScene(Self.jobs)
    let (window, run) = try show(in: scene)
    window.type(key)
    #expect(window.waitForEnd() == .status(key == "q" ? 0 : 130))
    #expect(!window.screen.isAlternate)
    #expect(
      window.screen.contains(
        "run \(run.id) continues; return with: opq-top attach --run \(run.id)"),
      "\(window.screen)")
    try expectEnd(of: run, in: scene)
  }

  @Test(
    "RD-3: A run that ends while it is watched has its summary and its status", arguments: [0, 4])
  func watchedEnd(status: Int32) throws {
    let scene = try StoredRunScene("  only: {run: '\(StoredRunScene.hold()); exit \(status)'}")
    let window = try scene.show(["run", scene.file])
    #expect(window.wait { $0.isAlternate && $0.contains("only") })
    try scene.open()
    #expect(window.wait { $0.contains("all jobs have ended") }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(status == 0 ? 0 : 1))
    #expect(window.screen.contains("1 job: 1 \(status == 0 ? "succeeded" : "failed")"))
    #expect(!window.screen.contains("continues"))
  }

  @Test("RD-3: A mistake in the file is one sentence on the terminal, and no run is left")
  func mistakeOnTerminal() throws {
    let scene = try StoredRunScene("  first: {rnu: 'true'}")
    let window = try scene.show(["run", scene.file])
    #expect(window.waitForEnd() == .status(2))
    #expect(window.screen.contains("the unknown key \"rnu\""))
    #expect(scene.runs.isEmpty)
  }

  @Test("RD-3, RD-4: A resume on a terminal continues without it too")
  func resumeOnTerminal() throws {
    let scene = try StoredRunScene(Self.jobs)
    let first = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "start", in: "ran"))
    first.kill()
    let run = try scene.onlyRun()
    let window = try scene.show(["run", "--resume"])
    #expect(window.wait { $0.isAlternate && $0.contains("held") }, "\(window.screen)")
    window.hangUp()
    #expect(window.waitForEnd(isReading: false) != nil)
    let again = try scene.show(["attach", "--run", run.id])
    #expect(again.wait { $0.isAlternate && $0.contains("held") })
    try scene.open()
    #expect(again.wait { $0.contains("all jobs have ended") })
    again.type("q")
    #expect(again.waitForEnd() == .status(0))
    #expect(scene.lines("ran") == ["start", "end", "next"])
    #expect(run.records("start", of: "held").count == 1)
  }

  @Test("RD-5: T retries the selected job after a question")
  func retryKey() throws {
    let scene = try StoredRunScene(
      #"  flaky: {run: 'echo ran >> "$DIR/ran"; test -e "$DIR/repaired"'}"#)
    let window = try scene.show(["run", scene.file])
    #expect(window.wait { $0.contains("all jobs have ended") }, "\(window.screen)")
    let run = try scene.onlyRun()
    #expect(run.end(of: "flaky")?.state == "failed")
    try scene.open("repaired")
    window.type("T")
    #expect(window.wait { $0.contains("?") && $0.contains("flaky") })
    window.type("y")
    #expect(scene.wait { run.end(of: "flaky")?.state == "succeeded" }, "\(window.screen)")
    #expect(scene.lines("ran") == ["ran", "ran"])
    #expect(run.records("start", of: "flaky").map(\.attempt) == [1, 2])
    #expect(run.records("retry").map(\.jobs) == [["flaky"]])
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}

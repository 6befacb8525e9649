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
    #expect(window.screen.contains("2 jobs: 2 succeeded"), "\(window.screen)")
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
    #expect(window.screen.contains("\"opq-top runs\" lists the runs"))
    // An attached dashboard says the same.
    let again = try scene.show(["attach", "--run", run.id])
    #expect(again.wait { $0.isAlternate && $0.contains("held") }, "\(again.screen)")
    again.type("q")
    #expect(again.waitForEnd() == .status(0))
    #expect(again.screen.contains("run \(run.id) continues; return with: "), "\(again.screen)")
    try expectEnd(of: run, in: scene)
  }

  @Test("RD-6: If the journal of a runner without a terminal fails, q prints the reason")
  func journalFailure() throws {
    // The job `limit` limits the size of the runner's files to the size of the journal.
    let scene = try StoredRunScene(
      #"""
        held: {run: 'echo start >> "$DIR/ran"; \#(StoredRunScene.hold())'}
        limit:
          run: >-
            until test -s "$DIR/ran"; do sleep 0.01; done;
            cd "$DIR/.opq/runs/$OPQ_RUN" && prlimit --pid "$(cat lock)" --fsize="$(stat -c %s journal.jsonl)"
      """#)
    let (window, run) = try show(in: scene)
    #expect(scene.wait { run.contents("runner.log").contains("File too large") })
    window.type("q")
    #expect(window.waitForEnd() == .status(1))
    #expect(window.screen.contains("run \(run.id) continues"), "\(window.screen)")
    #expect(window.screen.contains("File too large"), "\(window.screen)")
    try scene.open()
    #expect(scene.wait { run.runner == nil })
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran") == ["start"])
  }

  @Test("RD-3: If the viewer is killed, the jobs go on, and another terminal shows them")
  func killedViewer() throws {
    let scene = try StoredRunScene(Self.jobs)
    let (window, run) = try show(in: scene)
    let runner = try #require(run.runner)
    window.signal(SIGKILL)
    #expect(window.waitForEnd() == .signal(SIGKILL))
    #expect(run.runner == runner && StoredRunScene.isAlive(runner))
    try expectEnd(of: run, in: scene)
  }

  @Test(
    "RD-3, RD-4: If the runner is killed, the dashboard and the terminal say how to continue",
    arguments: [true, false])
  func killedRunner(isAttached: Bool) throws {
    let scene = try StoredRunScene(Self.jobs)
    let (first, run) = try show(in: scene)
    var window = first
    if isAttached {
      first.type("q")
      #expect(first.waitForEnd() == .status(0))
      window = try scene.show(["attach", "--run", run.id])
      #expect(window.wait { $0.isAlternate && $0.contains("held") }, "\(window.screen)")
    }
    kill(try #require(run.runner), SIGKILL)
    let words = ["the process crashed or was killed", "; continue with: opq-top run --resume "]
    #expect(
      window.wait { screen in words.allSatisfy { screen.contains($0) } }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(1))
    let cause = "was ended\(isAttached ? "" : " by signal 9")"
    let text = window.screen.lines.joined()
    #expect(
      text.contains("the runner of run \(run.id) \(cause); continue the run with: "), "\(text)")
    #expect(text.contains("opq-top run --resume \(run.id)"), "\(text)")
    // The command that runs is not started again.
    try scene.open()
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran") == ["start", "end", "next"])
  }

  @Test("RD-3: If the environment makes the runner read-only, the dashboard only shows the jobs")
  func readOnlyRunner() throws {
    let scene = try StoredRunScene(Self.jobs)
    let window = try scene.show(["run", scene.file], environment: ["OPQ_MONITOR=ro"])
    #expect(window.wait { $0.isAlternate && $0.contains("held") }, "\(window.screen)")
    #expect(scene.wait(for: "start", in: "ran"))
    for key in ["x", "T"] {
      window.type(key)
      #expect(window.wait { $0.contains("read-only: nothing can be changed") }, "\(window.screen)")
      window.type("j")
      #expect(window.wait { !$0.contains("read-only: nothing can be changed") })
    }
    try scene.open()
    #expect(window.wait { $0.contains("all jobs have ended") }, "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.contains("2 jobs: 2 succeeded"), "\(window.screen)")
    let run = try scene.onlyRun()
    #expect(scene.wait { run.runner == nil })
  }

  @Test("RD-3: If the environment forbids viewers, one sentence says so, and nothing starts")
  func forbiddenViewers() throws {
    let scene = try StoredRunScene(Self.jobs)
    let window = try scene.show(["run", scene.file], environment: ["OPQ_MONITOR=off"])
    #expect(window.waitForEnd() == .status(2))
    #expect(window.screen.contains("OPQ_MONITOR is neither rw nor ro, so the run cannot be shown"))
    #expect(scene.runs.isEmpty && scene.lines("ran").isEmpty)
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

  @Test(
    "RD-5: T retries the selected job after a question, also if its output is shown",
    arguments: ["", "L"])
  func retryKey(screen: String) throws {
    let scene = try StoredRunScene(
      """
        flaky: {run: 'echo ran >> "$DIR/ran"; test -e "$DIR/repaired"'}
        behind: {run: 'echo behind >> "$DIR/ran"', needs: [flaky]}
        other: {run: 'echo other >> "$DIR/other"'}
      """)
    let window = try scene.show(["run", scene.file])
    #expect(window.wait { $0.contains("all jobs have ended") }, "\(window.screen)")
    let run = try scene.onlyRun()
    #expect(run.end(of: "flaky")?.state == "failed" && run.end(of: "behind")?.state == "skipped")
    try scene.open("repaired")
    window.type("\\flaky\r")
    #expect(window.wait { $0.contains("filter: flaky") }, "\(window.screen)")
    #expect(window.waitForSelection(of: "flaky"), "\(window.screen)")
    window.type("\(screen)T")
    #expect(window.wait { $0.contains("Retry #") && $0.contains(" flaky?") }, "\(window.screen)")
    #expect(run.records("retry").isEmpty)
    window.type("y")
    #expect(
      scene.wait {
        let isOver = (try? run.records().last?.event) == "finish"
        return isOver && run.end(of: "behind")?.state == "succeeded"
      }, "\(window.screen)")
    #expect(run.end(of: "flaky")?.state == "succeeded")
    #expect(scene.lines("ran") == ["ran", "ran", "behind"] && scene.lines("other") == ["other"])
    #expect(run.records("start", of: "flaky").map(\.attempt) == [1, 2])
    #expect(run.records("retry").compactMap(\.jobs).map(Set.init) == [["flaky", "behind"]])
    #expect(run.contents("runner.log").contains("retried   flaky"))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    // The status is also 0 if jobs are left.
    #expect(window.screen.contains("3 jobs: 3 succeeded"), "\(window.screen)")
  }
}

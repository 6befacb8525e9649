// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of viewers of `opq-top run`: its own dashboard, and other processes.
@Suite("Viewing jobs", .timeLimit(.minutes(10)), .onOwnThread)
struct RunViewingTests {
  /// Two jobs that depend on a failure, and one that waits until the file `go` exists.
  private static let jobs = """
      broken: {run: 'echo the reason; exit 7'}
      middle: {run: 'true', needs: [broken]}
      last: {run: 'true', needs: [middle]}
      held: {run: 'echo holding >"$DIR/started"; until test -e "$DIR/go"; do sleep 0.02; done', grace: 1s}
      after: {run: 'true', needs: [held]}
    """

  private func file(in scene: LaunchScene) throws -> String {
    let path = scene.file("jobs.yaml")
    try "environment: {DIR: '\(scene.directory.path)'}\njobs:\n\(Self.jobs)\n".write(
      toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// Runs the program to its end, and returns its output.
  private func output(_ arguments: [String], in scene: LaunchScene) throws -> String {
    let window = try PseudoTerminal()
    let output = scene.file("viewer")
    // The output of an earlier program would stay in the file.
    try? FileManager.default.removeItem(atPath: output)
    try window.start(
      BuiltProgram.path, arguments, environment: [MonitoredProcess.variable(scene.directory)],
      redirections: [0: "/dev/null", 1: output, 2: scene.file("viewer-errors")])
    #expect(window.waitForEnd() == .status(0), "\(scene.contents("viewer-errors"))")
    return scene.contents("viewer")
  }

  @Test("JR-19: A recording explains each job by its name, with the origin of a failure")
  func recording() throws {
    let scene = try LaunchScene()
    let file = try file(in: scene)
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    let recording = scene.file("run.opq")
    let ending = try scene.run(["record", "-o", recording, "--", BuiltProgram.path, "run", file])
    #expect(ending == .status(1), "\(scene.contents("errors"))")
    let why = try output(["why", "last", "--recording", recording, "--ascii"], in: scene)
    #expect(why.contains("broken"), "\(why)")
    #expect(why.contains("exit status 7: the reason"), "\(why)")
    let tree = try output(["tree", "middle", "--recording", recording, "--ascii"], in: scene)
    #expect(tree.contains("middle") && tree.contains("broken"), "\(tree)")
    let report = scene.file("report.html")
    _ = try output(["report", recording, "-o", report], in: scene)
    #expect(try String(contentsOfFile: report, encoding: .utf8).contains("broken"))
  }

  @Test("JR-19: Another process attaches to a run, and asks about a job by its name")
  func attaching() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", try file(in: scene)])
    #expect(scene.wait(for: "skipped   last", in: "output"))
    let process = "\(try #require(window.child))"
    let why = try output(["why", "after", "-p", process, "--ascii"], in: scene)
    #expect(why.contains("held"), "\(why)")
    let log = try output(["why", "held", "-p", process, "--json"], in: scene)
    #expect(log.contains("\"held\""))
    // An unknown name is a sentence, and not an answer about another operation.
    #expect(try scene.run(["tree", "hel", "-p", process]) == .status(1))
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(window.waitForEnd() == .status(1))
  }

  @Test("JR-19: A viewer that attaches later knows jobs that have ended")
  func endedJobs() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", "--batch", try file(in: scene)])
    #expect(scene.wait(for: "skipped   last", in: "output"))
    let process = ["-p", "\(try #require(window.child))", "--ascii"]
    let why = try output(["why", "last"] + process, in: scene)
    #expect(why.contains("broken") && why.contains("exit status 7: the reason"), "\(why)")
    let tree = try output(["tree", "middle"] + process, in: scene)
    #expect(tree.contains("middle") && tree.contains("broken"), "\(tree)")
    let log = try output(["log", "broken"] + process, in: scene)
    #expect(log.contains("the reason"), "\(log)")
    // The wait has no timeout, and `held` has not ended.
    let wait = try output(["wait", "broken"] + process, in: scene)
    #expect(wait.contains("broken: failed") && wait.contains("exit status 7"), "\(wait)")
    // A recording that begins now knows the failure too.
    let recording = scene.file("late.opq")
    let recorder = try scene.start(
      ["record", "-o", recording, "-p", "\(try #require(window.child))"], showsScreen: true)
    #expect(poll(for: .seconds(60), pausing: true) { hasOperations(recording) })
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(window.waitForEnd() == .status(1))
    _ = recorder.waitForEnd()
    let later = try output(["why", "last", "--recording", recording, "--ascii"], in: scene)
    #expect(later.contains("exit status 7: the reason"), "\(later)")
  }

  /// Returns whether a file is a recording that contains operations.
  private func hasOperations(_ path: String) -> Bool {
    guard var reader = try? RecordingReader(path: path) else { return false }
    let first = reader.update(at: reader.snapshot(upTo: reader.start))
    return first?.update.changed.isEmpty == false
  }

  @Test("JR-19: An exact name is found although more than 10,000 other names contain it")
  func exactName() throws {
    let scene = try LaunchScene()
    let path = scene.file("jobs.json")
    let values = (1...10_050).map { "\"\\\"\($0)\\\"\"" }.joined(separator: ",")
    let text = """
      {"environment": {"DIR": "\(scene.directory.path)"}, "queues": {"default": {"width": 1}}, "jobs": {
        "first": {"run": "echo holding >$DIR/started; until test -e $DIR/go; do sleep 0.02; done"},
        "aq": {"run": "true", "needs": ["first"], "each": {"N": [\(values)]}},
        "q": {"run": "true", "needs": ["first"]}}}
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let window = try scene.start(["run", "--batch", path])
    #expect(scene.wait(for: "holding", in: "started"))
    let process = ["-p", "\(try #require(window.child))", "--ascii"]
    for name in ["q", "aq[\"10001\"]"] {
      let why = try output(["why", name] + process, in: scene)
      #expect(why.contains(" \(name): waits for") && why.contains("first"), "\(why)")
    }
    window.signal(SIGTERM)
    #expect(window.waitForEnd() == .status(128 + SIGTERM))
  }

  @Test("JR-1, JR-19: A job does not run if a viewer cancels the wait for its needs")
  func cancelledWait() throws {
    let scene = try LaunchScene()
    let path = scene.file("jobs.yaml")
    let text = """
      environment: {DIR: '\(scene.directory.path)'}
      queues: {other: {width: 1}}
      jobs:
        each: {run: 'until test -e "$DIR/go"; do sleep 0.02; done', each: {NUMBER: [1, 2]}}
        clean: {run: 'touch "$DIR/cleaned"', needs: [each], when: always, queue: other}
        alarm: {run: 'touch "$DIR/cleaned"', needs: [each], when: failure, queue: other}
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let window = try scene.start(["run", path])
    #expect(scene.wait(for: "started   each[2]", in: "output"))
    let process = "\(try #require(window.child))"
    _ = try output(["cancel", "all of each", "-p", process], in: scene)
    #expect(scene.wait(for: "cancelled clean", in: "output"))
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(window.waitForEnd() == .status(1))
    #expect(!scene.contents("output").contains("started   clean"))
    #expect(!scene.contents("output").contains("started   alarm"))
  }

  @Test("JR-20: The dashboard shows the jobs, stays after their end, and the status is right")
  func dashboard() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", try file(in: scene)], showsScreen: true)
    #expect(window.wait { $0.isAlternate && $0.contains("jobs.yaml") && $0.contains("held") })
    #expect(scene.wait(for: "holding", in: "started"))
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(window.wait { $0.contains("all jobs have ended") })
    window.type("q")
    #expect(window.waitForEnd() == .status(1))
    #expect(window.screen.contains("5 jobs: 2 succeeded, 1 failed, 2 skipped"))
  }

  @Test("JR-20: The dashboard shows the exit status, the attempts and the last line of a job")
  func outcome() throws {
    let scene = try LaunchScene()
    let path = scene.file("jobs.yaml")
    try """
    jobs:
      broken: {run: 'echo "the reason of $OPQ_ATTEMPT"; exit 7', retries: 1, retry-pause: 1ms}
      first: {run: 'true'}
    """.write(toFile: path, atomically: true, encoding: .utf8)
    let window = try scene.start(["run", path], showsScreen: true)
    #expect(window.wait { $0.contains("all jobs have ended") })
    window.type("\\broken\r")
    #expect(window.wait { $0.contains("filter: broken") } && window.waitForSelection(of: "broken"))
    window.type("\r")
    #expect(
      window.wait { screen in
        ["exit status 7", "the reason of 2", "2 of 2"].allSatisfy { screen.contains($0) }
      }, "\(window.screen)")
    window.type("Q")
    #expect(window.waitForEnd() == .status(1))
  }

  @Test("JR-20: Quitting the dashboard leaves unfinished jobs running, and names the way back")
  func quitting() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", try file(in: scene)], showsScreen: true)
    #expect(scene.wait(for: "holding", in: "started"))
    #expect(window.wait { $0.isAlternate && $0.contains("cancelled 2") })
    let run = try scene.onlyRun()
    let runner = try scene.runner()
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    // The job file is not in the working directory, so the id would not be enough.
    #expect(
      window.screen.contains("run \(run.id) continues; return with: opq-top attach --run "),
      "\(window.screen)")
    #expect(window.screen.lines.joined().contains("attach --run \(run.path)"))
    let list = "\"opq-top runs --state \(scene.file(".opq"))\" lists the runs"
    #expect(window.screen.lines.joined().contains(list), "\(window.screen)")
    #expect(run.runner == runner && run.end(of: "held") == nil)
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(poll(for: .seconds(60), pausing: true) { run.runner == nil })
    #expect(run.end(of: "held")?.state == "succeeded" && run.end(of: "after")?.state == "succeeded")
    #expect(run.contents("runner.log").contains("5 jobs: 2 succeeded, 1 failed, 2 skipped"))
  }

  @Test("JR-20: A stop request restores the terminal first, and the jobs go on")
  func stopping() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", try file(in: scene)], showsScreen: true)
    #expect(scene.wait(for: "holding", in: "started"))
    #expect(window.wait { $0.isAlternate && $0.contains("cancelled 2") })
    let run = try scene.onlyRun()
    // Each thread of the dashboard blocks the signal, so that it cannot stop the process early.
    let tasks = "/proc/\(try #require(window.child))/task"
    for thread in try FileManager.default.contentsOfDirectory(atPath: tasks) {
      let status = try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
      guard let mask = status?.firstMatch(of: #/SigBlk:\s+([0-9a-f]+)/#)?.1 else { continue }
      #expect(try #require(UInt64(mask, radix: 16)) & (1 << UInt64(SIGTSTP - 1)) != 0)
    }
    window.signal(SIGTSTP)
    #expect(window.waitForStop())
    #expect(window.wait { !$0.isAlternate })
    let status = try String(contentsOfFile: "/proc/\(scene.runner())/status", encoding: .utf8)
    #expect(!status.contains("State:\tT"))
    window.signal(SIGCONT)
    #expect(window.wait { $0.isAlternate && $0.contains("cancelled 2") })
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(poll(for: .seconds(60), pausing: true) { run.end(of: "after") != nil })
    window.type("\u{3}")
    #expect(window.waitForEnd() == .status(130))
  }

  @Test("JR-16, JR-20: Ctrl-C in the dashboard leaves the jobs running, with the status 130")
  func interrupting() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", try file(in: scene)], showsScreen: true)
    #expect(scene.wait(for: "holding", in: "started"))
    #expect(window.wait { $0.isAlternate && $0.contains("cancelled 2") })
    let run = try scene.onlyRun()
    let runner = try scene.runner()
    window.type("\u{3}")
    #expect(window.waitForEnd() == .status(130))
    #expect(window.screen.contains("run \(run.id) continues"))
    #expect(run.runner == runner && run.records("end", of: "held").isEmpty)
    // A signal at the runner ends the jobs.
    try scene.endRunner()
    #expect(run.records("end").filter { $0.state == "cancelled" }.count == 2)
    #expect(run.contents("runner.log").contains("2 cancelled"))
  }
}

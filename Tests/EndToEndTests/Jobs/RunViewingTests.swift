// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

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
    let tree = try output(["tree", "last", "--recording", recording, "--ascii"], in: scene)
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

  @Test("JR-20: Quitting the dashboard asks about unfinished jobs, and then ends them")
  func quitting() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", try file(in: scene)], showsScreen: true)
    #expect(scene.wait(for: "holding", in: "started"))
    #expect(window.wait { $0.isAlternate && $0.contains("cancelled 2") })
    window.type("q")
    #expect(window.wait { $0.contains("unfinished jobs and quit?") })
    window.type("y")
    #expect(window.waitForEnd() == .status(1))
    #expect(window.screen.contains("5 jobs: 1 failed, 2 skipped, 2 cancelled"))
  }

  @Test("JR-16, JR-20: Ctrl-C in the dashboard ends the jobs with the status 130")
  func interrupting() throws {
    let scene = try LaunchScene()
    let window = try scene.start(["run", try file(in: scene)], showsScreen: true)
    #expect(scene.wait(for: "holding", in: "started"))
    #expect(window.wait { $0.isAlternate && $0.contains("cancelled 2") })
    window.type("\u{3}")
    #expect(window.waitForEnd() == .status(130))
    #expect(window.screen.contains("2 cancelled"))
  }
}

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

/// Tests of signals that arrive at `opq-top run` without a dashboard.
@Suite("Signals during a run", .timeLimit(.minutes(10)), .onOwnThread)
struct RunSignalTests: JobFileTests {
  /// A job that continues after SIGTERM, and has a long grace period.
  private static let stubborn = """
      stubborn:
        run: |
          trap 'echo asked >> "$DIR/asked"' TERM
          echo started > "$DIR/started"
          until test -e "$DIR/go"; do sleep 0.02; done
        grace: 1d
    """

  @Test(
    "JR-16: After a signal, all jobs are ended before the program exits with 128 and the number",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func signals(number: Int32) throws {
    let scene = try LaunchScene()
    let file = try write(
      """
        stubborn:
          run: |
            trap '' TERM
            sh -c 'trap "" TERM; while :; do sleep 0.05; done' &
            echo "$! $$" > "$DIR/processes"
            while :; do sleep 0.05; done
          grace: 100ms
        next: {run: 'echo ran > "$DIR/ran"', needs: [stubborn], when: always}
      """, in: scene)
    let window = try scene.start(["run", file])
    #expect(scene.wait(for: "\n", in: "processes"))
    window.signal(number)
    #expect(window.waitForEnd() == .status(128 + number))
    #expect(lines(scene).last?.hasPrefix("2 jobs: 2 cancelled") == true)
    #expect(scene.contents("ran") == "")
    for process in scene.contents("processes").split(whereSeparator: \.isWhitespace) {
      let isThere = FileManager.default.fileExists(atPath: "/proc/\(process)")
      #expect(!isThere || isZombie(process))
    }
  }

  @Test(
    "JR-16: A signal after the end of all jobs closes the dashboard, and the summary is printed")
  func signalAfterEnd() throws {
    let scene = try LaunchScene()
    let file = try write("  job: {run: 'true'}", in: scene)
    let window = try scene.start(["run", file], showsScreen: true)
    #expect(window.wait { $0.contains("all jobs have ended") })
    window.signal(SIGTERM)
    #expect(window.waitForEnd() == .status(128 + SIGTERM))
    #expect(window.screen.contains("1 job: 1 succeeded") && !window.screen.isAlternate)
  }

  @Test("JR-16, JR-20: While the jobs of a shown run end, a second signal kills their commands")
  func signalsOfRunner() throws {
    let scene = try LaunchScene()
    let file = try write(Self.stubborn, in: scene)
    let window = try scene.start(["run", file], showsScreen: true)
    #expect(scene.wait(for: "started", in: "started"))
    #expect(window.wait { $0.isAlternate && $0.contains("stubborn") })
    let run = try scene.onlyRun()
    let runner = try scene.runner()
    // A runner has no terminal that can be closed.
    kill(runner, SIGHUP)
    kill(runner, SIGTERM)
    let message =
      "signal 15: ending the running job; send the runner SIGINT to kill the commands\n"
    #expect(
      poll(for: .seconds(60), pausing: true) { run.contents("runner.log").contains(message) })
    #expect(scene.wait(for: "asked", in: "asked"))
    #expect(run.runner == runner && run.records("end").isEmpty)
    kill(runner, SIGINT)
    // The runner does not wait for the dashboard.
    #expect(poll(for: .seconds(60), pausing: true) { run.runner == nil })
    #expect(window.wait { $0.contains("all jobs have ended") })
    window.type("q")
    #expect(window.waitForEnd() == .status(1))
    #expect(window.screen.contains("1 job: 1 cancelled"))
    #expect(window.screen.contains("opq-top: continue the run with: opq-top run --resume"))
  }

  @Test(
    "JR-16: A signal that arrives at a runner after the end of all jobs interrupts nothing",
    arguments: [0, 3])
  func lateSignal(status: Int32) throws {
    let scene = try LaunchScene()
    let file = try write("  job: {run: 'exit \(status)'}", in: scene)
    let window = try scene.start(["run", file], showsScreen: true)
    #expect(window.wait { $0.contains("all jobs have ended") })
    let run = try scene.onlyRun()
    kill(try scene.runner(), SIGTERM)
    #expect(poll(for: .seconds(60), pausing: true) { run.runner == nil })
    #expect(
      window.wait { $0.contains("the process has exited; all jobs have ended") },
      "\(window.screen)")
    window.type("q")
    #expect(window.waitForEnd() == .status(status == 0 ? 0 : 1))
    #expect(window.screen.contains("1 job: 1 \(status == 0 ? "succeeded" : "failed")"))
    #expect(!window.screen.contains("continue the run"), "\(window.screen)")
    #expect(!run.contents("runner.log").contains("continue the run"))
  }

  @Test(
    "JR-16, JR-20: A signal at the dashboard leaves the jobs running",
    arguments: [SIGINT, SIGTERM, SIGQUIT])
  func signalAtDashboard(number: Int32) throws {
    let scene = try LaunchScene()
    let file = try write(Self.stubborn, in: scene)
    let window = try scene.start(["run", file], showsScreen: true)
    #expect(scene.wait(for: "started", in: "started"))
    #expect(window.wait { $0.isAlternate && $0.contains("stubborn") })
    let run = try scene.onlyRun()
    let runner = try scene.runner()
    window.signal(number)
    #expect(window.waitForEnd() == .status(128 + number))
    #expect(window.screen.contains("run \(run.id) continues") && !window.screen.isAlternate)
    #expect(run.runner == runner && scene.contents("asked") == "")
    try "".write(toFile: scene.file("go"), atomically: true, encoding: .utf8)
    #expect(poll(for: .seconds(60), pausing: true) { run.runner == nil })
    #expect(run.end(of: "stubborn")?.state == "succeeded")
  }

  @Test("JR-16: A signal ends the jobs and the program, also if the output is not read")
  func blockedOutput() throws {
    let scene = try LaunchScene()
    let names = (1...300).map { "\(String(repeating: "x", count: 150))\($0)" }
    let file = try write(
      """
        held: {run: 'echo $$ > "$DIR/held"; exec sleep 600', queue: other}
        noise: {run: 'true', each: {N: [\(names.joined(separator: ", "))]}}
        over: {run: 'touch "$DIR/over"', needs: [noise]}
      """, in: scene, head: "queues: {other: {width: 1}}")
    // The test opens the pipe and reads nothing. Two lines for each job do not fit into the pipe.
    let pipe = scene.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let reader = open(pipe, O_RDWR | O_NONBLOCK)
    defer { close(reader) }
    let window = try scene.start(
      ["-c", "exec '\(BuiltProgram.path)' run '\(file)' >'\(pipe)'"], of: "/bin/sh")
    #expect(scene.wait(for: "\n", in: "held"))
    #expect(
      poll(for: .seconds(60), pausing: true) {
        var count: Int32 = 0
        _ = ioctl(reader, UInt(FIONREAD), &count)
        return count > 50_000 && FileManager.default.fileExists(atPath: scene.file("over"))
      })
    window.signal(SIGTERM)
    #expect(window.waitForEnd() == .status(128 + SIGTERM))
    let process = scene.contents("held").split(whereSeparator: \.isWhitespace)[0]
    #expect(!FileManager.default.fileExists(atPath: "/proc/\(process)") || isZombie(process))
  }

  @Test("JR-16: A signal that arrives at a thread that does not block it ends the jobs too")
  func signalAtOtherThread() throws {
    let scene = try LaunchScene()
    let file = try write("  held: {run: 'echo $$ > \"$DIR/held\"; exec sleep 600'}", in: scene)
    let window = try scene.start(["run", file])
    #expect(scene.wait(for: "\n", in: "held"))
    try window.signalUnblockedThread(SIGTERM)
    #expect(window.waitForEnd() == .status(128 + SIGTERM))
    #expect(lines(scene).last?.hasPrefix("1 job: 1 cancelled") == true)
  }

  @Test("JR-16: A second Ctrl-C ends the grace periods, and a second SIGHUP does not")
  func secondSignal() throws {
    let scene = try LaunchScene()
    let file = try write(Self.stubborn, in: scene)
    let window = try scene.start(["run", file])
    #expect(scene.wait(for: "started", in: "started"))
    window.signal(SIGHUP)
    let message = "opq-top: signal 1: ending the running job; press Ctrl-C to kill the commands\n"
    #expect(scene.wait(for: message, in: "errors"))
    #expect(scene.wait(for: "asked", in: "asked"))
    window.signal(SIGHUP)
    // This command gives the program time to handle the second signal.
    let process = "\(try #require(window.child))"
    let viewer = try PseudoTerminal()
    try viewer.start(
      BuiltProgram.path, ["why", "stubborn", "-p", process],
      environment: [MonitoredProcess.variable(scene.directory)])
    #expect(viewer.waitForEnd() == .status(0))
    #expect(scene.contents("errors") == message)
    #expect(scene.contents("output") == "started   stubborn\n")
    window.signal(SIGINT)
    #expect(window.waitForEnd() == .status(128 + SIGHUP))
    #expect(lines(scene).last?.hasPrefix("1 job: 1 cancelled") == true)
  }

  private func isZombie(_ process: Substring) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    return status.isEmpty || status.contains("State:\tZ")
  }
}

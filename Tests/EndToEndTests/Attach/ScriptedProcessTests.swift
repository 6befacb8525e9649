// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import MonitorTransport
import TestSupport
import Testing

/// Tests of the effects that a process's messages have on a viewer, from the first byte to the exit
/// status.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct ScriptedProcessTests {
  private func batch(_ process: ScriptedProcess, _ arguments: [String] = []) throws
    -> PseudoTerminal
  {
    let window = try PseudoTerminal(columns: 200)
    try window.start(BuiltProgram.path, ["--socket", process.path, "--batch"] + arguments)
    return window
  }

  private func dashboard(_ process: ScriptedProcess) throws -> PseudoTerminal {
    let window = try PseudoTerminal(columns: 120, rows: 30)
    try window.start(BuiltProgram.path, ["--socket", process.path])
    return window
  }

  @Test("Another major version of the protocol gives status 4 and a sentence with both versions")
  func otherVersion() throws {
    let versions = ProtocolVersions(major: 9, minor: 2)
    let answers: [ProcessMessage] = [
      .hello(ScriptedProcess.hello(), versions: versions),
      .bye(Farewell(cause: .versionMismatch, reason: "", versions: versions)),
    ]
    for answer in answers {
      let process = try ScriptedProcess()
      let window = try batch(process)
      let viewer = try process.accept()
      viewer.send(answer)
      #expect(window.waitForEnd() == .status(4))
      #expect(
        window.screen.contains(
          "opq-top: the process uses version 9.2 of the protocol, and this opq-top uses "
            + "\(ProtocolVersions.current)"))
    }
  }

  @Test("A process with the maximum number of viewers gives status 5 and a sentence")
  func noRoom() throws {
    let process = try ScriptedProcess()
    let window = try batch(process)
    let viewer = try process.accept()
    viewer.send(.bye(Farewell(cause: .tooManyViewers, reason: "8 viewers watch it\u{1B}[2J")))
    #expect(window.waitForEnd() == .status(5))
    #expect(window.screen.contains("opq-top: 8 viewers watch it·[2J"))
  }

  @Test("A signal ends a viewer that waits for a greeting and has not changed the terminal")
  func signalBeforeTheGreeting() throws {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
      let process = try ScriptedProcess()
      let window = try dashboard(process)
      let viewer = try process.accept()
      #expect(viewer.receive { if case .hello = $0 { true } else { false } } != nil)
      window.signal(signal)
      #expect(window.waitForEnd() == .signal(signal))
      #expect(window.byteCount == 0)
      #expect(window.settings.isCooked)
    }
  }

  @Test("A signal ends a viewer at any moment after its start, and the terminal is restored")
  func signalAtAnyMoment() throws {
    // The only process that the viewer can find is stopped, so it does not answer.
    let process = try MonitoredProcess()
    process.signal(SIGSTOP)
    for round in 0..<12 {
      let window = try PseudoTerminal()
      let before = window.settings
      try window.start(
        BuiltProgram.path, environment: [MonitoredProcess.variable(process.runtime)])
      window.absorb(for: .milliseconds(25 * round))
      window.signal(SIGTERM)
      #expect(window.waitForEnd() == .signal(SIGTERM), "round \(round)")
      #expect(window.settings == before && !window.screen.isAlternate, "round \(round)")
    }
  }

  @Test("A lost connection ends batch mode with the last frame, a sentence and status 1")
  func lostInBatchMode() throws {
    let process = try ScriptedProcess()
    let window = try batch(process, ["-d", "3600s"])
    let viewer = try process.welcome()
    #expect(window.wait { $0.contains("one job") })
    viewer.close()
    #expect(window.waitForEnd() == .status(1))
    #expect(
      window.screen.contains(
        "opq-top: connection lost: "))
  }

  @Test("Batch mode reports once that a process does not answer, and once that it does again")
  func silentInBatchMode() throws {
    let process = try ScriptedProcess()
    let directory = try TemporaryDirectory()
    let errors = directory.file("errors")
    let window = try PseudoTerminal(columns: 200)
    try window.start(
      BuiltProgram.path, ["--socket", process.path, "--batch", "-d", "100ms"],
      redirections: [1: directory.file("output"), 2: errors])
    let viewer = try process.welcome()
    var said: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }
    func waitUntilSaid(_ words: String) {
      let deadline = ContinuousClock.now + .seconds(60)
      while !said.contains(words), ContinuousClock.now < deadline {
        window.absorb(for: .milliseconds(20))
      }
    }
    let silent = "opq-top: the process does not answer; frames show its last known state\n"
    waitUntilSaid(silent)
    #expect(said == silent)
    // The viewer checks each second whether the process answers. While the process stays silent,
    // the viewer prints nothing more.
    window.absorb(for: .milliseconds(1_500))
    #expect(said == silent)
    viewer.send(.pong(0))
    waitUntilSaid("again\n")
    #expect(said == silent + "opq-top: the process answers again\n")
    viewer.close()
    #expect(window.waitForEnd() == .status(1))
  }

  @Test("The end of a process is detected although another process holds its connection")
  func connectionOutlivesTheProcess() throws {
    let process = try ScriptedProcess()
    let other = try PseudoTerminal()
    try other.start("/bin/sh", ["-c", "echo here; exec sleep 1000"])
    #expect(other.wait { $0.contains("here") })
    let id = try #require(other.child)
    var hello = ScriptedProcess.hello(startTicks: try #require(ProcessStart(of: id)).ticks)
    hello.processID = id
    hello.bootID = ProcessStart.bootID
    let window = try dashboard(process)
    let viewer = try process.welcome(hello)
    #expect(window.wait { $0.contains("LIVE") && $0.contains("one job") })
    other.signal(SIGKILL)
    #expect(other.waitForEnd() == .signal(SIGKILL))
    #expect(
      window.wait { $0.contains("EXITED ") && $0.contains("the process crashed or was killed") })
    withExtendedLifetime(viewer) {}
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("In batch mode, ages of another machine's operations also use that machine's clock")
  func otherClock() throws {
    let process = try ScriptedProcess()
    let window = try batch(process, ["-n", "1", "--json", "--fields", "id,secondsInState"])
    let viewer = try process.welcome()
    #expect(window.waitForEnd() == .status(0))
    withExtendedLifetime(viewer) {}
    let text = window.screen.lines.joined()
    let start = try #require(text.range(of: "\"secondsInState\":")).upperBound
    let seconds = try #require(Double(text[start...].prefix { $0.isNumber || $0 == "." }))
    // A viewer that computed the age of an operation with the clock of its own machine would show
    // the difference between the two clocks.
    #expect((0..<60).contains(seconds), "\(text)")
  }

  @Test("A process that exceeds its credit is disconnected")
  func tooMuch() throws {
    let process = try ScriptedProcess()
    let window = try batch(process, ["-d", "3600s"])
    let viewer = try process.accept()
    viewer.send(.hello(ScriptedProcess.hello(), versions: .current))
    #expect(viewer.receive { if case .credit = $0 { true } else { false } } != nil)
    viewer.send(frames: (0..<60).flatMap { _ in UpdateParts(ScriptedProcess.update) })
    #expect(window.waitForEnd() == .status(1))
    #expect(window.screen.contains("sent more updates than opq-top requested"))
  }

  @Test("The same process is live again after a reconnection; until then the reason is shown")
  func reconnects() throws {
    let process = try ScriptedProcess()
    let window = try dashboard(process)
    var viewer = try process.welcome()
    #expect(window.wait { $0.contains("LIVE") && $0.contains("one job") })
    viewer.close()
    #expect(window.wait { $0.contains("RECONNECTING") })
    viewer = try process.accept()
    viewer.send(.bye(Farewell(cause: .tooManyViewers, reason: "8 viewers watch it")))
    viewer.close()
    #expect(window.wait { $0.contains("8 viewers watch it; reconnecting") })
    viewer = try process.welcome()
    #expect(window.wait { $0.contains("LIVE") && !$0.contains("RECONNECTING") })
    #expect(window.screen.contains("one job"))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    // The viewer ends the connection, with or without a farewell message.
    #expect(viewer.receive { _ in false } == nil)
  }

  @Test("Another process at the same path is not mistaken for the watched one")
  func anotherProcess() throws {
    let process = try ScriptedProcess()
    let window = try dashboard(process)
    let viewer = try process.welcome()
    #expect(window.wait { $0.contains("LIVE") })
    viewer.close()
    let second = try process.accept()
    second.send(.hello(ScriptedProcess.hello(startTicks: 6), versions: .current))
    #expect(
      window.wait { $0.contains("EXITED") && $0.contains("replaced by another one") })
    #expect(window.screen.contains("one job"))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("The result of a command is reported as unknown if the connection is lost before it")
  func lostCommand() throws {
    let process = try ScriptedProcess()
    let window = try dashboard(process)
    let viewer = try process.welcome()
    #expect(window.wait { $0.contains("one job") })
    window.type("x")
    #expect(window.wait { $0.contains("Cancel #42") })
    window.type("y")
    #expect(viewer.receive { if case .command = $0 { true } else { false } } != nil)
    viewer.close()
    #expect(
      window.wait { $0.contains("#42 one job: result unknown, the connection was lost") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("A stopped process is silent, and live again when it continues")
  func stoppedProcess() throws {
    let process = try MonitoredProcess()
    let window = try process.watch()
    #expect(window.wait { $0.contains("LIVE") })
    process.signal(SIGSTOP)
    #expect(window.wait { $0.contains("SILENT ") && $0.contains("the process does not answer") })
    process.signal(SIGCONT)
    #expect(window.wait { $0.contains("LIVE") && !$0.contains("SILENT") })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}

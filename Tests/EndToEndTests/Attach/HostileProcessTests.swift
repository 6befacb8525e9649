// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

/// Tests of how the program reacts to a process that violates the protocol.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct HostileProcessTests {
  /// Watches a process in batch mode, and returns the program's output and its exit status.
  private func watch(
    _ process: FakeProcess, frames: Int = 1
  ) throws -> (output: String, errors: String, ending: PseudoTerminal.Ending?) {
    let directory = try TemporaryDirectory()
    let window = try PseudoTerminal()
    try window.start(
      BuiltProgram.path, ["--socket", process.path, "--batch", "-n", "\(frames)", "-d", "100ms"],
      redirections: [
        0: "/dev/null", 1: directory.file("output"), 2: directory.file("errors"),
      ])
    let ending = window.waitForEnd(seconds: 60)
    return (
      try String(contentsOfFile: directory.file("output"), encoding: .utf8),
      try String(contentsOfFile: directory.file("errors"), encoding: .utf8), ending
    )
  }

  @Test("Valid messages of a process are shown, and then its end is reported")
  func soundProcess() throws {
    let process = try FakeProcess { _ in
      (
        LocalListener.frame(FakeProcess.hello.encoded()),
        FakeProcess.update.flatMap(LocalListener.frame)
      )
    }
    let (output, errors, ending) = try watch(process)
    #expect(ending == .status(1), "\(errors)")
    #expect(errors.hasPrefix("opq-top: connection lost: "), "\(errors)")
    #expect(output.contains("job 7"))
  }

  /// `OperationLedgerTests` also checks the limit for the operations of a process, without starting
  /// a process and in less time.
  @Test(
    "A process with too many operations is disconnected, with one sentence",
    .enabled(if: Effort.percent >= 100, "It takes 15 seconds, so only .ci/run runs it"))
  func tooManyOperations() throws {
    let process = try ScriptedProcess()
    let directory = try TemporaryDirectory()
    let window = try PseudoTerminal()
    try window.start(
      BuiltProgram.path, ["--socket", process.path, "--batch", "-d", "3600s"],
      redirections: [0: "/dev/null", 1: "/dev/null", 2: directory.file("errors")])
    let viewer = try process.accept()
    viewer.send(.hello(ScriptedProcess.hello(), versions: .current))
    var id = UInt64(0)
    var isListening = true
    var credit = 0
    while isListening, id < 1_000 {
      id += 1
      var update = ScriptedProcess.update
      // The process sends one byte for each dependency, but the viewer needs about 40 bytes of
      // memory for each.
      update.changed = [
        OperationReport(
          id: .init(id), name: "", className: "Block", queue: .init(1), state: .waiting,
          dependencies: Array(repeating: .init(1), count: 100_000))
      ]
      for frame in UpdateParts(update) where isListening {
        while credit == 0, isListening {
          let answer = viewer.receive { if case .credit = $0 { true } else { false } }
          if case .credit(let count) = answer { credit = count } else { isListening = false }
        }
        viewer.send(frames: [frame])
        credit -= 1
      }
    }
    #expect(window.waitForEnd(seconds: 60) == .status(1))
    let errors = try String(contentsOfFile: directory.file("errors"), encoding: .utf8)
    #expect(
      errors.hasSuffix("lost: the process reports more operations than opq-top can store\n"),
      "\(errors)")
    // The viewer disconnects when the operations need one gibibyte of memory.
    #expect((300..<400).contains(id), "\(id)")
  }

  @Test("Damaged and random frames never crash the viewer")
  func fuzz() throws {
    let seed = SeededGenerator.announcedSeed()
    let corpus =
      FakeProcess.update + [
        FakeProcess.hello.encoded(), ProcessMessage.pong(7).encoded(),
        ProcessMessage.commandResult(token: 1, outcomes: [.requested], dependents: []).encoded(),
        ProcessMessage.bye(Farewell(cause: .malformedMessage, reason: "x")).encoded(),
      ]
    let process = try FakeProcess { connection in
      var random = SeededGenerator(seed: seed &+ UInt64(connection))
      // Four of five connections send a valid greeting, so that most of them continue after it.
      let isGreeting = Int.random(in: 0..<5, using: &random) > 0
      let greeting = isGreeting ? LocalListener.frame(FakeProcess.hello.encoded()) : []
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        var frame = corpus.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...3, using: &random) where !frame.isEmpty {
          frame[Int.random(in: 0..<frame.count, using: &random)] = .random(
            in: 0...255, using: &random)
        }
        bytes += LocalListener.frame(frame)
      }
      switch Int.random(in: 0..<4, using: &random) {
      // Some connections end with a length that is not allowed, or with the length of a message
      // that is incomplete.
      case 0: bytes += [0xFF, 0xFF, 0xFF, 0x7F] + [UInt8](repeating: 0, count: 1_000)
      case 1: bytes += [200, 0, 0, 0, 1, 2, 3]
      default: break
      }
      return (greeting, bytes)
    }
    let allowed: [PseudoTerminal.Ending?] = [0, 1, 4, 5].map { .status($0) }
    for _ in 0..<Effort.scaled(20) {
      // The viewer connects again when a connection is lost, so that one viewer receives the bytes
      // of several connections.
      let (_, errors, ending) = try watch(process, frames: 5)
      #expect(allowed.contains(ending), "seed \(seed): \(errors)")
      let isSentence = errors.isEmpty || errors.hasPrefix("opq-top: ") && errors.last == "\n"
      #expect(isSentence, "seed \(seed): \(errors)")
      #expect(errors.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    }
    #expect(process.connectionCount >= Effort.scaled(20))
  }
}

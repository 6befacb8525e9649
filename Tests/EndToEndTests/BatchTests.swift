// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct BatchTests {
  /// Runs the program in batch mode, and returns its exact output.
  private func output(
    _ arguments: [String], ending: PseudoTerminal.Ending = .status(0)
  ) throws -> String {
    let (text, actual) = try BuiltProgram.output(["demo", "--batch"] + arguments)
    #expect(actual == ending)
    return text
  }

  @Test func aFrameIsATextWithoutEscapes() throws {
    let text = try output(["-n", "2", "-d", "0.1"])
    let headers = text.split(separator: "\n").filter { $0.contains(" total ") }
    #expect(headers.count == 2)
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    #expect(text.contains("OPERATION"))
  }

  @Test func theFirstFrameContainsOperations() throws {
    let text = try output(["-n", "1", "--json", "-d", "10s"])
    let frame = try #require(try frames(text).first)
    #expect(frame.counts.total > 0)
    #expect(!frame.operations.isEmpty)
  }

  @Test func framesAreJSONLinesWithConsistentCounts() throws {
    let frames = try frames(output(["--json", "-n", "3", "-d", "100ms"]))
    #expect(frames.count == 3)
    for frame in frames {
      #expect(frame.schema == BatchFrame.currentSchema)
      #expect(frame.counts.isConsistent)
      #expect(frame.queues.reduce(0) { $0 + $1.counts.total } == frame.counts.total)
    }
    let times = frames.map(\.time.monotonic)
    #expect(times == times.sorted())
  }

  @Test func aClosedPipeIsNoError() throws {
    let window = try PseudoTerminal(columns: 200)
    let script = """
      { '\(BuiltProgram.path)' --batch -d 20ms; echo "ended $?" >&2; } | head -n 1 >/dev/null
      """
    try window.start("/bin/sh", ["-c", script])
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.lines[0] == "ended 0")
  }

  @Test func aFullDiskIsReportedWithStatusOne() throws {
    let window = try PseudoTerminal(columns: 100)
    try window.start(BuiltProgram.path, ["--batch", "-n", "1"], redirections: [1: "/dev/full"])
    #expect(window.waitForEnd() == .status(1))
    #expect(
      window.screen.lines[0] == "opq-top: cannot write to standard output: No space left on device")
  }

  @Test func aSignalEndsTheProgram() throws {
    let window = try PseudoTerminal(columns: 200)
    try window.start(BuiltProgram.path, ["--batch", "-d", "20ms"])
    #expect(window.wait { $0.contains("executing") })
    window.signal(2)
    #expect(window.waitForEnd() == .signal(2))
  }

  @Test func aOnceRunNeedsNoTerminal() throws {
    let window = try PseudoTerminal()
    try window.start(
      BuiltProgram.path, ["--once", "--speed", "50"],
      redirections: [0: "/dev/null", 1: "/dev/null"])
    #expect(window.waitForEnd(seconds: 150) == .status(0))
    #expect(window.byteCount == 0)
  }

  @Test("A frame has all warnings except those of allowed kinds")
  func warnings() async throws {
    let arguments = ["deadlock", "-n", "10", "-d", "500ms"]
    // The test runs both programs at the same time, because each program takes five seconds.
    async let all = onOwnThread { try output(arguments) }
    let json = try await onOwnThread {
      try output(arguments + ["--json", "--allow", "all", "--warn", "cycle"])
    }
    let kinds = try frames(json).map { $0.warnings.map(\.kind) }
    #expect(kinds.contains([.cycle]) && kinds.allSatisfy { $0 == [.cycle] || $0.isEmpty })
    let text = try await all
    #expect(text.contains("\n! cycle of #") && text.contains("\n! slot-deadlock of #"))
  }

  @Test("A filter omits operations but not counts, and TSV frames differ by their time")
  func aFilterIsApplied() throws {
    let json = try output(["--json", "-n", "1", "--filter", "queue:io state:wait"])
    let frame = try #require(try frames(json).first)
    #expect(!frame.operations.isEmpty)
    #expect(frame.operations.allSatisfy { $0.queue == "io" && $0.state == .waiting })
    #expect(frame.counts.total > frame.operations.count && frame.queues.count == 4)
    let text = try output(
      ["--tsv", "-n", "10", "-d", "50ms", "--filter", "queue:net", "--fields", "id,queue"])
    let lines = text.split(separator: "\n").map { $0.split(separator: "\t") }
    #expect(lines[0] == ["time", "id", "queue"])
    #expect(lines.dropFirst().allSatisfy { $0.count == 3 && $0[2] == "net" })
    // A frame has no line if the queue has no operation at that time.
    #expect(Set(lines.dropFirst().map { $0[0] }).count >= 3)
  }

  private func frames(_ text: String) throws -> [BatchFrame] {
    try text.split(separator: "\n").map {
      try JSONDecoder().decode(BatchFrame.self, from: Data($0.utf8))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests with a terminal that receives no output for some time or permanently.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct StuckTerminalTests {
  @Test(
    "T46: A signal ends the program while the terminal is stopped, drawing or idle",
    arguments: [true, false])
  func aSignalEndsItWhileTheTerminalIsStopped(isPaused: Bool) throws {
    let window = try BuiltProgram.start(["demo", "stubborn"])
    if isPaused {
      window.type("p")
      #expect(window.wait { $0.contains("PAUSED") })
    }
    window.absorb(for: .milliseconds(100))
    window.refuseOutput()
    let start = ContinuousClock.now
    window.signal(SIGTERM)
    #expect(window.waitForEnd(seconds: 15, isReading: false) == .signal(SIGTERM))
    // The end of the program may take one second for the main loop, half a second for the terminal,
    // and one second for the operations of the demo. The limit leaves a margin.
    #expect(start.duration(to: .now) < .seconds(8))
    #expect(window.settings.isCooked)
  }

  @Test(
    "T46: While the terminal is stopped, the work continues and memory does not grow; one frame follows"
  )
  func aStoppedTerminalCostsNothing() throws {
    let window = try BuiltProgram.start(columns: 120, rows: 40, ["--speed", "3"])
    #expect(window.wait { $0.contains("executing") })
    let child = try #require(window.child)
    let before = try #require(finishedCount(window.screen))
    window.refuseOutput()
    let memory = try #require(ProcessStatus.amount("VmRSS", of: child))
    let bytes = window.byteCount
    window.absorb(for: .seconds(5))
    // After the terminal has stopped, only the output that was already in transit arrives.
    #expect(window.byteCount - bytes < 65_536)
    let grown = try #require(ProcessStatus.amount("VmRSS", of: child)) - memory
    #expect(grown < 32_768, "\(grown) KiB more")
    let stopped = window.byteCount
    window.takeOutputAgain()
    #expect(
      window.wait { screen in finishedCount(screen).map { $0 > before + 5 } ?? false },
      "the work went on meanwhile: \(window.screen.lines)")
    // When the terminal continues, it receives the rest of the incomplete frame and one new frame.
    // The frames in between are not sent.
    #expect(window.byteCount - stopped < 40_000)
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  private func finishedCount(_ screen: VirtualScreen) -> Int? {
    for line in screen.lines {
      guard let match = line.firstMatch(of: /finished ([0-9]+)/) else { continue }
      return Int(match.1)
    }
    return nil
  }

  @Test("T46: If no output is read, the signal ends it, and its memory does not grow")
  func aTerminalThatNoProgramReads() throws {
    let window = try BuiltProgram.start(columns: 200, rows: 60, ["--speed", "3"])
    let child = try #require(window.child)
    window.typeUntilStuck("\u{C}")
    let memory = try #require(ProcessStatus.amount("VmRSS", of: child))
    window.ignore(for: .seconds(3))
    let grown = try #require(ProcessStatus.amount("VmRSS", of: child)) - memory
    #expect(grown < 32_768, "\(grown) KiB more")
    window.signal(SIGTERM)
    #expect(window.waitForEnd(isReading: false) == .signal(SIGTERM))
  }

  /// How a program detects that its window was closed: by a signal and an error of the terminal, or
  /// only by the error.
  enum Closing: CaseIterable { case bySignalToo, byTheTerminalAlone }

  @Test(
    "T25: When its window is closed, it usually ends within a second, and does not spin",
    arguments: Closing.allCases)
  func itEndsWhenTheWindowIsClosed(closing: Closing) throws {
    let times = try (0..<5).map { _ in try closeWindow(closing) }
    // The test compares the median of five runs, because other programs may use the processors
    // during a single run.
    #expect(times.sorted()[2] < .seconds(1), "\(times)")
    #expect(times.allSatisfy { $0 < .seconds(3) }, "\(times)")
  }

  /// Returns the time from closing the window to the end of the program.
  private func closeWindow(_ closing: Closing) throws -> Duration {
    let window = try PseudoTerminal()
    // The dashboard shows an imaginary process, so that all processor time is that of the
    // dashboard.
    let file = try NamesFile(["one", "two"])
    let script = closing == .bySignalToo ? "" : "trap '' HUP; "
    try window.start("/bin/sh", ["-c", "\(script)exec '\(NamesFile.program)' '\(file.path)'"])
    #expect(window.wait { $0.contains("total") })
    window.absorb(for: .milliseconds(200))
    let before = try #require(window.processorTime)
    let start = ContinuousClock.now
    window.hangUp()
    let ending = window.waitForEnd(seconds: 10)
    let time = start.duration(to: .now)
    switch closing {
    // The system also sends a signal to the leader of the terminal's session. The program ends by
    // the signal or by the error of the terminal, whichever it detects first.
    case .bySignalToo: #expect(ending == .status(1) || ending == .signal(SIGHUP))
    case .byTheTerminalAlone: #expect(ending == .status(1))
    }
    let spent = try #require(window.totalProcessorTime) - before
    #expect(spent < .milliseconds(50), "\(spent)")
    return time
  }
}

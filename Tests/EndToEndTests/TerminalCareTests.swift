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

/// Tests that the program restores the terminal, however it ends.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct TerminalCareTests {
  private func expectGivenBack(_ screen: VirtualScreen) {
    #expect(!screen.isAlternate)
    #expect(screen.isCursorVisible)
    #expect(!screen.isPasteBracketed)
  }

  @Test(
    "Quitting restores the terminal; Ctrl-C has the effect of the signal",
    arguments: [("q", 0), ("Q", 0), ("\u{3}", 130), ("\u{1B}[21~", 0)])
  func quittingGivesTheTerminalBack(key: String, status: Int) throws {
    let window = try BuiltProgram.startInShell()
    #expect(!window.settings.isCooked)
    window.type(key)
    #expect(window.wait { $0.contains("back \(status)") })
    #expect(window.settings.isCooked)
    expectGivenBack(window.screen)
    #expect(window.screen.unknownSequences == [])
  }

  @Test(
    "T20: A termination signal restores the terminal and ends the process by that signal",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSignalEndsTheProgram(number: Int32) throws {
    let window = try BuiltProgram.start()
    window.signal(number)
    #expect(window.waitForEnd() == .signal(number))
    expectGivenBack(window.screen)
  }

  @Test(
    "T20, T21: A fatal signal restores the terminal and ends the process by that signal",
    arguments: [SIGQUIT, SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSYS])
  func aFatalSignalGivesTheTerminalBack(number: Int32) throws {
    let window = try BuiltProgram.start()
    window.signal(number)
    #expect(window.waitForEnd() == .signal(number))
    expectGivenBack(window.screen)
  }

  @Test(
    "T20, T21: The terminal has its former settings after each signal",
    arguments: [
      SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSYS,
    ])
  func theSettingsAreThoseFromBefore(number: Int32) throws {
    let directory = try TemporaryDirectory()
    let window = try PseudoTerminal()
    let before = window.settings
    // A shell starts the program and keeps the terminal after the program has ended.
    let inner = "echo $$ >'\(directory.file("pid"))'; exec '\(BuiltProgram.path)'"
    try window.start("/bin/sh", ["-c", "sh -c \"$0\"; echo \"back $?\"; read line", inner])
    #expect(window.wait { $0.contains("total") })
    #expect(window.settings != before)
    let text = try String(contentsOfFile: directory.file("pid"), encoding: .utf8)
    let job = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    kill(job, number)
    #expect(window.wait { $0.contains("back \(128 + number)") })
    #expect(window.settings == before)
    #expect(window.screen.unknownSequences == [])
  }

  @Test("T21: The message of a Swift trap is readable on the restored terminal")
  func aTrapIsReportedAfterwards() throws {
    let file = try NamesFile(["one", "two"])
    let window = try PseudoTerminal(columns: 200, rows: 50)
    let before = window.settings
    try window.start(
      "/bin/sh",
      ["-c", "'\(NamesFile.program)' '\(file.path)' trap; echo \"back $?\"; read line"])
    #expect(window.wait { $0.isAlternate && $0.contains("total") })
    window.type("gxy")
    #expect(window.wait { $0.contains("back 132") || $0.contains("back 133") })
    #expect(window.screen.contains("made to trap"))
    expectGivenBack(window.screen)
    #expect(window.settings == before)
  }

  @Test("T21: A crash is reported on the restored terminal")
  func aCrashIsReportedAfterwards() throws {
    let window = try PseudoTerminal(columns: 120, rows: 200)
    try window.start(
      BuiltProgram.path,
      environment: [
        "SWIFT_BACKTRACE=enable=yes,interactive=no,color=no,symbolicate=off,threads=crashed,images=none"
      ])
    #expect(window.wait { $0.isAlternate && $0.contains("total") })
    window.signal(SIGSEGV)
    #expect(window.waitForEnd(seconds: 60) == .signal(SIGSEGV))
    expectGivenBack(window.screen)
    // The test checks only the first line of the crash report. A separate program prints the other
    // lines, which may be too late on a busy machine.
    let isReported = window.screen.lines.contains { $0.contains("Backtracing from") }
    #expect(isReported, "\(window.screen.lines.prefix(20))")
  }

  @Test(
    "It ends by the signal even if the terminal accepts no output", arguments: [SIGTERM, SIGINT])
  func aSignalEndsItWhileItIsStuck(number: Int32) throws {
    let window = try BuiltProgram.start(columns: 200, rows: 60)
    window.typeUntilStuck("\u{C}")
    window.signal(number)
    #expect(window.waitForEnd(isReading: false) == .signal(number))
  }

  @Test("T22: A second signal does not disturb the end")
  func twoSignalsEndIt() throws {
    let window = try BuiltProgram.start()
    window.signal(SIGINT)
    window.signal(SIGINT)
    #expect(window.waitForEnd() == .signal(SIGINT))
    expectGivenBack(window.screen)
  }

  @Test(
    "T18: Stopping returns the terminal to the shell, and continuing repaints the screen",
    arguments: [true, false])
  func stoppingAndContinuing(isByKey: Bool) throws {
    let window = try BuiltProgram.start()
    let before = window.screen
    #expect(!window.settings.isCooked)
    if isByKey { window.type("\u{1A}") } else { window.signal(SIGTSTP) }
    try #require(window.waitForStop())
    #expect(window.settings.isCooked)
    expectGivenBack(window.screen)
    // While the program is stopped, the terminal changes its size. This also clears the screen, as
    // another program could.
    window.resize(columns: 100, rows: 30)
    window.signal(SIGCONT)
    #expect(window.wait { $0.isAlternate && $0.contains("total") && $0.lines[29] != "" })
    #expect(!window.screen.isCursorVisible)
    #expect(!window.settings.isCooked)
    #expect(before.columns == 80)
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T18: No request to stop is lost while the program draws")
  func noRequestToStopIsLost() throws {
    let window = try BuiltProgram.start(columns: 200, rows: 60, ["--speed", "5"])
    for round in 1...50 {
      // The signal arrives while the program redraws the screen.
      window.type("\u{C}\u{C}j")
      window.signal(SIGTSTP)
      try #require(window.waitForStop(), "round \(round)")
      window.signal(SIGCONT)
      try #require(window.wait { $0.isAlternate && $0.contains("total") }, "round \(round)")
    }
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T19: After a stop from outside, the screen is restored when the program continues")
  func aStopFromOutsideIsRepaired() throws {
    let window = try BuiltProgram.start()
    window.signal(SIGSTOP)
    window.resize(columns: 80, rows: 24)
    window.signal(SIGCONT)
    #expect(window.wait { $0.isAlternate && $0.contains("total") && $0.isPasteBracketed })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T13, T23: The frame fits after each change of size")
  func theFrameFitsEverySize() throws {
    let window = try BuiltProgram.start()
    for (columns, rows) in [(120, 40), (20, 5), (1, 1), (80, 24)] {
      window.resize(columns: columns, rows: rows)
      // The last row shows the keys if the screen has at least 40 columns.
      #expect(
        window.wait { screen in
          columns < 40 ? screen.lines.joined() != "" : screen.lines[rows - 1] != ""
        }, "\(columns)x\(rows)")
    }
    for index in 0..<200 { window.resize(columns: 40 + index % 100, rows: 10 + index % 40) }
    window.resize(columns: 90, rows: 30)
    #expect(window.wait { $0.contains("total") && $0.lines[29] != "" })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T47: A picture that does not change writes nothing")
  func anIdlePictureWritesNothing() throws {
    let window = try BuiltProgram.start()
    window.type("p")
    #expect(window.wait { $0.contains("PAUSED") })
    // On a busy machine, the header shows for a moment how late the picture is.
    let isSilent = (0..<10).contains { _ in
      let before = window.byteCount
      window.absorb(for: .milliseconds(1_500))
      return window.byteCount == before
    }
    #expect(isSilent)
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }
}

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

@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct StartTests {
  /// Starts the program with streams or variables with which it cannot show the dashboard, and
  /// returns its message.
  private func refusal(
    redirections: [Int32: String] = [:], environment: [String] = [], _ arguments: [String] = []
  ) throws -> (text: String, ending: PseudoTerminal.Ending?, isDrawn: Bool) {
    let window = try PseudoTerminal(columns: 200, rows: 5)
    try window.start(
      BuiltProgram.path, arguments, environment: environment, redirections: redirections)
    let ending = window.waitForEnd()
    return (window.screen.lines[0], ending, window.screen.isAlternate)
  }

  @Test("T1, T2: Without a terminal it prints an error and a fix", arguments: [Int32(0), 1])
  func itNeedsATerminal(descriptor: Int32) throws {
    let (text, ending, _) = try refusal(redirections: [descriptor: "/dev/null"])
    #expect(text == "opq-top: not a terminal; use --batch")
    #expect(ending == .status(2))
  }

  @Test("T2: Nothing is written into a pipe")
  func nothingIsWrittenIntoAPipe() throws {
    let output = try BuiltProgram.shellOutput(
      "{ '\(BuiltProgram.path)' </dev/tty 2>/dev/null; echo \"status $?\" >&2; } 2>&1 | od -c")
    #expect(output.contains("s   t   a   t   u   s       2"), "\(output)")
    #expect(output.split(separator: "\n").count == 2, "\(output)")
  }

  @Test("T3: Standard error may be a pipe")
  func standardErrorMayBeAPipe() throws {
    let window = try PseudoTerminal()
    let script =
      "'\(BuiltProgram.path)' 2>&1 >/dev/tty | cat; echo \"back ${PIPESTATUS[0]}\"; read line"
    try window.start("/bin/bash", ["-c", script])
    #expect(window.wait { $0.isAlternate && $0.contains("total") })
    window.type("Q")
    #expect(window.wait { $0.contains("back 0") })
  }

  @Test("T3: Standard error may be a file")
  func standardErrorMayGoElsewhere() throws {
    let window = try BuiltProgram.start(redirections: [2: "/dev/null"])
    #expect(window.screen.contains("total"))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T4, T5, T6: An unset, unknown or unsuitable terminal is refused in one sentence",
    arguments: [
      ("TERM", "TERM is not set"), ("TERM=", "TERM is not set"),
      ("TERM=nonesuch", "TERM is \"nonesuch\""), ("TERM=dumb", "cannot place its cursor"),
    ])
  func aUselessTerminalIsRefused(variable: String, words: String) throws {
    let (text, ending, isDrawn) = try refusal(environment: [variable])
    #expect(text.hasPrefix("opq-top: ") && text.contains(words), "\(text)")
    #expect(text.hasSuffix("; use --batch"), "\(text)")
    #expect(ending == .status(2))
    #expect(!isDrawn)
  }

  @Test(
    "T7, T8, T9, T10: The dashboard appears with each terminal, locale and environment",
    arguments: [
      "TERM=vt100", "TERM=xterm", "TERM=screen", "TERM=linux", "TERM=tmux-256color", "LC_ALL=C",
      "LC_ALL=C.UTF-8", "LC_ALL=nonesuch.UTF-8", "LC_ALL=nonesuch", "LC_ALL=POSIX", "NO_COLOR=1",
      "NO_COLOR=", "COLUMNS=-3", "COLUMNS=1000000", "COLUMNS=", "LINES=nonsense", "LINES=2",
    ])
  func theDashboardAppears(variable: String) throws {
    let window = try PseudoTerminal()
    try window.start(BuiltProgram.path, environment: [variable])
    // The dashboard must use the first and the last row of the actual window, whatever the
    // environment variables say about the size.
    #expect(
      window.wait {
        $0.line(0).contains("opq-top") && $0.contains("total") && $0.line(23).contains("Quit")
      }, "\(window.screen.lines)")
    #expect(window.screen.unknownSequences == [])
    let isColored = window.screen.cells.contains { $0.foreground != nil }
    #expect(isColored == (variable != "NO_COLOR=1" && variable != "TERM=vt100"))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T9: --color has precedence over NO_COLOR",
    arguments: [("--color=always", true), ("--color=never", false), ("--no-color", false)])
  func colorIsDecidedByTheOption(option: String, isColored: Bool) throws {
    for variable in ["NO_COLOR=1", "NO_COLOR"] {
      let window = try BuiltProgram.start([option], environment: [variable])
      #expect(window.screen.cells.contains { $0.foreground != nil } == isColored, "\(variable)")
    }
  }

  @Test("T11: A terminal without a size gets the size in its description")
  func aTerminalWithoutSize() throws {
    let window = try PseudoTerminal()
    window.resize(columns: 0, rows: 0, shownAs: (80, 24))
    try window.start(BuiltProgram.path)
    #expect(window.wait { $0.contains("total") && $0.line(23).contains("Quit") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T12: The program neither reads nor writes the home directory",
    arguments: ["", "=", "=/nonexistent/home", "=/dev/null", "=EMPTY"])
  func theHomeDirectoryDoesNotMatter(value: String) throws {
    let home = try TemporaryDirectory()
    let variable = "HOME" + value.replacing("EMPTY", with: home.path)
    let window = try BuiltProgram.start(environment: [variable])
    #expect(window.wait { $0.contains("total") && $0.line(23).contains("Quit") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == [])
  }

  @Test func theLocaleAndOptionsChooseASCII() throws {
    for (environment, arguments) in [(["LC_ALL=C"], []), ([], ["--ascii"])] {
      let window = try BuiltProgram.start(arguments, environment: environment)
      #expect(window.screen.lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }
    let window = try BuiltProgram.start(["--unicode"], environment: ["LC_ALL=C"])
    #expect(window.wait { !$0.lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } } })
  }

  @Test func aWrongArgumentIsOneLineAndStatusTwo() throws {
    for arguments in [
      ["--nonesuch"], ["-n", "0", "--batch"], ["demo", "nonesuch"], ["--json"], ["--tsv"],
      ["--filter", "state:nonesuch"], ["--view", "nonesuch"], ["--fields", "id"],
      ["--batch", "--json", "--tsv"],
    ] {
      let (text, ending, _) = try refusal(arguments)
      #expect(text.hasPrefix("opq-top: "), "\(text)")
      #expect(ending == .status(2))
    }
  }

  @Test(
    "A demo that writes no files accepts no directory",
    arguments: ["deadlock", "storm", "stubborn", "priorities"])
  func aDirectoryForADemoWithoutFilesIsRefused(demo: String) throws {
    let (text, ending, isDrawn) = try refusal(["demo", demo, "--once", "--output", "/tmp"])
    #expect(text == "opq-top: --output works only with the demo tiles; \(demo) writes no files")
    #expect(ending == .status(2))
    #expect(!isDrawn)
  }

  @Test func anUnknownDemoNameListsTheDemos() throws {
    let (text, ending, _) = try refusal(["demo", "nonesuch"])
    for word in ["nonesuch", "tiles", "deadlock", "storm", "stubborn", "priorities"] {
      #expect(text.contains(word), "\(text)")
    }
    #expect(ending == .status(2))
  }

  @Test(
    "A negative number has a precise message", arguments: ["--speed", "--seed", "-d", "-n"])
  func aNegativeNumberIsNamed(option: String) throws {
    let (text, ending, _) = try refusal(["--batch", option, "-3"])
    #expect(text.contains("-3"), "\(text)")
    #expect(ending == .status(2))
  }

  @Test(
    "The error in a field or a filter is reported",
    arguments: [
      (["--fields", "id,nonesuch"], "unknown field \"nonesuch\"; the fields are id, state,"),
      (["--fields", "id,id"], "field id is repeated"), (["--fields", ""], "unknown field"),
      (["--filter", "color:red"], "unknown field color; the fields are state:, queue:"),
    ])
  func aWrongFieldOrFilterIsNamed(arguments: [String], words: String) throws {
    let (text, ending, _) = try refusal(["--batch"] + arguments)
    #expect(text.hasPrefix("opq-top: ") && text.contains(words), "\(text)")
    #expect(ending == .status(2))
  }

  @Test func helpAndVersionAreNoErrors() throws {
    let (version, ending, _) = try refusal(redirections: [2: "/dev/null"], ["--version"])
    #expect(version == Version.number)
    #expect(ending == .status(0))
    let (help, helpEnding, _) = try refusal(redirections: [2: "/dev/null"], ["--help"])
    #expect(help.isEmpty == false)
    #expect(helpEnding == .status(0))
  }

  @Test(
    "An unknown kind of warning is one sentence that lists the kinds, and status 2",
    arguments: ["--warn", "--allow"], ["nonesuch", "cycle,nonesuch", "cycle,"])
  func unknownKinds(option: String, value: String) throws {
    let window = try PseudoTerminal(columns: 600, rows: 5)
    try window.start(
      BuiltProgram.path, ["demo", "--batch", "-n", "1", "\(option)=\(value)"])
    #expect(window.waitForEnd() == .status(2))
    let text = window.screen.lines[0]
    #expect(text.hasPrefix("opq-top: ") && text.contains("'\(option)"), "\(text)")
    for kind in MonitorWarning.Kind.allCases { #expect(text.contains(kind.rawValue), "\(text)") }
    #expect(window.screen.lines.dropFirst().allSatisfy { $0.isEmpty })
  }
}

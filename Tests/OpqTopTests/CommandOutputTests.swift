// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import CursesTerminal
import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("A command that opq-top starts") struct CommandOutputTests {
  @Test("On a terminal, the output of a command keeps tabs and lines, and nothing that controls")
  func printable() {
    let output = "a\tb\n\u{1B}[2Jc\r\u{7}\u{9B}d\u{202E}e \u{E9}\n"
    #expect(
      CommandOutput.printable(Array(output.utf8))
        == "a\tb\n\u{B7}[2Jc\u{B7}\u{B7}\u{B7}d\u{B7}e \u{E9}\n")
    #expect(CommandOutput.printable([0x61, 0xFF]) == "a\u{FFFD}")
  }

  @Test("A signal that arrives before the command runs reaches the command")
  func earlySignal() throws {
    let waker = try Waker()
    let command = LaunchedCommand(["sleep", "600"], place: .ownSession)
    #expect(command.processID == 0 && command.ending == nil)
    #expect(command.passOn(SIGTERM, isFromTerminal: true))
    try command.start(environment: [Array("PATH=/usr/bin:/bin".utf8)], output: nil, waker: waker)
    while command.ending == nil { waker.wait(until: nil) }
    #expect(command.ending == .signal(SIGTERM) && command.processID > 0)
    #expect(!command.passOn(SIGTERM, isFromTerminal: false))
  }

  @Test("Words after -- are the command, even if they look like options")
  func commandWords() throws {
    let show = try #require(
      try OpqTop.parseAsRoot(["--batch", "--", "make", "-j", "--help"]) as? DefaultCommand)
    #expect(show.launch.command == ["make", "-j", "--help"] && show.view.batch)
    let demo = try #require(try OpqTop.parseAsRoot(["--", "ls"]) as? DefaultCommand)
    #expect(demo.launch.command == ["ls"])
    let record = try #require(
      try OpqTop.parseAsRoot(["record", "-o", "a", "--", "demo", "--list"]) as? RecordCommand)
    #expect(record.launch.command == ["demo", "--list"] && record.output == "a")
  }

  @Test("attach with a command is the same as opq-top with a command")
  func attach() throws {
    #expect(
      try LaunchArguments.withoutAttach(["attach", "--batch", "--", "a"]) == ["--batch", "--", "a"])
    for arguments in [["attach"], ["attach", "12"], ["attach", "--"], ["ls", "--", "a"], []] {
      #expect(try LaunchArguments.withoutAttach(arguments) == arguments)
    }
    #expect(throws: (any Error).self) {
      try LaunchArguments.withoutAttach(["attach", "12", "--", "a"])
    }
  }

  @Test(
    "A command cannot be combined with a demo or a process",
    arguments: [
      ["tiles", "--", "a"], ["-p", "12", "--", "a"], ["--once", "--", "a"],
      ["record", "-o", "b", "--socket", "c", "--", "a"], ["--command-output", "c"],
      ["record", "-o", "b", "--command-output", "c"],
    ])
  func conflicts(arguments: [String]) {
    #expect(throws: (any Error).self) { try OpqTop.parseAsRoot(arguments) }
  }
}

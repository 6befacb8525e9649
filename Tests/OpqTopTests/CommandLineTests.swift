// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import RunAnalysis
import Testing

@testable import MonitorClient
@testable import OpqTop

@Suite("The command line") struct CommandLineTests {
  @Test(
    "An unknown command is reported with the nearest name",
    arguments: [
      (["lss"], "unknown command \"lss\"; did you mean \"ls\"?"),
      (["cacnel", "12"], "unknown command \"cacnel\"; did you mean \"cancel\"?"),
      (["Tile"], "unknown command \"Tile\"; did you mean \"tiles\"?"),
      (["help", "repaly"], "unknown command \"repaly\"; did you mean \"replay\"?"),
      (["xyzzy"], "unknown command \"xyzzy\"; \"opq-top --help\" lists the commands"),
    ])
  func unknownCommands(arguments: [String], message: String) {
    #expect(UnknownCommand(in: arguments)?.message == message)
  }

  @Test(
    "Commands, demos and options are not unknown commands",
    arguments: [
      [], ["ls"], ["cancel", "nonsense"], ["storm"], ["--batch"], ["help"], ["help", "why"],
      ["-p", "12"],
    ])
  func knownCommands(arguments: [String]) {
    #expect(UnknownCommand(in: arguments) == nil)
  }

  @Test("Two neighbours in the wrong order count as one error")
  func distances() {
    for (left, right, distance) in [
      ("ls", "ls", 0), ("sl", "ls", 1), ("waits", "wait", 1), ("", "why", 3), ("tree", "free", 1),
    ] {
      #expect(NearestName.distance(from: left, to: right) == distance, "\(left) \(right)")
    }
  }

  @Test("The help of a command that changes a process does not offer options for recordings")
  func helpOffersOnlyOptionsThatWork() {
    func help(_ command: any ParsableCommand.Type) -> String {
      OpqTop.helpMessage(for: command, columns: 100)
    }
    for command: any ParsableCommand.Type in [
      CancelCommand.self, SuspendCommand.self, ResumeCommand.self,
    ] {
      let text = help(command)
      #expect(text.contains("--pid") && text.contains("--json"))
      #expect(!text.contains("--recording") && !text.contains("--at"), "\(text)")
      #expect(throws: (any Error).self) {
        try command.parse(["1", "--recording", "run.opq"])
      }
    }
    for command: any ParsableCommand.Type in [
      WhyCommand.self, TreeCommand.self, WaitCommand.self,
    ] {
      #expect(help(command).contains("--recording") && help(command).contains("--at"))
      #expect(throws: (any Error).self) { try command.parse(["1", "--at", "3s"]) }
      #expect(throws: (any Error).self) {
        try command.parse(["1", "--recording", "run.opq", "--pid", "7"])
      }
    }
    // A recording cannot be recorded again.
    #expect(!help(ReplayCommandLine.self).contains("--record"))
    #expect(help(DemoCommand.self).contains("--record"))
  }

  @Test("ls --json has an entry for each process, also for one that does not answer")
  func listingAsJSON() throws {
    let start = MonitorTime(nanoseconds: 0)
    var hello = Hello(
      processName: "til\u{9B}es", processID: 7, isReadOnly: true, anchor: start + .seconds(12.5),
      anchorSecondsSince1970: 1_000, processStarted: start)
    hello.totalCount = 34
    let found = [
      ProcessFinder.Found(
        path: "/run/7", processID: 7, answer: .success(.init(hello: hello, versions: .current))),
      ProcessFinder.Found(
        path: "/run/8", processID: 8, answer: .failure(AttachError(.lost, "it does not answer"))),
    ]
    #expect(
      JSONLine.text(of: ProcessListing(found)) == """
        {"processes":[{"isReadOnly":true,"name":"til\\u009bes","pid":7,"protocolVersion":"1.4",\
        "socket":"/run/7","totalCount":34,"uptimeSeconds":12.5},{"error":"it does not answer",\
        "pid":8,"socket":"/run/8"}],"schema":"opq.ls/1"}

        """)
    #expect(
      JSONLine.text(of: ProcessListing([])) == "{\"processes\":[],\"schema\":\"opq.ls/1\"}\n")
  }
}

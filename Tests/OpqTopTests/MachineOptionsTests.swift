// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol
import RunAnalysis
import Testing

@testable import MonitorClient
@testable import OpqTop

@Suite("The options for other machines") struct MachineOptionsTests {
  /// Returns the message with which a command refuses arguments; `nil` if it accepts them.
  private func refusal(of arguments: [String]) -> String? {
    do {
      _ = try OpqTop.parseAsRoot(arguments)
      return nil
    } catch {
      return OpqTop.message(for: error)
    }
  }

  @Test(
    "RM-1: Each command that takes a process takes a host or a command",
    arguments: [
      ["attach", "-H", "web1"], ["attach", "web1:4711", "web2:812", "99"],
      ["attach", "-H", "web1", "4711", "/run/a.sock"], ["attach", "-p", "web1:4711"],
      ["attach", "--via", "docker exec -i web", "--wait", "7"], ["ls", "web1"],
      ["ls", "--host", "web1", "--json"], ["-H", "web1", "--batch"],
      ["record", "-o", "f", "-p", "web1:4711"], ["record", "-o", "f", "-H", "web1"],
      ["why", "1", "-H", "web1"], ["tree", "1", "-H", "web1", "-p", "7"],
      ["log", "1", "--via", "docker exec -i web"], ["wait", "1", "-H", "web1", "--run", "r"],
      ["cancel", "1", "-H", "web1", "--socket", "a"], ["suspend", "net", "-H", "web1"],
      ["resume", "net", "-p", "me@web1:4711"], ["retry", "job", "-H", "web1", "--run", "r"],
      ["attach", "-H", "web1", "--run", "r", "--state", "d"],
    ])
  func accepted(arguments: [String]) {
    #expect(refusal(of: arguments) == nil)
  }

  @Test(
    "Options that cannot be combined are refused with one sentence",
    arguments: [
      (["attach", "-H", "web1", "--via", "x"], "use only one of --host and --via"),
      (["attach", "-H", "web1", "web2:7"], "web2:7 cannot be combined with --host or --via"),
      (["why", "1", "-H", "web1", "-p", "web2:7"], "web2:7 cannot be combined"),
      (["attach", "web1:x"], "\"web1:x\" is not a host and a process id"),
      (["attach", "web1:7", "web1:7"], "web1:7 is given twice"),
      (["attach", "-H", "web1", "7", "7"], "7 is given twice"),
      (["ls", "web1", "-H", "web1"], "web1 cannot be combined with --host or --via"),
      (["ls", "--via", " "], "--via needs a command"),
      (["ls", "--via", "docker exec -i web;"], "is not one command"),
      (["retry", "job", "-H", "web1"], "needs --run"),
      (["log", "job", "-H", "web1", "--run", "r"], "the output of a job is a file"),
      (["log", "job", "-H", "web1", "--attempt", "1"], "the output of a job is a file"),
      (["why", "1", "-H", "web1", "--recording", "f"], "--recording cannot be combined"),
      (["tiles", "-H", "web1"], ""), (["-H", "web1", "--", "ls"], "a command after --"),
      (["attach", "-H", "web1", "--record", "f", "7", "8"], "--record needs exactly one process"),
    ])
  func refused(arguments: [String], words: String) throws {
    let message = try #require(refusal(of: arguments))
    #expect(message.contains(words), "\(message)")
  }

  @Test(
    "RM-5: A host that begins with a hyphen is refused",
    arguments: [["ls", "-H", "-oProxyCommand=x"], ["attach", "-H=-x"], ["attach", "--host=-x"]])
  func hyphen(arguments: [String]) throws {
    let message = try #require(refusal(of: arguments))
    #expect(message.contains("begins with"), "\(message)")
  }

  @Test(
    "RM-1: The last colon separates a host from a process id",
    arguments: [
      ("web1:4711", "web1", 4711), ("me@web1:1", "me@web1", 1), ("[::1]:4711", "::1", 4711),
      ("me@[fe80::1%eth0]:7", "me@fe80::1%eth0", 7),
    ] as [(String, String, Int32)])
  func hosts(argument: String, host: String, process: Int32) throws {
    let target = try PlacedTarget(argument, MachineOptions.parse([]))
    #expect(target.target == .process(process) && target.place?.name == host)
    #expect("\(target)" == "process \(process) on \(host)")
  }

  @Test(
    "Text with a colon that names no process is refused",
    arguments: [
      ":4711", "web1:", "web1:0", "web1:x", "web1:99999999999", "web1:-1", "web1: 7", "::1",
      "fe80::1", "::1:4711", "[]:7", "[::1:7", "::1]:7", "me@:7",
    ])
  func mistakes(argument: String) throws {
    let options = try MachineOptions.parse([])
    #expect(throws: ValidationError.self) { try PlacedTarget(argument, options) }
  }

  @Test("An argument with a slash is a path, also with a colon")
  func paths() throws {
    let options = try MachineOptions.parse([])
    for path in ["./web1:4711", "/run/opq/4711-1.sock", "a.sock"] {
      let target = try PlacedTarget(path, options)
      #expect(target.target == .socket(path) && target.place == nil)
    }
  }

  @Test("The same process id on two hosts names two processes")
  func sameID() throws {
    let command = try #require(
      try OpqTop.parseAsRoot(["attach", "web1:7", "web2:7", "7"]) as? AttachCommand)
    #expect(command.targets.count == 3)
  }

  @Test("The relay cannot read the argument for a path as an option or as a process id")
  func relayArguments() throws {
    let options = try MachineOptions.parse(["-H", "web1"])
    for (target, argument) in [
      (AttachTarget.process(7), "7"), (.socket("7"), "./7"), (.socket("-x"), "./-x"),
      (.socket("/run/a"), "/run/a"), (.socket("-d/a"), "./-d/a"), (.socket("d/a"), "d/a"),
    ] {
      #expect(try PlacedTarget(target, on: options).relayArgument == argument)
    }
    let runs = try RunPlaceOptions.parse(["--state", "a b"])
    #expect(TargetOptions.relayArguments(ofRun: "-r", runs) == ["--run=-r", "--state=a b"])
  }

  @Test("RM-6: An error names the machine, once")
  func errors() throws {
    let target = try PlacedTarget("web1:7", MachineOptions.parse([]))
    for (words, named) in [
      ("there is no process 7", "web1: there is no process 7"),
      ("access is denied", "process 7 on web1: access is denied"),
      ("web1 does not answer", "web1 does not answer"),
    ] {
      let error = #expect(throws: AttachError.self) {
        try target.naming { throw AttachError(.lost, words) }
      }
      #expect(error?.description == named)
    }
  }

  @Test("RM-1: Messages about the processes of a host name the host")
  func messages() throws {
    let place = try RemotePlace.host("web1")
    #expect(
      ProcessTable.emptyMessage(on: place).hasPrefix("no monitored process found on web1; start"))
    let found = [7, 8].map { id in
      ProcessFinder.Found(
        path: "/run/\(id)", processID: id, answer: .failure(AttachError(.lost, "it is slow")))
    }
    #expect(
      ProcessTable.choiceMessage(found, on: place)
        == "several processes are monitored on web1; choose one with -p: 7, 8")
    #expect(
      JSONLine.text(of: ProcessListing(Array(found.prefix(1)), on: place))
        == """
        {"processes":[{"error":"it is slow","host":"web1","pid":7,"socket":"/run/7"}],"schema":"opq.ls/1"}

        """)
  }
}

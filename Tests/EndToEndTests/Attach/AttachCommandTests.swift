// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import TestSupport
import Testing

/// Tests of the commands and options of `opq-top` that list other processes and attach to them.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct AttachCommandTests {
  @Test("ls lists the monitored processes and their data")
  func lists() throws {
    let process = try MonitoredProcess()
    let (output, errors, ending) = try process.list()
    #expect(ending == .status(0))
    #expect(errors == "")
    let lines = output.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(lines.first == ["PID", "PROGRAM", "UPTIME", "OPS", "MODE", "PROTO"])
    let line = try #require(lines.first { $0.first == "\(process.id)" })
    #expect(line[1] == "demo-monitored-process")
    #expect(line[4] == "rw" && line[5] == "\(ProtocolVersions.current)")
    #expect(Int(line[3]) ?? 0 > 0)
  }

  @Test(
    "A process is given by its id or by its socket, and can be omitted if it is the only one"
  )
  func names() throws {
    let process = try MonitoredProcess()
    let ways = [
      ["-p", "\(process.id)"], ["attach", "\(process.id)"], ["attach", process.socket],
      ["--socket", process.socket], ["--wait", "\(process.id)"], ["attach"], [],
    ]
    for way in ways {
      let (output, errors, ending) = try process.run(way + ["--batch", "-n", "1", "--json"])
      #expect(ending == .status(0), "\(way): \(errors)")
      #expect(output.contains("\"pid\":\(process.id)"), "\(way)")
    }
  }

  @Test("A failure to attach is reported in one sentence, with the matching status")
  func refusals() throws {
    let process = try MonitoredProcess()
    func fails(_ arguments: [String], _ status: Int32, _ words: String) throws {
      let (output, errors, ending) = try process.run(arguments + ["--batch", "-n", "1"])
      #expect(ending == .status(status), "\(arguments): \(errors)")
      #expect(output == "")
      #expect(errors.hasPrefix("opq-top: ") && errors.contains(words), "\(arguments): \(errors)")
      #expect(errors.split(separator: "\n").count == 1)
    }
    try fails(["-p", "2000000000"], 3, "there is no process 2000000000")
    try fails(["-p", "\(getpid())"], 3, "is not monitored")
    try fails(["--socket", "/nowhere/at/all"], 3, "there is no socket")
    try fails(["--socket", "/tmp/" + String(repeating: "x", count: 200)], 3, "too long")
    try fails(["-p", "x"], 2, "x")
    try fails(
      ["-p", "1", "--socket", "/x"], 2, "use only one of --pid, --wait, --socket and --run")
    try fails(["attach", "1", "-p", "1"], 2, "cannot be combined with")
    try fails(["tiles", "-p", "1"], 2, "cannot be combined with")
  }

  @Test(
    "Without a monitored process, ls and attach exit with 3, and opq-top runs the demo"
  )
  func nothingListens() throws {
    let process = try MonitoredProcess()
    process.signal(SIGKILL)
    _ = process.waitForEnd()
    for command in ["ls", "attach"] {
      let (output, errors, ending) = try process.run([command])
      #expect(ending == .status(3))
      #expect(output == "")
      #expect(errors.contains("no monitored process found"))
    }
    let (output, _, ending) = try process.run(["--batch", "-n", "1"])
    #expect(ending == .status(0))
    #expect(output.contains("opq-top["))
  }

  @Test("With several processes, the user chooses one from a list, or by id in batch mode")
  func several() throws {
    let first = try MonitoredProcess()
    let second = try MonitoredProcess(in: first.runtime)
    let (_, errors, ending) = try first.run(["--batch"])
    #expect(ending == .status(2))
    #expect(errors.contains("\(first.id)") && errors.contains("\(second.id)"))

    let window = try first.watch(until: "processes to attach to")
    let chosen = max(first.id, second.id)
    #expect(window.wait { $0.contains("\(first.id)") && $0.contains("\(second.id)") })
    window.type("j\r")
    #expect(window.wait { $0.contains("[\(chosen)]") && $0.contains("ATTACHED") })
    // The key `o` opens the list of processes again, from which the test selects the other process.
    window.type("o")
    #expect(window.wait { $0.contains("processes to attach to") && $0.contains("attached") })
    window.type("kkkk\r")
    #expect(window.wait { $0.contains("[\(min(first.id, second.id))]") })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("The variable makes a program that links the monitor listen, in the given mode")
  func environment() throws {
    let process = try MonitoredProcess(
      BuiltProgram.path, ["demo", "priorities"], environment: ["OPQ_MONITOR=ro"], until: "total")
    let (output, _, _) = try process.list()
    #expect(output.contains(" ro "))
    let window = try process.watch(["-p", "\(process.id)"])
    #expect(window.screen.contains("ATTACHED ro"))
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("A viewer that waits for a process attaches as soon as the process listens")
  func waits() throws {
    let runtime = try TemporaryDirectory()
    defer { withExtendedLifetime(runtime) {} }
    // The shell waits for a line. When the test types one, `exec` replaces the shell by a process
    // that listens, with the same process id.
    let shell = try PseudoTerminal()
    let program = BuiltFolder.path(of: "demo-monitored-process")
    try shell.start(
      "/bin/sh", ["-c", "echo here; read line; exec '\(program)'"],
      environment: [MonitoredProcess.variable(runtime)])
    #expect(shell.wait { $0.contains("here") })
    let id = try #require(shell.child)
    let viewer = try PseudoTerminal()
    try viewer.start(
      BuiltProgram.path, ["--wait", "\(id)"],
      environment: [MonitoredProcess.variable(runtime)])
    shell.type("go\r")
    #expect(viewer.wait { $0.isAlternate && $0.contains("[\(id)]") && $0.contains("total") })
    viewer.type("q")
    #expect(viewer.waitForEnd() == .status(0))
    shell.signal(SIGKILL)
    _ = shell.waitForEnd()
  }
}

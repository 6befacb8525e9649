// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import OpqTop

/// Tests of the commands that query or control a process, such as `wait` and `cancel`, with a real
/// process.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct ScriptingCommandTests {
  /// Returns one batch frame of a process, with the operations that match a filter.
  private func frame(of process: MonitoredProcess, _ filter: String) throws -> BatchFrame {
    let (output, _, _) = try process.run(
      ["-p", "\(process.id)", "--batch", "-n", "1", "--json", "--filter", filter])
    return try JSONDecoder().decode(BatchFrame.self, from: Data(output.utf8))
  }

  private func run(
    _ process: MonitoredProcess, _ arguments: [String]
  ) throws -> (output: String, errors: String, ending: PseudoTerminal.Ending?) {
    try process.run(arguments + ["-p", "\(process.id)"])
  }

  /// Returns a process whose queue `net` is suspended, and an operation that is ready in this
  /// queue.
  private func held() throws -> (MonitoredProcess, BatchFrame.Operation) {
    let process = try MonitoredProcess()
    let (output, errors, ending) = try run(process, ["suspend", "net"])
    #expect(ending == .status(0), "\(errors)")
    #expect(output == "queue net suspended\n")
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let frame = try frame(of: process, "state:held queue:net")
      #expect(frame.queues.first { $0.name == "net" }?.isSuspended == true)
      if let operation = frame.operations.first { return (process, operation) }
      try #require(ContinuousClock.now < deadline, "nothing is held")
    }
  }

  @Test("A script suspends a queue, asks why, cancels, resumes and waits, with a result each time")
  func script() throws {
    let (process, operation) = try held()
    let id = "\(operation.id.rawValue)"

    let why = try run(process, ["why", id])
    #expect(why.ending == .status(0), "\(why.errors)")
    #expect(why.output.hasPrefix("#\(id) \(operation.name): held: net is suspended\n"))
    #expect(why.output.contains("  1 its queue "))
    let tree = try run(process, ["tree", "#\(id)", "--ascii"])
    #expect(tree.ending == .status(0), "\(tree.errors)")
    #expect(tree.output.hasPrefix("DEPENDS ON"))
    #expect(tree.output.contains("#\(id) ") && tree.output.utf8.allSatisfy { $0 < 0x80 })

    let wait = try run(process, ["wait", id, "--timeout", "10ms"])
    #expect(wait.ending == .status(1))
    #expect(wait.errors == "opq-top: timed out; still waiting: #\(id)\n")

    let cancel = try run(process, ["cancel", id, "--json"])
    #expect(cancel.ending == .status(0), "\(cancel.errors)")
    #expect(cancel.output.contains("\"operations\":[{\"id\":\(id),\"outcome\":\"requested\"}]"))
    let resume = try run(process, ["resume", "net"])
    #expect(resume.ending == .status(0) && resume.output == "queue net resumed\n")
    let over = try run(process, ["wait", id, "--timeout", "60"])
    #expect(over.ending == .status(0), "\(over.errors)")
    #expect(over.output.hasPrefix("#\(id)"))
    // Cancelling an operation that has already finished is not an error.
    let again = try run(process, ["cancel", id])
    #expect(again.ending == .status(0), "\(again.errors)")
    #expect(again.output.contains("already finished"))
  }

  @Test("cancel --with-dependents cancels all dependents, and wait reports each of them")
  func dependents() throws {
    let (process, operation) = try held()
    let id = "\(operation.id.rawValue)"
    let blocks = try run(process, ["tree", id, "--dependents", "--json"])
    #expect(blocks.ending == .status(0), "\(blocks.errors)")
    #expect(blocks.output.contains("\"direction\":\"blocks\""))
    let cancel = try run(process, ["cancel", "--with-dependents", id])
    #expect(cancel.ending == .status(0), "\(cancel.errors)")
    #expect(cancel.output.hasPrefix("cancel requested: #\(id) \(operation.name)\n"))
    let cancelling = try run(process, ["wait", "--state", "cancelling,cancelled", id])
    #expect(cancelling.ending == .status(0), "\(cancelling.errors)")
  }

  @Test(
    "log prints the lines of an operation from its process and from a recording, and follows them"
  )
  func logLines() throws {
    let process = try MonitoredProcess(
      BuiltFolder.path(of: "fixture-ending"), ["log"], until: "listening at")
    let file = process.runtime.file("log.opqrec")
    let recorder = try PseudoTerminal(columns: 120)
    try recorder.start(
      BuiltProgram.path, ["record", "-p", "\(process.id)", "-o", file],
      environment: [MonitoredProcess.variable(process.runtime)])
    let id = try process.line(after: "logging: ").filter(\.isNumber)
    func check(_ result: (output: String, errors: String, ending: PseudoTerminal.Ending?)) {
      #expect(result.ending == .status(0), "\(result.errors)")
      let lines = result.output.split(separator: "\n")
      #expect(lines.first == "(11 lines were dropped)", "\(result.output)")
      #expect(lines.dropFirst().first?.hasSuffix(" info     page 12 host=tiles") == true)
      #expect(lines.contains { $0.hasSuffix(" warning  title ·]0;evil··[2J ·31m end") })
      #expect(!result.output.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
    }
    let result = try run(process, ["log", id])
    check(result)
    #expect(result.output.split(separator: "\n").count == 51)
    let json = try run(process, ["log", "#\(id)", "--json"])
    #expect(json.output.split(separator: "\n").count == 50)
    #expect(json.output.hasPrefix("{\"level\":\"info\",\"number\":11,\"operation\":\(id),"))
    #expect(!json.output.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })

    let follower = try PseudoTerminal(columns: 120)
    try follower.start(
      BuiltProgram.path, ["log", id, "-f", "-p", "\(process.id)"],
      environment: [MonitoredProcess.variable(process.runtime)])
    #expect(follower.wait { $0.contains("warning  title") })
    kill(process.id, SIGUSR1)
    #expect(follower.wait { $0.contains("error    last line") })
    #expect(follower.waitForEnd() == .status(0))
    #expect(recorder.waitForEnd() == .status(0))

    let end = try process.run(["log", id, "--recording", file])
    #expect(end.ending == .status(0), "\(end.errors)")
    #expect(end.output.hasPrefix("(12 lines were dropped)\n"))
    #expect(end.output.hasSuffix(" error    last line\n"))
    #expect(!end.output.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
  }

  @Test(
    "why names the failed operation that has cancelled another one, in the process and in its recording"
  )
  func causes() throws {
    let process = try MonitoredProcess(
      BuiltFolder.path(of: "fixture-ending"), ["causes"], until: "listening at")
    let file = process.runtime.file("causes.opqrec")
    let recorder = try PseudoTerminal(columns: 120)
    try recorder.start(
      BuiltProgram.path, ["record", "-p", "\(process.id)", "-o", file],
      environment: [MonitoredProcess.variable(process.runtime)])
    let line = try process.line(after: "bad ")
    let ids = line.split { !$0.isNumber }.map(String.init)
    try #require(ids.count == 3)
    let words = "cancelled because #\(ids[0]) “bad” failed: "
    let path = ", through #\(ids[1]); at "
    func check(_ output: String) {
      #expect(output.hasPrefix("#\(ids[2]) BlockOperation: \(words)"), "\(output)")
      #expect(output.contains(path) && output.contains("2.0 seconds"), "\(output)")
    }
    let why = try run(process, ["why", ids[2]])
    #expect(why.ending == .status(0), "\(why.errors)")
    check(why.output)
    let json = try frame(of: process, "#\(ids[1])")
    #expect(json.operations.first?.cancellation?.cause == .dependency)
    #expect(json.operations.first?.cancellation?.sentence.hasPrefix(words) == true)
    process.signal(SIGUSR1)
    _ = process.waitForEnd()
    #expect(recorder.waitForEnd() == .status(0))
    let recorded = try process.run(["why", ids[2], "--recording", file])
    #expect(recorded.ending == .status(0), "\(recorded.errors)")
    check(recorded.output)
  }

  @Test("Each error is reported in one sentence, with the matching status")
  func refusals() throws {
    let process = try MonitoredProcess()
    func fails(_ arguments: [String], _ status: Int32, _ words: String) throws {
      let (output, errors, ending) = try process.run(arguments)
      #expect(ending == .status(status), "\(arguments): \(errors)")
      #expect(output == "", "\(arguments)")
      #expect(errors.hasPrefix("opq-top: ") && errors.contains(words), "\(arguments): \(errors)")
      #expect(errors.split(separator: "\n").count == 1)
    }
    let id = "\(process.id)"
    try fails(["why"], 2, "id")
    try fails(["why", "0", "-p", id], 2, "\"0\" is not an operation id")
    try fails(["tree", "-p", id, "x"], 1, "no operation has the name \"x\"")
    try fails(["wait", "1", "--state", "done"], 2, "unknown state \"done\"")
    try fails(["wait", "1", "--timeout", "-1"], 2, "-1")
    try fails(["why", "1", "-p", "2000000000"], 3, "there is no process 2000000000")
    try fails(["why", "18446744073709551615", "-p", id], 1, "is unknown")
    try fails(["suspend", "nonesuch", "-p", id], 1, "there is no queue \"nonesuch\"")
  }

  @Test("A read-only process answers questions, and commands give status 5")
  func readOnly() throws {
    let process = try MonitoredProcess(
      BuiltProgram.path, ["demo", "priorities"], environment: ["OPQ_MONITOR=ro"], until: "total")
    for arguments in [["cancel", "1"], ["suspend", "1"], ["resume", "1"]] {
      let (output, errors, ending) = try run(process, arguments)
      #expect(ending == .status(5), "\(arguments)")
      #expect(output == "")
      #expect(errors == "opq-top: the process is monitored read-only\n")
    }
    let waiting = try frame(of: process, "!state:finished")
    let id = try #require(waiting.operations.last).id
    #expect(try run(process, ["why", "\(id.rawValue)"]).ending == .status(0))
  }

  @Test("A single process can be omitted, one of several cannot; without any the status is 3")
  func targets() throws {
    let first = try MonitoredProcess()
    #expect(try first.run(["resume", "net"]).ending == .status(0))
    let second = try MonitoredProcess(in: first.runtime)
    let (_, errors, ending) = try first.run(["resume", "net"])
    #expect(ending == .status(2))
    #expect(errors.contains("\(first.id)") && errors.contains("\(second.id)"))
    for process in [first, second] {
      process.signal(SIGKILL)
      _ = process.waitForEnd()
    }
    #expect(try first.run(["resume", "net"]).ending == .status(3))
  }

  @Test("A wait ends by a signal, or with status 1 if the process ends first")
  func waitEnds() throws {
    let process = try ScriptedProcess()
    let arguments = ["wait", "42", "--socket", process.path]
    let signalled = try PseudoTerminal()
    try signalled.start(BuiltProgram.path, arguments)
    let first = try process.welcome()
    signalled.signal(SIGTERM)
    #expect(signalled.waitForEnd() == .signal(SIGTERM))
    first.close()
    let endings: [(ScriptedProcess.Viewer) -> Void] = [
      { $0.close() }, { $0.send(.bye(Farewell(cause: .processEnds, reason: "it has ended"))) },
    ]
    for end in endings {
      let window = try PseudoTerminal(columns: 120)
      try window.start(BuiltProgram.path, arguments)
      let viewer = try process.welcome()
      end(viewer)
      #expect(window.waitForEnd() == .status(1))
      #expect(window.screen.contains("opq-top: "))
    }
  }

  @Test("The result of a command is unknown if the connection is lost before it: the status 1")
  func lostCommand() throws {
    let process = try ScriptedProcess()
    let window = try PseudoTerminal(columns: 120)
    try window.start(BuiltProgram.path, ["cancel", "42", "--socket", process.path])
    let viewer = try process.welcome()
    #expect(viewer.receive { if case .command = $0 { true } else { false } } != nil)
    viewer.close()
    #expect(window.waitForEnd() == .status(1))
    #expect(window.screen.contains("#42 one job: result unknown, the connection was lost"))
  }
}

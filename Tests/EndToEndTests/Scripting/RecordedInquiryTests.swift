// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import OpqTop

/// Tests of commands such as `why` and `tree` with a recording instead of a process.
@Suite("Questions to a recording") struct RecordedInquiryTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try Data(Self.bytes()).write(to: URL(filePath: directory.file("a.opq")))
  }

  /// Returns a recording of two operations. #1 runs from second 1 to second 3. #2 waits for #1 and
  /// runs from second 3 on. From second 8 on, #1 is no longer kept.
  private static func bytes() -> [UInt8] {
    func report(
      _ number: UInt64, _ state: OperationState, ready: Double?, finished: Double? = nil
    ) -> OperationReport {
      OperationReport(
        id: .init(number), name: "job \(number)", className: "Job", queue: .init(1), state: state,
        dependencies: number > 1 ? [.init(number - 1)] : [],
        unmetDependencyCount: state == .waiting ? 1 : 0, added: ExportScene.time(1),
        becameReady: ready.map(ExportScene.time), started: ready.map(ExportScene.time),
        finished: finished.map(ExportScene.time))
    }
    func update(_ second: Double, _ changed: [OperationReport]) -> Update {
      Update(
        time: ExportScene.time(second), queues: [QueueReport(id: .init(1), name: "cpu", width: 1)],
        changed: changed)
    }
    var gone = update(8, [])
    gone.removed = [.init(1)]
    let updates = [
      update(1, [report(1, .executing, ready: 1), report(2, .waiting, ready: nil)]),
      update(3, [report(1, .finished, ready: 1, finished: 3), report(2, .executing, ready: 3)]),
      gone,
    ]
    var writer = RecordingWriter()
    let begin = writer.add(.hello(ReplayScene.hello))
    return updates.reduce(begin) { $0 + writer.add(.update($1)) } + writer.finish()
  }

  private func run(_ arguments: [String]) throws -> (text: String, status: PseudoTerminal.Ending?) {
    let (text, ending) = try BuiltProgram.output(
      arguments + ["--ascii", "--recording", directory.file("a.opq")])
    return (text, ending)
  }

  @Test("why and tree answer for the end of the recording, or for a given moment")
  func whyAndTree() throws {
    let end = try run(["why", "2"])
    #expect(end.text.contains("#2 job 2") && end.text.contains("executing"))
    let before = try run(["why", "2", "--at", "1s"])
    #expect(
      before.text.contains("waits for 1 of 1 dependencies: #1 executing")
        && before.status == .status(0))
    // An operation that is no longer kept is shown in its last reported state.
    let tree = try run(["tree", "2"])
    #expect(tree.status == .status(0) && tree.text.contains("#1"))
    let past = try run(["why", "1"])
    #expect(past.text.contains("finished") && past.status == .status(0))
    let json = try run(["why", "2", "--json", "--at", "0.5"])
    #expect(json.text.hasPrefix("{") && json.text.contains("\"schema\":\"opq.why/1\""))
    #expect(
      json.text.contains("unmet-dependencies") && json.text.contains("1970-01-01T00:16:41.500Z"))
    #expect(try run(["why", "99"]).status == .status(1))
  }

  @Test("wait reports whether the state was reached, and does not wait")
  func waits() throws {
    #expect(try run(["wait", "1"]).status == .status(0))
    #expect(try run(["wait", "--state", "executing", "1", "2"]).status == .status(0))
    #expect(try run(["wait", "1", "2"]).status == .status(1))
    #expect(try run(["wait", "--timeout", "60", "2"]).status == .status(1))
    #expect(try run(["wait", "--state", "cancelled", "1"]).status == .status(1))
    #expect(try run(["wait", "99"]).status == .status(1))
    let early = try run(["wait", "1", "--json", "--at", "1s"])
    #expect(early.status == .status(1) && early.text.contains("\"missing\":[1]"))
  }

  @Test("A cut-off recording is queried up to its end, with a message")
  func cut() throws {
    let bytes = Self.bytes()
    try Data(bytes.dropLast(200)).write(to: URL(filePath: directory.file("a.opq")))
    let errors = directory.file("errors")
    let output = try BuiltProgram.shellOutput(
      "'\(BuiltProgram.path)' why 2 --recording '\(directory.file("a.opq"))' 2>'\(errors)'")
    #expect(output.contains("#2 job 2"))
    #expect(try String(contentsOfFile: errors, encoding: .utf8).contains("was not completed"))
  }

  @Test("A recording cannot be changed, and cannot be combined with a process")
  func refuses() throws {
    for command in [["cancel", "2"], ["suspend", "cpu"], ["resume", "cpu"]] {
      let result = try run(command)
      // These commands have no option that names a recording.
      #expect(result.status == .status(2) && result.text == "", "\(command)")
    }
    #expect(try run(["why", "2", "-p", "1"]).status == .status(2))
    #expect(try BuiltProgram.output(["why", "2", "--at", "1s"]).ending == .status(2))
    #expect(try BuiltProgram.output(["why", "2", "--recording", "/none"]).ending == .status(2))
  }
}

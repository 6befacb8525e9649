// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands
import Testing

@testable import OpqTop

@Suite("The output of jobs of Slurm as log lines") struct SlurmJobLogsTests {
  private let id = OperationReport.ID(7)
  private let now = SlurmRows.time(1)

  /// Reads the file of the only job. The text is the contents of the file after the position; `nil` if the file cannot
  /// be read. Without a position, the file is read from the requested position.
  private func read(
    _ text: String?, at position: Int64? = nil, path: String = "/out", isOver: Bool = false,
    _ logs: inout SlurmJobLogs
  ) throws -> OperationLog? {
    logs.noteNews()
    let look = try #require(logs.nextLook { "\($0.rawValue)" })
    let part = SlurmOutputPart(
      path: path, position: position ?? look.position, bytes: text.map { Array($0.utf8) })
    return logs.take(.success(part), for: look, isOver: isOver, at: now)
  }

  private func logs() -> SlurmJobLogs {
    var logs = SlurmJobLogs()
    logs.show([id])
    return logs
  }

  @Test("SV-11: Complete lines are shown once, and continue where the last ones ended")
  func lines() throws {
    var logs = logs()
    var log = try #require(try read("one\ntwo\nthr", &logs))
    #expect(log.first == 0 && log.lines.map(\.text) == ["one", "two"])
    log = try #require(try read("three\n\n", at: 8, &logs))
    #expect(log.first == 2 && log.lines.map(\.text) == ["three", ""])
    #expect(try read("", &logs) == nil)
    log = try #require(try read("end", isOver: true, &logs))
    #expect(log.first == 4 && log.lines.map(\.text) == ["end"])
  }

  @Test("SV-11: One file is read at a time, and only after news")
  func oneAtATime() throws {
    var logs = SlurmJobLogs()
    let other = OperationReport.ID(8)
    logs.show([id, other])
    let look = try #require(logs.nextLook { "\($0.rawValue)" })
    #expect(look.operation == id && look.file == .ofJob("7") && look.position == 0)
    #expect(logs.nextLook { "\($0.rawValue)" } == nil)
    let part = SlurmOutputPart(path: "/out", position: 0, bytes: Array("a\n".utf8))
    _ = logs.take(.success(part), for: look, isOver: false, at: now)
    let second = try #require(logs.nextLook { "\($0.rawValue)" })
    #expect(second.operation == other)
    _ = logs.take(.success(part), for: second, isOver: false, at: now)
    #expect(logs.nextLook { "\($0.rawValue)" } == nil)
    logs.noteNews()
    let next = try #require(logs.nextLook { _ in nil })
    #expect(next.operation == id && next.file == .path("/out") && next.position == 2)
  }

  @Test("SV-11: An answer for a job that is no longer shown has no effect")
  func lateAnswer() throws {
    var logs = logs()
    let look = try #require(logs.nextLook { "\($0.rawValue)" })
    logs.show([])
    let part = SlurmOutputPart(path: "/out", position: 0, bytes: Array("a\n".utf8))
    #expect(logs.take(.success(part), for: look, isOver: false, at: now) == nil)
    #expect(logs.nextLook { "\($0.rawValue)" } == nil)
  }

  @Test("SV-11: If a job is hidden and shown again, an answer to an earlier request has no effect")
  func oldAnswer() throws {
    var logs = logs()
    let look = try #require(logs.nextLook { "\($0.rawValue)" })
    logs.show([])
    logs.show([id])
    let part = SlurmOutputPart(path: "/out", position: 9, bytes: Array("a\n".utf8))
    #expect(logs.take(.success(part), for: look, isOver: false, at: now) == nil)
    #expect(try read("a\n", &logs)?.lines.map(\.text) == ["a"])
  }

  @Test("SV-11: If a file cannot be read, a sentence says so once")
  func unreadable() throws {
    var logs = logs()
    let log = try #require(try read(nil, path: "/out", &logs))
    #expect(log.lines.map(\.level) == [.notice])
    #expect(log.lines[0].text.contains("“/out” does not exist, cannot be read"))
    #expect(try read(nil, path: "/out", &logs) == nil)
    let found = try #require(try read("text\n", &logs))
    #expect(found.first == 1 && found.lines.map(\.text) == ["text"])
  }

  @Test("SV-11: A sentence with a long path is as long as a line of output can be")
  func longPath() throws {
    var logs = logs()
    let path = String(repeating: "/a", count: LogLine.longestText)
    let log = try #require(try read(nil, path: path, &logs))
    #expect(log.lines.count == 1 && log.lines[0].text.utf8.count <= LogLine.longestText)
  }

  @Test("SV-11: Slurm can have forgotten the path, and a job can have written nothing")
  func noOutput() throws {
    var logs = logs()
    #expect(try read(nil, path: "", &logs)?.lines[0].text.contains("Slurm no longer knows") == true)
    logs = self.logs()
    #expect(
      try read("", &logs)?.lines.map(\.text) == ["opq-top: the job has written no output"])
  }

  @Test("SV-11: Lines name omitted output and a file that was written again")
  func gaps() throws {
    var logs = logs()
    var log = try #require(try read("x\n", at: 1_000, &logs))
    #expect(log.lines.map(\.text) == ["opq-top: 1000 bytes of the output are left out", "x"])
    log = try #require(try read("new\n", at: 0, &logs))
    #expect(log.lines.map(\.text) == ["opq-top: the output file was written again", "new"])
    #expect(log.first == 2)
  }

  @Test("SV-11: Lines are limited in length and number, and may contain any bytes")
  func hostileOutput() throws {
    var logs = logs()
    let long = String(repeating: "é", count: 2_000)
    let log = try #require(try read("\(long)\n\u{1b}[2J\u{0}\r\n", &logs))
    #expect(log.lines.allSatisfy { $0.text.utf8.count <= LogLine.longestText })
    #expect(log.lines[1].text == "\u{1b}[2J\u{0}\r")
    let many = try #require(try read(String(repeating: "line\n", count: 200), &logs))
    #expect(many.lines.count == OperationLog.lineLimit && many.first == 152)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import JobRun
@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of `opq-top log --run` with files that a test writes.
@Suite("Printing the output of a job of a run") struct JobLogTests {
  private typealias Files = StoredFiles
  private typealias Step = JobLog.Step

  /// The bytes that were printed, and what to do next.
  private struct Printed: Equatable {
    var text = ""
    var step = Step.wait
  }

  /// Performs steps until there is nothing to do without a wait.
  private func steps(_ log: inout JobLog, hasRunner: Bool = true) throws -> Printed {
    var bytes: [UInt8] = []
    while true {
      let step = try log.step(hasRunner: hasRunner) {
        bytes += $0
        return 0
      }
      guard step == .goOn else {
        return Printed(text: String(decoding: bytes, as: UTF8.self), step: step)
      }
    }
  }

  private func log(
    _ files: StoredFiles, _ job: String = "job", attempt: Int? = nil, follows: Bool = false,
    _ shown: ShownBytes? = nil
  ) throws -> JobLog {
    JobLog(try files.found, job: job, attempt: attempt, follows: follows, shown)
  }

  private func print(
    _ files: StoredFiles, attempt: Int? = nil, hasRunner: Bool = false, _ shown: ShownBytes? = nil
  ) throws -> Printed {
    var log = try log(files, attempt: attempt, shown)
    return try steps(&log, hasRunner: hasRunner)
  }

  @Test("RD-9: log prints the last attempt, or the one that is named, as it is")
  func attempts() throws {
    let files = try StoredFiles()
    try files.append(.runner(), Files.start(), Files.start("job", 2), Files.end(attempts: 2))
    try files.append("one\r\n", to: files.log())
    try files.append("two\u{1B}[2J", to: files.log("job", 2))
    #expect(try print(files) == Printed(text: "two\u{1B}[2J", step: .end(status: 0, nil)))
    #expect(
      try print(files, attempt: 1) == Printed(text: "one\r\n", step: .end(status: 0, nil)))
    #expect(
      try print(files, ShownBytes(isUnicode: true))
        == Printed(text: "two·[2J", step: .end(status: 0, nil)))
    #expect(
      try print(files, attempt: 3)
        == Printed(step: .end(status: 1, "there is no attempt 3 of job; 2 attempts have started")))
  }

  @Test("RD-9: A job without output is a sentence")
  func noOutput() throws {
    let files = try StoredFiles()
    try files.append(.runner())
    #expect(try print(files) == Printed(step: .end(status: 0, "job has not started")))
    try files.append(Files.start())
    #expect(try print(files) == Printed(step: .end(status: 0, "job has no output")))
    try files.append("", to: files.log())
    try files.append(Files.end())
    #expect(try print(files) == Printed(step: .end(status: 0, "job has no output")))
    #expect(try print(files, attempt: 1) == Printed(step: .end(status: 0, "job has no output")))
    let skipped = try StoredFiles()
    try skipped.append(Files.end("job", .skipped, attempts: 0, reason: "fetch failed"))
    #expect(try print(skipped) == Printed(step: .end(status: 0, "job was skipped: fetch failed")))
  }

  @Test("RD-9: log -f waits for the start, follows each attempt, and ends with the job")
  func following() throws {
    let files = try StoredFiles()
    try files.append(.runner())
    var log = try log(files, follows: true)
    #expect(try steps(&log) == Printed(step: .wait))
    try files.append(Files.start())
    #expect(try steps(&log) == Printed(step: .wait))
    try files.append("a\n", to: files.log())
    #expect(try steps(&log) == Printed(text: "a\n", step: .wait))
    try files.append("b", to: files.log())
    try files.append(.attempt("job", attempt: 1, status: 1, reason: nil))
    #expect(try steps(&log) == Printed(text: "b", step: .wait))
    // The rest of the first attempt does not follow its end.
    try files.append("never", to: files.log())
    #expect(try steps(&log) == Printed(step: .wait))
    try files.append(Files.start("job", 2))
    try files.append("c\n", to: files.log("job", 2))
    #expect(try steps(&log) == Printed(text: "c\n", step: .wait))
    try files.append("d\n", to: files.log("job", 2))
    try files.append(Files.end(attempts: 2))
    #expect(try steps(&log) == Printed(text: "d\n", step: .end(status: 0, nil)))
  }

  @Test("RD-9: log -f --attempt ends with this attempt")
  func followingOneAttempt() throws {
    let files = try StoredFiles()
    try files.append(Files.start())
    var second = try log(files, attempt: 2, follows: true)
    #expect(try steps(&second) == Printed(step: .wait))
    try files.append(Files.start("job", 2))
    try files.append("two\n", to: files.log("job", 2))
    #expect(try steps(&second) == Printed(text: "two\n", step: .wait))
    try files.append(Files.start("job", 3))
    #expect(try steps(&second) == Printed(step: .end(status: 0, nil)))
    var fourth = try log(files, attempt: 4, follows: true)
    #expect(try steps(&fourth) == Printed(step: .wait))
    try files.append(Files.end(attempts: 3))
    #expect(
      try steps(&fourth)
        == Printed(step: .end(status: 1, "there is no attempt 4 of job; 3 attempts have started")))
  }

  @Test("RD-9: Without a runner, log -f follows a command that still runs, and then says so")
  func interruptedRun() throws {
    let files = try StoredFiles()
    try files.append(.runner(), Files.start())
    try files.append("a\n", to: files.log())
    let shim = try files.lockShim()
    var log = try log(files, follows: true)
    #expect(try steps(&log, hasRunner: false) == Printed(text: "a\n", step: .wait))
    try files.append("b\n", to: files.log())
    #expect(try steps(&log, hasRunner: false) == Printed(text: "b\n", step: .wait))
    try files.append("c\n", to: files.log())
    #expect(flock(shim, LOCK_UN) == 0)
    close(shim)
    #expect(
      try steps(&log, hasRunner: false) == Printed(text: "c\n", step: interruption(files, "job")))
  }

  /// The end of a log whose run was interrupted.
  private func interruption(_ files: StoredFiles, _ end: String) -> Step {
    let words = "the run was interrupted before \(end) ended; resume it with: opq-top run"
    return .end(status: 1, "\(words) --resume \(files.directory.path)")
  }

  @Test("RD-9: log -f --attempt also says that the run was interrupted before the end")
  func interruptedAttempt() throws {
    let files = try StoredFiles()
    try files.append(
      .runner(), Files.start(), .attempt("job", attempt: 1, status: 1, reason: nil),
      Files.start("job", 2))
    for attempt in 1...2 { try files.append("\(attempt)\n", to: files.log("job", attempt)) }
    var first = try log(files, attempt: 1, follows: true)
    #expect(
      try steps(&first, hasRunner: false) == Printed(text: "1\n", step: .end(status: 0, nil)))
    var second = try log(files, attempt: 2, follows: true)
    #expect(
      try steps(&second, hasRunner: false)
        == Printed(text: "2\n", step: interruption(files, "attempt 2 of job")))
    // Without -f, the output that is there is enough.
    #expect(try print(files, attempt: 2) == Printed(text: "2\n", step: .end(status: 0, nil)))
  }

  @Test("RD-9: log -f waits for the first runner of a new run")
  func startingRun() throws {
    let place = try StoredFiles()
    let run = try StoredFiles.create(["job"], in: place.state, created: Files.now)
    var log = JobLog(
      try FoundRun(run.path, in: nil), job: "job", attempt: nil, follows: true, nil)
    #expect(try log.step(hasRunner: run.isStarting()) { _ in 0 } == .wait)
    try place.append(JournalRecord.runner().line, to: run.journal)
    guard case .end(status: 1, _) = try log.step(hasRunner: run.isStarting(), write: { _ in 0 })
    else {
      Issue.record("a killed runner is awaited")
      return
    }
  }

  @Test("RD-9: A file of the output that cannot be read is a sentence with the status 1")
  func unreadableOutput() throws {
    let files = try StoredFiles()
    try files.append(Files.start(), Files.end())
    #expect(mkdir(files.log(), 0o700) == 0)
    for shown in [nil, ShownBytes(isUnicode: true)] {
      var log = try log(files, follows: false, shown)
      let failure = #expect(throws: FileError.self) { _ = try steps(&log) }
      #expect(failure?.status == 1)
      #expect(failure?.description == "cannot read \(files.log()): Is a directory")
    }
  }

  @Test("RD-9: A file that the command empties is printed from its beginning again")
  func emptiedFile() throws {
    let files = try StoredFiles()
    try files.append(Files.start())
    try files.append("long output\n", to: files.log())
    var log = try log(files, follows: true)
    #expect(try steps(&log).text == "long output\n")
    #expect(truncate(files.log(), 0) == 0)
    try files.append("new\n", to: files.log())
    #expect(try steps(&log).text == "new\n")
  }

  @Test("RD-9: A write error ends the output, and a character at the end of a file is complete")
  func errorsAndEnds() throws {
    let files = try StoredFiles()
    try files.append(Files.start())
    try files.append("x", to: files.log())
    var log = try log(files, follows: true)
    #expect(try log.step(hasRunner: true) { _ in 28 } == .fail(error: 28))
    var shown = try self.log(files, follows: true, ShownBytes(isUnicode: true))
    #expect(try steps(&shown).text == "x")
    try files.append("\r", to: files.log())
    #expect(try steps(&shown).text == "")
    try files.append(Files.end())
    #expect(try steps(&shown).text == "·")
  }
}

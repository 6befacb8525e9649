// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The history of a run", .timeLimit(.minutes(5)), .onOwnThread)
struct RunHistoryTests {
  private static func start(_ job: String, _ attempt: Int, _ definition: String = "d")
    -> JournalRecord
  {
    .start(job, attempt: attempt, files: "1-\(job).\(attempt)", definition: definition)
  }

  private static func outcome(
    _ state: JobOutcome.State, _ attemptCount: Int = 1
  ) -> JobOutcome {
    JobOutcome(
      state: state, attemptCount: attemptCount, exitStatus: state == .succeeded ? 0 : 1,
      origin: nil, reason: state == .succeeded ? nil : "exit status 1", lastLine: nil,
      duration: .seconds(1), isUnneeded: false)
  }

  private static func end(
    _ job: String, _ outcome: JobOutcome, _ definition: String = "d", waits: Bool = false,
    byRun: Bool = false
  ) -> JournalRecord {
    .end(job, outcome, definition: definition, waits: waits, byRun: byRun)
  }

  @Test("RD-1: A job that has started has the attempt, its files, its definition and the boot id")
  func started() throws {
    let scene = try DirectoryScene()
    let run = try scene.run([
      .runner(process: 1, boot: "first", host: "h"), Self.start("a", 1),
      .runner(process: 2, boot: "second", host: "h"), Self.start("b", 3, "other"),
    ])
    let history = try RunHistory.read(run)
    let (a, b) = (history.jobs["a"], history.jobs["b"])
    #expect(a?.lastStart?.boot == "first" && b?.lastStart?.boot == "second")
    #expect(b?.lastStart?.attempt == 3 && b?.lastStart?.files == "1-b.3")
    #expect(b?.lastStart?.definition == "other" && b?.definition == "other")
    #expect(a?.attemptCount == 1 && b?.attemptCount == 3 && a?.outcome == nil)
    #expect(history.lastBoot == "second" && history.jobs["c"] == nil && !history.isFinished)
  }

  @Test("RD-1: A failed attempt is known until the next attempt starts")
  func failedAttempt() {
    var history = RunHistory([
      Self.start("a", 1), .attempt("a", attempt: 1, status: 7, reason: "exit status 7"),
    ])
    #expect(history.jobs["a"]?.hasLastAttemptFailed == true)
    history.apply(Self.start("a", 2))
    #expect(history.jobs["a"]?.hasLastAttemptFailed == false)
    #expect(history.jobs["a"]?.attemptCount == 2)
    // An end of an earlier attempt does not count.
    history.apply(.attempt("a", attempt: 1, status: 7, reason: nil))
    #expect(history.jobs["a"]?.hasLastAttemptFailed == false)
  }

  @Test("RD-1: A job that has ended has its outcome and the definition at its end")
  func ended() {
    let outcome = Self.outcome(.failed, 2)
    let history = RunHistory([
      Self.start("a", 1), Self.start("a", 2), Self.end("a", outcome, "e", waits: true),
      Self.end("b", Self.outcome(.cancelled, 0), byRun: true),
    ])
    let (a, b) = (history.jobs["a"], history.jobs["b"])
    #expect(a?.outcome == outcome && a?.definition == "e")
    #expect(a?.waits == true && a?.isByRun == false && a?.hasEnded == true)
    #expect(b?.waits == false && b?.isByRun == true && b?.lastStart == nil)
  }

  @Test("RD-1: After a new start, an earlier end of the job does not count")
  func startedAgain() {
    let history = RunHistory([
      Self.start("a", 1), Self.end("a", Self.outcome(.failed), waits: true), Self.start("a", 2),
      Self.start("b", 1), Self.end("b", Self.outcome(.cancelled), byRun: true), Self.start("b", 2),
    ])
    for job in [history.jobs["a"], history.jobs["b"]] {
      #expect(job?.outcome == nil && job?.attemptCount == 2)
      #expect(job?.waits == false && job?.isByRun == false)
    }
    // The end of the whole run has ended b. This does not count as an end of the job.
    #expect(history.jobs["a"]?.hasEnded == true && history.jobs["b"]?.hasEnded == false)
  }

  @Test("RD-5: After a retry, a job has not ended, and its attempts keep their numbers")
  func retry() {
    var history = RunHistory([
      Self.start("a", 1), Self.end("a", Self.outcome(.failed)), Self.start("b", 1), .finish(),
    ])
    #expect(history.isFinished)
    history.apply(.retry(["a", "unknown"]))
    let job = history.jobs["a"]
    // The status file of the earlier attempt must not be taken as that of a new one.
    #expect(job?.outcome == nil && job?.lastStart == nil)
    #expect(job?.attemptCount == 1 && job?.definition == "d" && job?.hasEnded == true)
    #expect(history.jobs["b"]?.lastStart != nil && history.jobs["unknown"] == nil)
    #expect(!history.isFinished)
  }

  @Test("RD-1: A run is finished from the record about its end to the next start")
  func finished() {
    var history = RunHistory([.runner(), Self.start("a", 1)])
    #expect(!history.isFinished)
    history.apply(.finish())
    #expect(history.isFinished)
    history.apply(.runner())
    #expect(history.isFinished)
    history.apply(Self.start("a", 2))
    #expect(!history.isFinished)
  }

  @Test("RD-6: An incomplete last line is ignored", arguments: ["{", "{}", "\u{0}\u{0}", "x"])
  func tornLine(rest: String) throws {
    let scene = try DirectoryScene()
    let run = try scene.run(journal: Self.start("a", 1).line + rest)
    let history = try RunHistory.read(run)
    #expect(history.jobs.count == 1 && history.jobs["a"]?.attemptCount == 1)
  }

  @Test(
    "RD-6: Another damaged line is refused with its number",
    arguments: ["x", "", "{}", "\u{0}", #"{"event":"finish""#, #"{"event":"later","time":1}"#])
  func damagedLine(line: String) throws {
    let scene = try DirectoryScene()
    let good = Self.start("a", 1).line
    for number in 1...3 {
      let lines = (1...3).map { $0 == number ? line + "\n" : good }
      let run = try scene.run(journal: lines.joined())
      let failure = #expect(throws: RunFailure.self) { try RunHistory.read(run) }
      #expect(failure?.description == "line \(number) of the journal \(run.journal) is damaged")
    }
  }

  @Test("RD-6: A journal or a request of a newer version is refused")
  func newerVersion() throws {
    let scene = try DirectoryScene()
    var record = JournalRecord.runner()
    record.version = 2
    let run = try scene.run([record])
    let words = "a newer opq-top has written the run \(run.id)"
    let journal = #expect(throws: RunFailure.self) { try RunHistory.read(run) }
    #expect(journal?.description == words)
    var request = scene.request()
    request.version = 2
    DirectoryScene.write(String(decoding: request.json, as: UTF8.self), to: run.request)
    let failure = #expect(throws: RunFailure.self) { try RunRequest.read(run) }
    #expect(failure?.description == words)
  }

  @Test("RD-6: A run that other users can change is not read")
  func otherUsers() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    #expect(chmod(run.path, 0o777) == 0)
    for failure in [
      #expect(throws: RunFailure.self) { try RunHistory.read(run) },
      #expect(throws: RunFailure.self) { try RunRequest.read(run) },
    ] {
      #expect(failure?.description == "other users can write to \(run.path)")
    }
  }

  @Test("RD-1: The time to read a journal is proportional to its size", .oneAtATime)
  func largeJournal() throws {
    let scene = try DirectoryScene()
    let count = Effort.scaled(100_000)
    var text = JSONText()
    JournalRecord.runner().write(to: &text)
    for number in 0..<count {
      Self.start("job-\(number)", 1).write(to: &text)
      Self.end("job-\(number)", Self.outcome(.succeeded)).write(to: &text)
    }
    let run = try scene.run(journal: String(decoding: text.bytes, as: UTF8.self))
    let begin = ContinuousClock.now
    let history = try RunHistory.read(run)
    #expect(history.jobs.count == count)
    // On an idle machine, a job takes about ten microseconds with optimization.
    #expect(begin.duration(to: .now) / count < .milliseconds(2))
  }
}

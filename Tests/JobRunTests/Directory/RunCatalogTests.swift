// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The list of runs", .timeLimit(.minutes(5)), .onOwnThread)
struct RunCatalogTests {
  private static func end(
    _ job: String, _ state: JobOutcome.State, byRun: Bool = false
  ) -> JournalRecord {
    let outcome = JobOutcome(
      state: state, attemptCount: 1, exitStatus: nil, origin: nil, reason: nil, lastLine: nil,
      duration: nil, isUnneeded: false)
    return .end(job, outcome, definition: "d", byRun: byRun)
  }

  @Test("RD-8: A run is running, finished or interrupted")
  func states() throws {
    let scene = try DirectoryScene()
    let run = try scene.run([.runner()])
    #expect(RunCatalog.summary(of: run).state == .interrupted)
    let lock = try RunLock.take(run)
    #expect(RunCatalog.summary(of: run).state == .running(process: getpid()))
    lock.release()
    DirectoryScene.write(JournalRecord.finish().line, to: run.journal)
    #expect(RunCatalog.summary(of: run).state == .finished)
    let second = try RunLock.take(run)
    #expect(RunCatalog.summary(of: run).state == .shown(process: getpid()))
    second.release()
  }

  @Test("RD-8: A run whose jobs were cancelled with it is interrupted, until they have run")
  func endedRun() throws {
    let scene = try DirectoryScene()
    let run = try scene.run()
    var records = [JournalRecord.runner(), Self.end("one", .cancelled, byRun: true), .finish()]
    func state() -> RunState {
      DirectoryScene.write(records.map(\.line).joined(), to: run.journal)
      return RunCatalog.summary(of: run).state
    }
    #expect(state() == .interrupted)
    records += [.runner(), .start("one", attempt: 2, files: "1-one.2", definition: "d")]
    #expect(state() == .interrupted)
    records += [Self.end("one", .succeeded), .finish()]
    #expect(state() == .finished)
    // The plan no longer has this job.
    records += [Self.end("removed", .cancelled, byRun: true), .finish()]
    #expect(state() == .finished)
  }

  @Test("RD-8: A new run without a runner is starting, for at most a minute")
  func startingRun() throws {
    let scene = try DirectoryScene()
    var time = timespec()
    #expect(clock_gettime(CLOCK_REALTIME, &time) == 0)
    let run = try scene.run(created: Int64(time.tv_sec) * 1_000_000_000)
    #expect(RunCatalog.summary(of: run).state == .starting)
    let now = RunID.time(of: run.id)
    for seconds in [-59, 0, 59] as [Int64] {
      #expect(run.isStarting(at: now + seconds * 1_000_000_000))
    }
    for seconds in [-60, 60, 900_000_000] as [Int64] {
      #expect(!run.isStarting(at: now + seconds * 1_000_000_000))
    }
    let lock = try RunLock.take(run)
    #expect(RunCatalog.summary(of: run).state == .running(process: getpid()))
    lock.release()
    DirectoryScene.write(JournalRecord.runner().line, to: run.journal)
    #expect(RunCatalog.summary(of: run).state == .interrupted)
    #expect(RunCatalog.summary(of: try scene.run()).state == .interrupted)
  }

  @Test("RD-8: A summary counts the jobs of the newest plan, by their states")
  func counts() throws {
    let scene = try DirectoryScene()
    let plan = try DirectoryScene.plan("  a: {run: 'true', each: {N: [1, 2, 3]}}\n  b: {run: x}")
    let run = try scene.run(plan: plan)
    let records = [
      Self.end("a[1]", .succeeded), Self.end("a[2]", .failed), Self.end("removed", .failed),
      Self.end("b", .skipped), .retry(["b"]),
    ]
    DirectoryScene.write(records.map(\.line).joined(), to: run.journal)
    let summary = RunCatalog.summary(of: run)
    #expect(summary.jobCount == 4 && summary.counts.text == "2 jobs: 1 succeeded, 1 failed")
    #expect(summary.title == "jobs.yaml" && summary.created == scene.request().created)
    #expect(summary.file == scene.request().file)
  }

  @Test("RD-6: Without a readable plan, a summary counts the jobs in the journal")
  func noPlan() throws {
    let scene = try DirectoryScene()
    let run = try scene.run([Self.end("a", .succeeded), Self.end("b", .failed)])
    for text in ["", "{", #"{"jobs":[{"id":1}]}"#, "\u{0}"] {
      DirectoryScene.write(text, to: run.plan)
      #expect(RunCatalog.summary(of: run).jobCount == 2, "\(text)")
    }
    #expect(unlink(run.plan) == 0)
    #expect(RunCatalog.summary(of: run).counts.text == "2 jobs: 1 succeeded, 1 failed")
  }

  @Test("RD-6: A directory without the files of a run is listed as damaged, beside other runs")
  func damaged() throws {
    let scene = try DirectoryScene()
    let good = try scene.run()
    let (noJournal, noRequest) = (try scene.run(), try scene.run())
    let (badJournal, badRequest) = (try scene.run(journal: "x\n"), try scene.run())
    let empty = RunDirectory(path: "\(scene.place.runs)/20300101-000000-aaaa")
    #expect(unlink(noJournal.journal) == 0 && unlink(noRequest.request) == 0)
    #expect(mkdir(empty.path, 0o700) == 0)
    DirectoryScene.write("{}", to: badRequest.request)
    let summaries = try RunCatalog.summaries(in: scene.place)
    func reason(_ run: RunDirectory) -> String? {
      guard case .damaged(let failure) = summaries.first(where: { $0.directory == run })?.state
      else { return nil }
      return failure.description
    }
    #expect(summaries.count == 6 && reason(good) == nil)
    #expect(
      reason(noJournal) == "cannot read the file \(noJournal.journal): No such file or directory")
    #expect(
      reason(noRequest) == "cannot read the file \(noRequest.request): No such file or directory")
    #expect(reason(badJournal) == "line 1 of the journal \(badJournal.journal) is damaged")
    #expect(reason(badRequest) == "the file \(badRequest.request) is damaged")
    #expect(reason(empty)?.hasPrefix("cannot read the file \(empty.request)") == true)
    // The newest id.
    #expect(summaries.last?.directory == empty && summaries.last?.title == empty.id)
    #expect(summaries.last?.created == 1_893_456_000_000_000_000)
  }

  @Test("RD-6: A journal that is a directory or a pipe is damaged")
  func journalIsNoFile() throws {
    let scene = try DirectoryScene()
    let runs = [try scene.run(), try scene.run()]
    for run in runs { #expect(unlink(run.journal) == 0) }
    #expect(mkdir(runs[0].journal, 0o700) == 0 && mkfifo(runs[1].journal, 0o600) == 0)
    for run in runs {
      guard case .damaged = RunCatalog.summary(of: run).state else {
        Issue.record("\(RunCatalog.summary(of: run).state)")
        continue
      }
      #expect(throws: RunFailure.self) { try RunJournal(appendingTo: run) }
    }
  }
}

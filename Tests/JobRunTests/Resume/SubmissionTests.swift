// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCommands
import Testing

@testable import JobRun

@Suite("Decisions about attempts that were submitted to a cluster")
struct SubmissionTests {
  private static let jobs = "  a: {run: 'a', retries: 3}\n  b: {run: 'b', needs: [a]}"

  @Test("JS-3: An attempt that was submitted is awaited with its files and its submission")
  func adoption() throws {
    var past = try PastRun(Self.jobs)
    past.submit("a")
    past.retry("a", attempt: 1)
    past.submit("a", attempt: 2)
    let next = try past.resumed()
    #expect(
      next.decision("a")
        == .adoptSubmission(attempt: 2, files: "a.2", submission: PastRun.submission))
    #expect(next["b"] == "run 1" && next.lastAttempt("a") == 4)
    #expect(next.resumption.hasWork)
    #expect(
      next.resumption.sentences == ["a was submitted to the cluster, and its end is awaited"])
  }

  @Test("JS-3: A job that must not run twice is awaited as well, because a submission starts once")
  func once() throws {
    var past = try PastRun("  a: {run: 'a', once: true}")
    past.submit("a")
    #expect(try past.resumed().words == ["a: await 1"])
  }

  @Test("JS-3: If an attempt was submitted several times, the last submission is awaited")
  func lastSubmission() throws {
    var past = try PastRun(Self.jobs)
    past.submit("a")
    let last = SlurmSubmission(comment: "opq-2", name: "a")
    past.submit("a", attempt: 1, last)
    let next = try past.resumed()
    #expect(
      next.decision("a") == .adoptSubmission(attempt: 1, files: "a.1", submission: last))
    #expect(next.lastAttempt("a") == 4)
  }

  @Test("JS-2: The id and the time of a submission are those of the records with its comment")
  func learned() throws {
    var past = try PastRun(Self.jobs)
    past.submit("a", SlurmSubmission(comment: "opq-1", name: "a"))
    var known = SlurmSubmission(comment: "opq-1", name: "a", id: 7)
    past.append([.submitted("a", attempt: 1, submission: known)])
    known.submitted = 1000
    past.append([.submitted("a", attempt: 1, submission: known)])
    let other = SlurmSubmission(comment: "opq-0", name: "a", id: 99, submitted: 1)
    past.append([.submitted("a", attempt: 1, submission: other)])
    #expect(
      try past.resumed().decision("a")
        == .adoptSubmission(attempt: 1, files: "a.1", submission: PastRun.submission))
  }

  @Test(
    "JS-3, RD-7: A changed job that was submitted is awaited, and runs again at the next resume")
  func changed() throws {
    var past = try PastRun(Self.jobs)
    past.submit("a")
    let new = Self.jobs.replacing("'a'", with: "'x'")
    let next = try past.resumed(new)
    #expect(next.words == ["a: await 1", "b: run 1"] && next.lastAttempt("a") == 1)
    #expect(
      next.resumption.sentences == [
        "a was submitted to the cluster before a change; it runs again at the next resume"
      ])
    try past.resume(new)
    past.end("a", .succeeded, attempts: 1)
    // The end has the definition of the start.
    #expect(next.resumption.definitions[0] != JobDefinition.texts(of: next.plan)[0])
  }

  @Test("JS-3, RD-7: A job whose need has changed keeps its submission in the journal")
  func changedNeed() throws {
    var past = try PastRun(Self.jobs)
    past.run("a")
    past.submit("b")
    let new = Self.jobs.replacing("'a'", with: "'x'")
    let next = try past.resumed(new)
    #expect(next.words == ["a: run 2", "b: await 1"])
    try past.resume(new)
    #expect(
      try past.resumed(new).decision("b")
        == .adoptSubmission(attempt: 1, files: "b.1", submission: PastRun.submission))
  }

  @Test("JS-3, RD-7: A lost attempt is not submitted again before the changed need has run")
  func lostBehindChangedNeed() async throws {
    var past = try PastRun(Self.jobs)
    past.run("a")
    past.submit("b")
    let next = try past.resumed(Self.jobs.replacing("'a'", with: "'x'"))
    let scene = try RunScene()
    var options = JobRun.Options()
    options.cluster = RunCluster("slurm")
    let run = try FinishedRun(
      next.plan, in: scene.runDirectory(next.plan), next.resumption, options, disk: .system,
      scene: scene.directory)
    await #expect(throws: JobHasChanged.self) {
      try await run.run.recordResubmission(
        of: 1, attempt: 1, files: "b.1", SlurmSubmission(comment: "opq-2", name: "b"))
    }
    run.journal.close()
    #expect(try run.records().isEmpty)
  }

  @Test("JS-3, RD-7: A job whose outdated attempt was lost runs at the next resume, in its order")
  func resumeAfterLoss() throws {
    var past = try PastRun(Self.jobs)
    past.run("a")
    past.submit("b")
    let new = Self.jobs.replacing("'a'", with: "'x'")
    let next = try past.resumed(new)
    try past.resume(new)
    past.start("a", attempt: 2)
    past.end("a", .succeeded, attempts: 2)
    past.append([
      .end(
        "b", PastRun.outcome(.failed, attempts: 1), definition: next.resumption.definitions[1])
    ])
    #expect(try past.resumed(new).words == ["a: keep succeeded", "b: run 2"])
  }

  @Test("JS-3, RD-7: A job that the file no longer has, and that was submitted, is awaited")
  func removed() throws {
    var past = try PastRun(Self.jobs)
    past.submit("a")
    let next = try past.resumed("  b: {run: 'b'}")
    #expect(
      next.resumption.removedJobs == [
        Resumption.RemovedJob(
          id: "a", attempt: 1, files: past.directory.files(named: "a.1"), shim: nil,
          submission: .init(files: "a.1", submission: PastRun.submission))
      ])
    #expect(
      next.resumption.sentences == [
        "a is no longer in the job file, but was submitted to the cluster, and its end is awaited"
      ])
  }

  @Test("JS-3: A retry of a submitted job is refused, like a retry of a running job")
  func retry() throws {
    var past = try PastRun(Self.jobs)
    past.submit("a")
    #expect(throws: RunFailure.self) { try past.resumed(retrying: ["a"]) }
  }
}

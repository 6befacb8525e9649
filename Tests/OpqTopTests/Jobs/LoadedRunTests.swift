// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import JobFiles
import TestSupport
import Testing

@testable import JobRun
@testable import OpqTop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// A run is loaded on the thread of the caller, which waits for tasks. This thread must not be one that executes tasks.
@Suite("What a resume would do", .timeLimit(.minutes(5)), .onOwnThread)
struct LoadedRunTests {
  /// A run whose job file and working directory exist.
  private struct Files {
    let temporary: TemporaryDirectory
    let directory: RunDirectory
    let plan: JobPlan

    init(_ text: String) throws {
      temporary = try TemporaryDirectory()
      let path = temporary.file("jobs.yaml")
      try Self.write(text, to: path)
      plan = try JobPlan(file: Array(text.utf8), name: "jobs.yaml", processorCount: 1)
      let request = RunRequest(file: path, title: "jobs.yaml", directory: temporary.path)
      directory = try RunStore.create(
        in: RunPlace(state: temporary.path), request: request, input: nil, plan: plan)
    }

    /// Replaces the job file.
    func write(_ text: String) throws { try Self.write(text, to: temporary.file("jobs.yaml")) }

    private static func write(_ text: String, to path: String) throws {
      let file = try #require(fopen(path, "w"))
      #expect(fputs(text, file) >= 0)
      fclose(file)
    }

    func append(_ records: [JournalRecord]) throws {
      let file = try #require(fopen(directory.journal, "a"))
      for record in records { #expect(fputs(record.line, file) >= 0) }
      fclose(file)
    }

    /// Returns the record that a job has ended, with its present definition.
    func end(_ index: Int, _ state: JobOutcome.State, reason: String? = nil) -> JournalRecord {
      let outcome = JobOutcome(
        state: state, attemptCount: 1, exitStatus: nil, origin: nil, reason: reason, lastLine: nil,
        duration: nil, isUnneeded: false)
      return .end(plan.jobs[index].id, outcome, definition: definition(index))
    }

    func start(_ index: Int) -> JournalRecord {
      .start(
        plan.jobs[index].id, attempt: 1, files: "\(index + 1)-job.1", definition: definition(index))
    }

    private func definition(_ index: Int) -> String {
      JobDefinition.text(of: plan.jobs[index], in: plan)
    }
  }

  private static let jobs = """
    jobs:
      done: {run: 'true'}
      lost: {run: 'true', needs: [done]}
      next: {run: 'true', needs: [lost]}
    """

  @Test("RD-4: Each job has a line, and then the sentences follow")
  func decisions() throws {
    let files = try Files(Self.jobs)
    try files.append([
      .runner(), files.start(0), files.end(0, .succeeded), files.start(1),
    ])
    let run = try LoadedRun(files.directory, retrying: [])
    #expect(!run.isOver)
    let lines = run.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines.prefix(4) == [
        "done  stays succeeded", "lost  runs again, as attempt 2", "next  runs", "",
      ])
    #expect(lines.dropFirst(4).contains { $0.hasPrefix("lost was lost") })
  }

  @Test("RD-7: A job that is certainly skipped has no attempt, whether it has ended or not")
  func skippedJobs() throws {
    let text = """
      jobs:
        deploy: {run: 'true', once: true}
        notify: {run: 'true', needs: [deploy]}
        broken: {run: 'false'}
        behind: {run: 'true', needs: [broken]}
        report: {run: 'true', needs: [behind], when: always}
      """
    let files = try Files(text)
    try files.append([.runner(), files.start(0), files.end(0, .succeeded)])
    try files.append([files.start(1), files.end(1, .succeeded)])
    try files.append([files.start(2), files.end(2, .failed, reason: "exit status 1")])
    try files.write(text.replacing("deploy: {run: 'true'", with: "deploy: {run: 'true --new'"))
    let shown = try LoadedRun(files.directory, retrying: []).text
    let lines = shown.split(separator: "\n")
    #expect(lines.contains("notify  is skipped"), "\(shown)")
    #expect(lines.contains { $0.hasPrefix("notify no longer counts as ended, and is skipped") })
    #expect(lines.contains("behind  is skipped") && lines.contains("report  runs"), "\(shown)")
  }

  @Test("RD-4: A job is skipped if it needs a job whose process may still run")
  func jobBehindUnknown() throws {
    let files = try Files(
      """
      jobs:
        held: {run: 'true'}
        last: {run: 'true', needs: [held], when: always}
      """)
    try files.append([.runner(boot: "another boot"), files.start(0)])
    let shim = open("\(files.directory.jobs)/1-job.1.shim", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(shim >= 0)
    defer { close(shim) }
    #expect(flock(shim, LOCK_EX | LOCK_NB) == 0)
    let shown = try LoadedRun(files.directory, retrying: []).text
    #expect(
      shown.contains("last  is skipped: it is not known if a job that it needs still runs\n"),
      "\(shown)")
  }

  @Test("RD-4: If all jobs have ended, nothing is left to do")
  func finished() throws {
    let files = try Files("jobs: {done: {run: 'true'}, broken: {run: 'false'}}")
    try files.append([
      .runner(), files.start(0), files.end(0, .succeeded), files.start(1),
      files.end(1, .failed, reason: "exit status 1: \u{1B}[2J"), .finish(),
    ])
    let run = try LoadedRun(files.directory, retrying: [])
    #expect(run.isOver && run.sentences.isEmpty)
    #expect(
      run.text == """
        done    stays succeeded
        broken  stays failed: exit status 1: \\x1b[2J

        nothing is left to do

        """)
  }

  @Test("RD-5: A retry leaves work, and a job that has succeeded is refused")
  func retries() throws {
    let files = try Files("jobs: {done: {run: 'true'}, broken: {run: 'false'}}")
    try files.append([
      .runner(), files.start(0), files.end(0, .succeeded), files.start(1),
      files.end(1, .failed, reason: "exit status 1"), .finish(),
    ])
    let run = try LoadedRun(files.directory, retrying: ["broken"])
    #expect(!run.isOver && run.text.contains("broken  runs again, as attempt 2\n"))
    #expect(throws: RunFailure.self) {
      _ = try LoadedRun(files.directory, retrying: ["done"])
    }
  }

  @Test("RD-4: The advice about a job that waits finds its run, although another run is newer")
  func adviceAboutWaitingJob() throws {
    let files = try Files("jobs: {deploy: {run: 'true', once: true}}")
    try files.append([.runner(), files.start(0)])
    _ = try StoredFiles.create(["deploy"], in: files.temporary.path, created: .max / 2)
    let run = try LoadedRun(files.directory, retrying: [])
    guard case .wait(let outcome) = run.resumption.decisions[0], let reason = outcome.reason else {
      Issue.record("the job does not wait")
      return
    }
    let advice = try #require(reason.firstRange(of: "opq-top retry "))
    let words = reason[advice.upperBound...].split(separator: " ").map(String.init)
    let command = try RetryCommand.parse(words)
    #expect(command.jobs == ["deploy"])
    #expect(try FoundRun(command.run, in: command.runs).directory == files.directory)
  }

  @Test("RD-4: A missing working directory is one sentence")
  func missingDirectory() throws {
    let files = try StoredFiles()
    #expect(
      throws: RunFailure("the working directory of the run, /project, does not exist")
    ) { _ = try LoadedRun(files.directory, retrying: []) }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import JobRun
@testable import OpqTop

@Suite("The result of a run, from its files") struct RunReportTests {
  private func report(_ files: StoredFiles, _ records: JournalRecord...) throws -> RunReport {
    for record in [.runner()] + records + [.finish()] { try files.append(record) }
    return RunReport(files.directory)
  }

  @Test("RD-4: Jobs that were cancelled with the whole run are left for a resume")
  func interruptedJobs() throws {
    let report = try report(
      StoredFiles(["a", "b"]), StoredFiles.end("a"),
      StoredFiles.end("b", .cancelled, byRun: true))
    #expect(report.hasInterruptedJobs)
  }

  @Test(
    "RD-4: After a complete run nothing is left, also if a user has cancelled jobs",
    arguments: [JobOutcome.State.succeeded, .failed, .skipped, .cancelled])
  func completeRun(state: JobOutcome.State) throws {
    let files = try StoredFiles(["a", "b"])
    let end = StoredFiles.end("b", state)
    #expect(try !report(files, StoredFiles.end("a"), end).hasInterruptedJobs)
    // A job that a resume has run is not left.
    let old = StoredFiles.end("b", .cancelled, byRun: true)
    #expect(try !report(files, old, end).hasInterruptedJobs)
  }

  @Test("RD-4: Jobs that the file no longer has are not left")
  func removedJobs() throws {
    let report = try report(
      StoredFiles(["a"]), StoredFiles.end("a", .cancelled),
      StoredFiles.end("gone", .cancelled, byRun: true))
    #expect(!report.hasInterruptedJobs)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import JobRun
@testable import OpqTop

@Suite("The result of a run, from its files") struct RunReportTests {
  /// Returns whether a resume of a finished run with these records runs jobs again.
  private func hasInterruptedJobs(
    _ files: StoredFiles, _ records: JournalRecord...
  ) throws -> Bool {
    for record in [.runner()] + records + [.finish()] { try files.append(record) }
    // The report reads the files, which exist as long as the value `files`.
    return withExtendedLifetime(files) { RunReport(files.directory).hasInterruptedJobs }
  }

  @Test("RD-4: Jobs that were cancelled with the whole run are left for a resume")
  func interruptedJobs() throws {
    let end = StoredFiles.end("b", .cancelled, byRun: true)
    #expect(try hasInterruptedJobs(StoredFiles(["a", "b"]), StoredFiles.end("a"), end))
  }

  @Test(
    "RD-4: After a complete run nothing is left, also if a user has cancelled jobs",
    arguments: [JobOutcome.State.succeeded, .failed, .skipped, .cancelled])
  func completeRun(state: JobOutcome.State) throws {
    let files = try StoredFiles(["a", "b"])
    let end = StoredFiles.end("b", state)
    #expect(try !hasInterruptedJobs(files, StoredFiles.end("a"), end))
    // A job that a resume has run is not left.
    let old = StoredFiles.end("b", .cancelled, byRun: true)
    #expect(try !hasInterruptedJobs(files, old, end))
  }

  @Test("RD-4: Jobs that the file no longer has are not left")
  func removedJobs() throws {
    let gone = StoredFiles.end("gone", .cancelled, byRun: true)
    #expect(try !hasInterruptedJobs(StoredFiles(["a"]), StoredFiles.end("a", .cancelled), gone))
  }
}

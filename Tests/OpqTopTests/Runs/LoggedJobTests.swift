// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import JobRun
@testable import OpqTop

@Suite("What the journal says about a job whose output is printed") struct LoggedJobTests {
  private typealias Files = StoredFiles

  private func job(_ records: JournalRecord...) -> LoggedJob {
    records.reduce(into: LoggedJob("job")) { $0.note($1) }
  }

  @Test(
    "RD-9: An attempt is over when it has failed, when the next one starts, or when the job ends")
  func attempts() {
    #expect(job().lastAttempt == nil && !job().isKnown)
    let first = job(.runner(), Files.start())
    #expect(first.lastAttempt == 1 && first.isKnown && !first.isOver(1))
    #expect(first.files == [1: "job.1"])
    let failed = job(Files.start(), .attempt("job", attempt: 1, status: 7, reason: nil))
    #expect(failed.isOver(1) && failed.end == nil && failed.attempt(after: 1) == nil)
    let second = job(Files.start(), Files.start("job", 3))
    #expect(second.isOver(1) && !second.isOver(3))
    #expect(second.attempt(after: 1) == 3 && second.lastAttempt == 3)
    let ended = job(Files.start(), Files.end("job", .failed, reason: "exit status 7"))
    #expect(ended.isOver(1) && ended.end?.reason == "exit status 7")
  }

  @Test("RD-9: Records about other jobs are ignored")
  func otherJobs() {
    let other = job(
      Files.start("other"), .attempt("other", attempt: 1, status: 1, reason: nil),
      Files.end("other"), .retry(["other"]), .finish())
    #expect(!other.isKnown && other.lastAttempt == nil && other.end == nil)
  }

  @Test("RD-9: A retried job, and one that was ended with its run, have not ended")
  func notEnded() {
    #expect(job(Files.start(), Files.end(), .retry(["a", "job"])).end == nil)
    #expect(job(Files.start(), Files.end(), .retry(["a"])).end != nil)
    let cancelled = Files.end("job", .cancelled, byRun: true)
    #expect(job(Files.start(), cancelled).end?.state == .cancelled)
    #expect(job(Files.start(), cancelled, .runner()).end == nil)
    #expect(job(Files.start(), Files.end(), .runner()).end?.state == .succeeded)
    let again = job(
      Files.start(), cancelled, .runner(), Files.start("job", 2), Files.end(attempts: 2))
    #expect(again.end?.state == .succeeded && again.isOver(2))
  }
}

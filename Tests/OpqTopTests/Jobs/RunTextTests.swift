// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import Testing

@testable import JobRun
@testable import OpqTop

@Suite("The lines of a run") struct RunTextTests {
  private func lines(_ events: [JobEvent]) throws -> [String] {
    let file = #"jobs: {a: {run: 'true', retries: 1, each: {X: [b]}}}"#
    let plan = try JobPlan(file: Array(file.utf8), name: "jobs.yaml", processorCount: 1)
    return RunText(plan: plan, isUnicode: true).lines(of: events).split(separator: "\n").map {
      String($0)
    }
  }

  @Test("RD-4: A job of an earlier runner that still runs has a line")
  func adoptedJobs() throws {
    #expect(
      try lines([.adopted(0, attempt: 1), .adopted(0, attempt: 2)]) == [
        #"continues a[b]"#, #"continues a[b], attempt 2 of 2"#,
      ])
  }

  @Test("RD-5: A job that a user retries has a line, and its attempts continue their numbers")
  func retriedJobs() throws {
    #expect(
      try lines([
        .willRunAgain(0), .started(0, attempt: 3), .retried(0, attempt: 3, reason: "exit status 1"),
      ]) == [
        #"retried   a[b]"#, #"started   a[b], attempt 3"#,
        #"retrying  a[b]: attempt 3 failed: exit status 1"#,
      ])
  }

  @Test("RD-6: The failure of the journal is no line, because it is an error")
  func journalFailure() throws {
    #expect(try lines([.journalFailed(reason: "the disk is full")]).isEmpty)
  }
}

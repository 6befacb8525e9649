// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCollector
import OperationsCommands
import TestSupport
import Testing

@testable import JobRun
@testable import OpqTop

@Suite("Requests of viewers to retry jobs", .timeLimit(.minutes(5)), .onOwnThread)
struct RetryRequestsTests {
  @Test("RD-5: Before the jobs are known, the reason of a refusal is that the run has not started")
  func earlyRequest() {
    let requests = RetryRequests {}
    let refusal = JobRetry.Answer.refused("the run has not started")
    #expect(requests.answers(for: ["a", "b"]) == [refusal, refusal])
    #expect(!requests.end())
    #expect(requests.answers(for: ["a"]) == [refusal])
  }

  @Test("RD-5: Requests are accepted until the runner is about to end")
  func lateRequest() throws {
    let files = try StoredFiles()
    let text = "jobs: {job: {run: 'false'}}"
    let plan = try JobPlan(file: Array(text.utf8), name: "jobs.yaml", processorCount: 1)
    let journal = try RunJournal(appendingTo: files.directory)
    defer { journal.close() }
    let jobs = JobRun(
      plan, directory: files.directory, journal: journal, programs: try ShimPrograms.find(),
      history: .fresh(plan)
    ) {}
    let (ends, rings) = (EventLog<String>(), EventLog<String>())
    let requests = RetryRequests { rings.note("ring") }
    requests.begin(jobs)
    #expect(!requests.end())
    jobs.whenFinished { ends.note("end") }
    jobs.start()
    ends.wait(forCount: 1)
    #expect(requests.answers(for: ["job", "other"]).first == .accepted)
    #expect(rings.events == ["ring"])
    ends.wait(forCount: 2)
    #expect(requests.end())
    #expect(requests.answers(for: ["job"]) == [.refused("the runner is about to end")])
    #expect(rings.events == ["ring"])
  }
}

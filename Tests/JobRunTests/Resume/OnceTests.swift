// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import Testing

@testable import JobRun

@Suite("Jobs that must not run twice, at a resume")
struct OnceTests {
  private static let jobs = """
      merge: {run: 'merge'}
      deploy: {run: 'deploy', needs: [merge], once: true}
      publish: {run: 'publish', needs: [deploy]}
      notify: {run: 'notify', needs: [deploy], when: always}
      undo: {run: 'undo', needs: [deploy], when: failure}
    """

  /// A run that has ended successfully.
  private func finishedRun() throws -> PastRun {
    var past = try PastRun(Self.jobs)
    past.run("merge", "deploy", "publish", "notify")
    past.end("undo", .skipped, unneeded: true)
    return past
  }

  @Test("RD-4: A lost job that must not run twice waits, with a reason that says what to do")
  func lostJobWaits() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.start("deploy", .lost)
    let next = try past.resumed()
    // The job behind it is skipped by the runner, and the rollback does not run.
    #expect(
      next.words == [
        "merge: keep succeeded", "deploy: wait", "publish: run 1", "notify: run 1",
        "undo: keep skipped",
      ])
    guard case .wait(let outcome) = next.resumption.decisions[1] else { return }
    #expect(
      outcome.sentence(for: "deploy") == """
        deploy failed: its end is not known, and it must not run twice; to run it again: \
        opq-top retry deploy --run /runs/20260131-235959-k3x9
        """)
    #expect(
      next.resumption.sentences == [
        "deploy must not run twice, and waits for \"opq-top retry\", because its end is not known"
      ])
  }

  @Test("RD-4: A job that must not run twice and whose command still runs without a shim waits")
  func orphanedJobWaits() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.start("deploy", .orphaned(PastRun.process))
    let next = try past.resumed()
    #expect(
      next.words == [
        "merge: keep succeeded", "deploy: keep failed", "publish: run 1", "notify: keep skipped",
        "undo: keep skipped",
      ])
    let sentence =
      "its shim was killed, but its command still runs as process 4712, and it must not run twice;"
      + " resume the run when the process has ended"
    #expect(next.resumption.sentences == ["deploy: \(sentence)"])
    #expect(next.resumption.orphans.isEmpty && next.resumption.unknownJobs == [1: sentence])
    // Nothing is recorded, so the next resume examines the process again.
    #expect(!next.resumption.records.contains { $0.job == "deploy" || $0.jobs != nil })
    #expect(throws: RunFailure(refusals: ["deploy: \(sentence)"])) {
      try past.resumed(retrying: ["deploy"])
    }
    past.findings["deploy"] = .lost
    #expect(try past.resumed()["deploy"] == "wait")
    #expect(try past.resumed(retrying: ["deploy"])["deploy"] == "run 2")
  }

  @Test("RD-4: The record of a job that waits is written before anything starts")
  func waitingIsRecorded() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.start("deploy", .lost)
    let records = try past.resumed().resumption.records
    let deploy = try #require(records.first { $0.job == "deploy" })
    #expect(deploy.event == .end && deploy.state == .failed && deploy.waits == true)
    #expect(deploy.attempt == 1)
  }

  @Test("RD-4: A job that waits still waits at the next resume")
  func waitingContinues() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.start("deploy", .lost)
    try past.resume()
    past.findings = [:]
    let next = try past.resumed()
    #expect(next["deploy"] == "keep failed" && next["undo"] == "keep skipped")
    #expect(next.resumption.records.isEmpty)
    #expect(
      next.resumption.sentences == ["deploy must not run twice, and waits for \"opq-top retry\""])
  }

  @Test("RD-4: A job that must not run twice is adopted, and its exit status is taken")
  func onceIsAdopted() throws {
    var past = try PastRun("  a: {run: 'true', once: true, retries: 3}")
    past.start("a", .alive(PastRun.shim))
    #expect(try past.resumed()["a"] == "adopt 1")
    for status: Int32 in [0, 7] {
      past.findings["a"] = .ended(status: status)
      let next = try past.resumed()
      #expect(next["a"] == "take 1 with \(status)" && next.lastAttempt("a") == 1)
    }
  }

  @Test("RD-4: A job that must not run twice and has not started runs after an interruption")
  func interruptedBeforeStart() throws {
    var past = try PastRun("  a: {run: 'true', once: true}")
    past.end("a", .cancelled, byRun: true)
    #expect(try past.resumed()["a"] == "run 1")
  }

  @Test("RD-4: A job that must not run twice and was ended with the run waits")
  func interruptedAfterStart() throws {
    var past = try PastRun("  a: {run: 'true', once: true}")
    past.start("a")
    past.end("a", .cancelled, attempts: 1, byRun: true)
    let next = try past.resumed()
    #expect(next["a"] == "wait" && next.reopened.isEmpty)
  }

  @Test("RD-4: A job that must not run twice and has failed or was cancelled keeps its outcome")
  func outcomeIsKept() throws {
    var past = try PastRun("  a: {run: 'true', once: true}\n  b: {run: 'true', once: true}")
    past.run("a", state: .failed)
    past.start("b")
    past.end("b", .cancelled, attempts: 1)
    #expect(try past.resumed().words == ["a: keep failed", "b: keep cancelled"])
  }

  @Test("RD-7: A changed job that must not run twice waits, and the jobs behind it do not count")
  func changedJobWaits() throws {
    let past = try finishedRun()
    let next = try past.resumed(Self.jobs.replacing("'deploy'", with: "'deploy --new'"))
    #expect(
      next.words == [
        "merge: keep succeeded", "deploy: wait", "publish: run 2", "notify: run 2",
        "undo: keep skipped",
      ])
    #expect(next.reopened == ["publish", "notify"])
    #expect(
      next.resumption.sentences == [
        "notify runs, because a job before it runs again",
        "publish no longer counts as ended, and is skipped, because a need has not succeeded",
        "deploy must not run twice, and waits for \"opq-top retry\", because it has changed since it ran",
      ])
  }

  @Test("RD-7: A job that must not run twice waits if a job before it runs again")
  func jobBehindChangeWaits() throws {
    let past = try finishedRun()
    let next = try past.resumed(Self.jobs.replacing("'merge'", with: "'merge --new'"))
    #expect(
      next.words == [
        "merge: run 2", "deploy: wait", "publish: run 2", "notify: run 2", "undo: keep skipped",
      ])
  }

  @Test("RD-7: A changed job that must not run twice and has failed waits, without effects")
  func changedFailureWaits() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.run("deploy", state: .failed)
    past.skip("publish", because: "deploy")
    past.run("notify", "undo")
    let next = try past.resumed(Self.jobs.replacing("'deploy'", with: "'deploy --new'"))
    #expect(
      next.words == [
        "merge: keep succeeded", "deploy: wait", "publish: keep skipped",
        "notify: keep succeeded", "undo: keep succeeded",
      ])
  }

  @Test("RD-7: A changed job that must not run twice and has never started runs")
  func changedBeforeStart() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge", state: .failed)
    past.skip("deploy", "publish", because: "merge")
    let next = try past.resumed(
      Self.jobs.replacing("'deploy'", with: "'deploy --new'").replacing("'merge'", with: "'m'"))
    #expect(next.words.prefix(3) == ["merge: run 2", "deploy: run 1", "publish: run 1"])
  }

  @Test("RD-7: A changed job that must not run twice and has ended without a runner waits")
  func changedAfterEnd() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.start("deploy", .ended(status: 0))
    let next = try past.resumed(Self.jobs.replacing("'deploy'", with: "'deploy --new'"))
    #expect(next["deploy"] == "wait")
  }

  @Test("RD-5: A retry lets a job that waits run, with what was skipped because of it")
  func requestEndsWaiting() throws {
    var past = try finishedRun()
    let changed = Self.jobs.replacing("'deploy'", with: "'deploy --new'")
    try past.resume(changed)
    past.skip("publish", because: "deploy")
    past.run("notify")
    let next = try past.resumed(retrying: ["deploy"])
    #expect(
      next.words == [
        "merge: keep succeeded", "deploy: run 2", "publish: run 2", "notify: run 2",
        "undo: run 1",
      ])
    // The same without a resume before the retry.
    #expect(try finishedRun().resumed(changed, retrying: ["deploy"])["deploy"] == "run 2")
  }

  @Test(
    "RD-7: A changed job that must not run twice and still runs is awaited, and waits at the next resume"
  )
  func changedWhileRunning() throws {
    let changed = Self.jobs.replacing("'deploy'", with: "'deploy --new'")
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.start("deploy", .alive(PastRun.shim))
    let next = try past.resumed(changed)
    #expect(next["deploy"] == "adopt 1")
    #expect(
      next.resumption.sentences == [
        "deploy still runs as it was started before a change; at the next resume, it waits for \"opq-top retry\""
      ])
    past.end("deploy", .succeeded, attempts: 1)
    #expect(try past.resumed(changed)["deploy"] == "wait")
  }

  @Test("RD-7: If a changed job that waits is retried, everything behind it runs again")
  func requestAfterChange() throws {
    var past = try PastRun(Self.jobs)
    past.run("merge")
    past.run("deploy", state: .failed)
    past.skip("publish", because: "deploy")
    past.run("notify", "undo")
    try past.resume(Self.jobs.replacing("'deploy'", with: "'deploy --new'"))
    #expect(
      try past.resumed(retrying: ["deploy"]).words == [
        "merge: keep succeeded", "deploy: run 2", "publish: run 1", "notify: run 2", "undo: run 2",
      ])
  }

  @Test(
    "RD-5: A retried job that must not run twice runs after a crash before its start, not after"
  )
  func requestedJobAfterCrash() throws {
    var past = try PastRun("  a: {run: 'true', once: true}")
    past.run("a", state: .failed)
    try past.resume(retrying: ["a"])
    #expect(try past.resumed()["a"] == "run 2")
    past.start("a", attempt: 2, .lost)
    #expect(try past.resumed()["a"] == "wait")
  }

  @Test("RD-4: The advice about a job names the run, and quotes the names for a shell")
  func quotedAdvice() throws {
    var past = try PastRun("  a: {run: 'true', once: true, each: {N: [\"it's\"]}}")
    past.directory = RunDirectory(path: "/my jobs/runs/20260131-235959-k3x9")
    past.start("a[it's]", .lost)
    guard case .wait(let outcome) = try past.resumed().resumption.decisions[0] else {
      Issue.record("the job does not wait")
      return
    }
    #expect(
      outcome.reason?.hasSuffix(
        #"opq-top retry 'a[it'\''s]' --run '/my jobs/runs/20260131-235959-k3x9'"#) == true)
  }
}

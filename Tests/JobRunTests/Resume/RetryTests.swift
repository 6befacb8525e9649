// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import Testing

@testable import JobRun

@Suite("Retries by a new runner")
struct RetryTests {
  private static let jobs = """
      bad: {run: 'bad'}
      next: {run: 'next', needs: [bad]}
      last: {run: 'last', needs: [next]}
      cleanup: {run: 'cleanup', needs: [bad], when: failure}
      report: {run: 'report', needs: [last], when: always}
      mail: {run: 'mail', needs: [report]}
      good: {run: 'good'}
      other: {run: 'other'}
      behind-other: {run: 'behind-other', needs: [other, good]}
    """

  /// A run in which two jobs have failed.
  private func failedRun() throws -> PastRun {
    var past = try PastRun(Self.jobs)
    past.run("bad", "other", state: .failed)
    past.skip("next", "last", because: "bad")
    past.skip("behind-other", because: "other")
    past.run("cleanup", "report", "mail", "good")
    return past
  }

  @Test(
    "RD-5: A retried job runs again, what was skipped because of it, and always jobs behind it")
  func repeatedJobs() throws {
    let next = try failedRun().resumed(retrying: ["bad"])
    #expect(
      next.words == [
        "bad: run 2", "next: run 1", "last: run 1", "cleanup: keep succeeded", "report: run 2",
        "mail: keep succeeded", "good: keep succeeded", "other: keep failed",
        "behind-other: keep skipped",
      ])
    #expect(next.reopened == ["bad", "next", "last", "report"])
    #expect(
      next.resumption.sentences == [
        "bad runs again as requested", "next, last and report run because of this retry",
      ])
  }

  @Test("RD-5: If the runner is killed after a retry, the next one has the same decisions")
  func crashAfterRequest() throws {
    var past = try failedRun()
    let words = try past.resumed(retrying: ["bad"]).words
    try past.resume(retrying: ["bad"])
    #expect(try past.resumed().words == words)
  }

  @Test("RD-5: Jobs that must not run again are refused, each with a sentence")
  func refusals() throws {
    let past = try failedRun()
    let choice = RetryChoice(
      past.plan, states: [.running, .waiting] + Array(repeating: .waiting, count: 7))
    #expect(
      choice.choice(for: ["bad", "next"]).refusals == [
        "bad": "bad is running",
        "next": "next has not ended; it runs without a retry if its needs permit it",
      ])
    for (id, sentence) in [
      ("good", "good has succeeded; only jobs that have failed or were cancelled run again"),
      ("last", "last was skipped, because bad failed; retry bad instead"),
      ("bat", "there is no job bat; did you mean bad?"),
    ] {
      #expect(throws: RunFailure(refusals: [sentence])) { try past.resumed(retrying: [id]) }
    }
  }

  @Test("RD-5: A refusal escapes characters that control a terminal, once")
  func escapedRefusal() throws {
    let past = try failedRun()
    let error = #expect(throws: RunFailure.self) {
      try past.resumed(retrying: ["x\u{1B}[2J"])
    }
    #expect(error?.description == #"there is no job x\x1b[2J"#)
  }

  @Test("RD-5: The name of a group is refused with the name of a job")
  func groupIsRefused() throws {
    var past = try PastRun("  part: {run: 'part', each: {N: [1, 2]}}")
    past.run("part[1]", "part[2]", state: .failed)
    #expect(throws: RunFailure(refusals: ["part is the name of several jobs, such as part[1]"])) {
      try past.resumed(retrying: ["part"])
    }
  }

  @Test("RD-5: One refused job refuses the whole retry of a new runner")
  func oneRefusal() throws {
    let past = try failedRun()
    #expect(throws: RunFailure.self) { try past.resumed(retrying: ["bad", "good"]) }
  }

  @Test("RD-5: A new runner refuses each job once, in the order of the names")
  func allRefusals() throws {
    let past = try failedRun()
    let error = #expect(throws: RunFailure.self) {
      try past.resumed(retrying: ["good", "x\u{1B}[2J", "last", "good"])
    }
    #expect(
      error?.refusals == [
        "good has succeeded; only jobs that have failed or were cancelled run again",
        #"there is no job x\x1b[2J"#, "last was skipped, because bad failed; retry bad instead",
      ])
  }

  @Test("RD-5: A skipped job is accepted together with the job because of which it was skipped")
  func skippedJobWithOrigin() throws {
    let next = try failedRun().resumed(retrying: ["last", "bad"])
    #expect(next["bad"] == "run 2" && next["last"] == "run 1" && next["other"] == "keep failed")
  }

  @Test("RD-5: A job that was skipped, and whose needs have succeeded since then, is accepted")
  func skippedJobWithoutObstacle() throws {
    let plan = try PastRun.plan(
      "  a: {run: 'a'}\n  b: {run: 'b', needs: [a]}\n  c: {run: 'c', needs: [b]}")
    let states =
      [PastRun.outcome(.succeeded, attempts: 2)]
      + Array(repeating: PastRun.outcome(.skipped, origin: "a"), count: 2)
    let choice = RetryChoice(plan, states: states.map { .ended($0) })
    #expect(choice.choice(for: ["b"]) == RetryChoice.Choice(indices: [1, 2], requested: [1]))
    #expect(
      choice.choice(for: ["c"]).refusals["c"] == "c was skipped, because a failed; retry a instead")
  }

  @Test("RD-5: The jobs that a failure has cancelled run again with the retried job")
  func cancelledByFailure() throws {
    var past = try PastRun(
      """
        before: {run: 'before'}
        behind: {run: 'behind', needs: [before]}
        bad: {run: 'bad'}
        stopped: {run: 'stopped'}
        once: {run: 'once', once: true}
      """)
    past.start("before")
    past.start("once")
    past.run("bad", state: .failed)
    past.end("before", .cancelled, attempts: 1, origin: "bad")
    past.end("behind", .cancelled, origin: "bad")
    past.end("stopped", .cancelled)
    past.end("once", .cancelled, attempts: 1, origin: "bad")
    #expect(
      try past.resumed(retrying: ["bad"]).words == [
        "before: run 2", "behind: run 1", "bad: run 2", "stopped: keep cancelled",
        "once: keep cancelled",
      ])
  }

  @Test("RD-5: Two jobs of which one is behind the other can be retried together")
  func requestedJobBehindAnother() throws {
    var past = try PastRun(
      """
        a: {run: 'a'}
        b: {run: 'b', needs: [a], when: always}
        c: {run: 'c', needs: [b]}
      """)
    past.run("a", "b", state: .failed)
    past.skip("c", because: "b")
    #expect(
      try past.resumed(retrying: ["b", "a"]).words == ["a: run 2", "b: run 2", "c: run 1"])
    #expect(
      try past.resumed(retrying: ["b"]).words == ["a: keep failed", "b: run 2", "c: run 1"])
  }

  @Test("RD-5: A job that must not run twice runs again only if this job is retried")
  func onceIsRepeatedByItsRequest() throws {
    var past = try PastRun(
      """
        a: {run: 'a'}
        started: {run: 'started', needs: [a], when: always, once: true}
        new: {run: 'new', needs: [a], once: true}
      """)
    past.run("a", "started", state: .failed)
    past.skip("new", because: "a")
    #expect(
      try past.resumed(retrying: ["a"]).words == ["a: run 2", "started: keep failed", "new: run 1"])
    #expect(
      try past.resumed(retrying: ["started"]).words == [
        "a: keep failed", "started: run 2", "new: keep skipped",
      ])
  }

  @Test("RD-5: A retry of a job whose command still runs is refused")
  func runningCommand() throws {
    var past = try PastRun("  a: {run: 'a'}\n  b: {run: 'b', retries: 1}")
    past.start("a", .alive(PastRun.shim))
    past.start("b", .ended(status: 7))
    #expect(throws: RunFailure(refusals: ["a is running"])) { try past.resumed(retrying: ["a"]) }
    // Another attempt follows.
    #expect(throws: RunFailure(refusals: ["b is running"])) { try past.resumed(retrying: ["b"]) }
    past.findings["a"] = .unknown("the shim has no identity")
    #expect(throws: RunFailure(refusals: ["a: the shim has no identity"])) {
      try past.resumed(retrying: ["a"])
    }
  }

  @Test("RD-5: A job that has failed or was lost without a runner can be retried")
  func endWithoutRunner() throws {
    var past = try PastRun("  a: {run: 'a'}\n  b: {run: 'b', once: true}")
    past.start("a", .ended(status: 7))
    past.start("b", .lost)
    #expect(try past.resumed(retrying: ["a"]).words == ["a: run 2", "b: wait"])
    #expect(try past.resumed(retrying: ["b"]).words == ["a: take 1 with 7", "b: run 2"])
  }

  @Test(
    "RD-5: A retry in a run that was interrupted is accepted, and the rest of the run follows")
  func interruptedRun() throws {
    var past = try PastRun("  a: {run: 'a', retries: 1}\n  b: {run: 'b'}\n  c: {run: 'c'}")
    past.run("a", state: .failed)
    past.start("b")
    past.end("b", .cancelled, attempts: 1, byRun: true)
    let next = try past.resumed(retrying: ["a"])
    #expect(next.words == ["a: run 2", "b: run 2", "c: run 1"] && next.lastAttempt("a") == 3)
  }

  @Test("RD-5: A retried job that is skipped again can run after its need")
  func requestedJobIsSkippedAgain() throws {
    var past = try PastRun("  a: {run: 'a'}\n  b: {run: 'b', needs: [a]}")
    past.end("b", .cancelled)
    past.run("a", state: .failed)
    try past.resume(retrying: ["b"])
    past.skip("b", because: "a")
    #expect(try past.resumed(retrying: ["a"]).words == ["a: run 2", "b: run 1"])
  }
}

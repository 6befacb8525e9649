// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import Testing

@testable import JobRun

@Suite("Changed jobs at a resume")
struct ChangedJobTests {
  @Test("RD-7: A changed job runs again with everything behind it, and with nothing else")
  func changedJob() throws {
    let jobs = """
        first: {run: 'first'}
        second: {run: 'second', needs: [first]}
        third: {run: 'third', needs: [second]}
        beside: {run: 'beside', needs: [first]}
        before: {run: 'before'}
      """
    var past = try PastRun(jobs)
    past.run("first", "second", "third", "beside", "before")
    let next = try past.resumed(jobs.replacing("'second'", with: "'other'"))
    #expect(
      next.words == [
        "first: keep succeeded", "second: run 2", "third: run 2", "beside: keep succeeded",
        "before: keep succeeded",
      ])
    #expect(next.reopened == ["second", "third"])
    #expect(
      next.resumption.sentences == [
        "second has changed, and runs again",
        "third runs, because a job before it runs again",
      ])
  }

  @Test("RD-7: If a job has changed in other keys than its definition, nothing runs again")
  func otherKeys() throws {
    var past = try PastRun("  a: {run: 'true'}\n  b: {run: 'true', needs: [a]}")
    past.run("a", "b")
    let next = try past.resumed(
      "  b: {run: 'true', needs: [a], grace: 1s}\n  a: {run: 'true', retries: 3, timeout: 1s}")
    #expect(next.words == ["b: keep succeeded", "a: keep succeeded"])
  }

  @Test("RD-7: A failed job behind a changed job runs again")
  func failedJobBehindChange() throws {
    let jobs = "  a: {run: 'a'}\n  b: {run: 'b', needs: [a]}\n  c: {run: 'c', needs: [b]}"
    var past = try PastRun(jobs)
    past.run("a")
    past.run("b", state: .failed)
    past.skip("c", because: "b")
    let next = try past.resumed(jobs.replacing("'a'", with: "'x'"))
    #expect(next.words == ["a: run 2", "b: run 2", "c: run 1"])
  }

  @Test(
    "RD-7: A changed job that has failed runs again with the jobs that were skipped because of it")
  func changedFailure() throws {
    let jobs = """
        a: {run: 'a'}
        b: {run: 'b', needs: [a]}
        always: {run: 'always', needs: [b], when: always}
        failure: {run: 'failure', needs: [a], when: failure}
      """
    var past = try PastRun(jobs)
    past.run("a", state: .failed)
    past.skip("b", because: "a")
    past.run("always", "failure")
    let next = try past.resumed(jobs.replacing("'a'", with: "'x'"))
    #expect(next.words == ["a: run 2", "b: run 1", "always: run 2", "failure: run 2"])
  }

  @Test("RD-7: Jobs that the failure of a changed job has cancelled run")
  func cancelledByChangedFailure() throws {
    let jobs = """
        other: {run: 'other'}
        behind: {run: 'behind', needs: [other]}
        once: {run: 'once', once: true}
        bad: {run: 'bad'}
      """
    var past = try PastRun(jobs)
    past.start("other")
    past.start("once")
    past.run("bad", state: .failed)
    past.end("other", .cancelled, attempts: 1, origin: "bad")
    past.end("behind", .cancelled, origin: "bad")
    past.end("once", .cancelled, attempts: 1, origin: "bad")
    #expect(try !past.resumed().resumption.hasWork)
    let next = try past.resumed(jobs.replacing("'bad'", with: "'good'"))
    #expect(
      next.words == ["other: run 2", "behind: run 1", "once: keep cancelled", "bad: run 2"])
  }

  @Test("RD-7: A job that waits for a failure, and that no failure has started, is decided again")
  func unneededJobBehindChange() throws {
    let jobs = "  a: {run: 'a'}\n  alarm: {run: 'alarm', needs: [a], when: failure}"
    var past = try PastRun(jobs)
    past.run("a")
    past.end("alarm", .skipped, unneeded: true)
    let next = try past.resumed(jobs.replacing("'a'", with: "'x'"))
    #expect(next.words == ["a: run 2", "alarm: run 1"])
  }

  @Test("RD-7: A changed job behind a failed job stays skipped")
  func changedSkippedJob() throws {
    let jobs = "  a: {run: 'a'}\n  b: {run: 'b', needs: [a]}"
    var past = try PastRun(jobs)
    past.run("a", state: .failed)
    past.skip("b", because: "a")
    let next = try past.resumed(jobs.replacing("'b'", with: "'x'"))
    #expect(next.words == ["a: keep failed", "b: keep skipped"] && !next.resumption.hasWork)
  }

  @Test("RD-7: A job that has succeeded and now needs a failed job no longer counts")
  func newFailedNeed() throws {
    var past = try PastRun("  a: {run: 'a'}\n  b: {run: 'b'}\n  c: {run: 'c', needs: [b]}")
    past.run("a", state: .failed)
    past.run("b", "c")
    let next = try past.resumed(
      "  a: {run: 'a'}\n  b: {run: 'b', needs: [a]}\n  c: {run: 'c', needs: [b]}")
    // The runner skips both jobs.
    #expect(next.words == ["a: keep failed", "b: run 2", "c: run 2"])
    #expect(
      next.resumption.sentences == [
        "b and c no longer count as ended, and are skipped, because needs have not succeeded"
      ])
  }

  @Test("RD-7: A job that stays skipped because of another need gets a new reason")
  func newReasonOfSkippedJob() throws {
    let jobs = "  a: {run: 'a'}\n  b: {run: 'b'}\n  c: {run: 'c', needs: [a, b]}"
    var past = try PastRun(jobs)
    past.run("a", "b", state: .failed)
    past.skip("c", because: "a")
    let next = try past.resumed(jobs.replacing("'a'", with: "'x'"))
    #expect(
      next.words == ["a: run 2", "b: keep failed", "c: run 1"] && next.reopened.contains("c"))
  }

  @Test("RD-7: A new job of a group lets the jobs that need the group run again")
  func newJobOfGroup() throws {
    let jobs = """
        part: {run: 'part', each: {N: [1, 2]}}
        whole: {run: 'whole', needs: [part]}
        last: {run: 'last', needs: [whole]}
        stopped: {run: 'stopped', needs: [part]}
      """
    var past = try PastRun(jobs)
    past.run("part[1]", "part[2]", "whole", "last")
    past.end("stopped", .cancelled)
    let next = try past.resumed(jobs.replacing("[1, 2]", with: "[1, 2, 3]"))
    #expect(
      next.words == [
        "part[1]: keep succeeded", "part[2]: keep succeeded", "part[3]: run 1", "whole: run 2",
        "last: run 2", "stopped: keep cancelled",
      ])
  }

  @Test("RD-7: Jobs that the file no longer has are named in one sentence, and ignored")
  func removedJobs() throws {
    var past = try PastRun("  a: {run: 'a', each: {N: [1, 2, 3, 4, 5, 6, 7]}}\n  b: {run: 'b'}")
    for index in 1...7 { past.run("a[\(index)]") }
    past.start("b", .lost)
    let next = try past.resumed("  c: {run: 'c'}")
    #expect(next.words == ["c: run 1"] && next.resumption.removedJobs.isEmpty)
    #expect(
      next.resumption.sentences == [
        "a[1], a[2], a[3], a[4], a[5] and 3 more are no longer in the job file, and are ignored"
      ])
  }

  @Test("RD-7: A command of a job that the file no longer has is awaited")
  func removedJobThatRuns() throws {
    var past = try PastRun("  a: {run: 'a'}\n  b: {run: 'b'}")
    past.start("a", .alive(PastRun.shim))
    let next = try past.resumed("  b: {run: 'b'}")
    #expect(
      next.resumption.removedJobs == [
        Resumption.RemovedJob(
          id: "a", attempt: 1, files: past.directory.files(named: "a.1"), shim: PastRun.shim)
      ])
    #expect(next.resumption.hasWork)
    #expect(
      next.resumption.sentences == [
        "a is no longer in the job file, but its command still runs, and its end is awaited"
      ])
  }

  @Test(
    "RD-7: A changed job whose command still runs has no further attempt, and runs at the next resume"
  )
  func changedJobThatRuns() throws {
    let jobs = "  a: {run: 'a', retries: 3}\n  b: {run: 'b', needs: [a]}"
    let changed = jobs.replacing("'a'", with: "'x'")
    var past = try PastRun(jobs)
    past.start("a", .alive(PastRun.shim))
    let next = try past.resumed(changed)
    #expect(next.words == ["a: adopt 1", "b: run 1"] && next.lastAttempt("a") == 1)
    #expect(
      next.resumption.sentences == [
        "a still runs as it was started before a change; it runs again at the next resume"
      ])
    try past.resume(changed)
    past.append([
      .end(
        "a", PastRun.outcome(.succeeded, attempts: 1), definition: next.resumption.definitions[0])
    ])
    past.run("b")
    #expect(try past.resumed().words == ["a: run 2", "b: run 2"])
  }

  @Test("RD-7: A job that still runs behind a changed job runs again at the next resume")
  func runningJobBehindChange() throws {
    let jobs = "  a: {run: 'a'}\n  b: {run: 'b', needs: [a], retries: 3}"
    var past = try PastRun(jobs)
    past.run("a")
    past.start("b", .alive(PastRun.shim))
    let next = try past.resumed(jobs.replacing("'a'", with: "'x'"))
    #expect(next.words == ["a: run 2", "b: adopt 1"] && next.lastAttempt("b") == 1)
    try past.resume(jobs.replacing("'a'", with: "'x'"))
    past.start("a", attempt: 2)
    past.end("a", .succeeded, attempts: 2)
    // The next runner has the same finding.
    let second = try past.resumed()
    #expect(second.words == ["a: keep succeeded", "b: adopt 1"])
    #expect(second.resumption.definitions == next.resumption.definitions)
    past.append([
      .end(
        "b", PastRun.outcome(.succeeded, attempts: 1), definition: next.resumption.definitions[1])
    ])
    #expect(try past.resumed().words == ["a: keep succeeded", "b: run 2"])
  }

  @Test("RD-7: A changed job that has ended without a runner runs again with the next number")
  func changedJobThatHasEnded() throws {
    let jobs = "  a: {run: 'a'}\n  b: {run: 'b', needs: [a]}"
    var past = try PastRun(jobs)
    past.run("a")
    past.start("b", .ended(status: 0))
    #expect(try past.resumed(jobs.replacing("'b'", with: "'x'"))["b"] == "run 2")
    #expect(try past.resumed(jobs.replacing("'a'", with: "'x'"))["b"] == "run 2")
  }

  @Test("RD-7: If the runner is killed after a change, the next one still runs what is behind it")
  func crashAfterChange() throws {
    let jobs = "  a: {run: 'a'}\n  b: {run: 'b', needs: [a]}\n  c: {run: 'c', needs: [b]}"
    var past = try PastRun(jobs)
    past.run("a", "b")
    past.start("c", .ended(status: 0))
    try past.resume(jobs.replacing("'a'", with: "'x'"))
    past.start("a", attempt: 2, .ended(status: 0))
    #expect(try past.resumed().words == ["a: take 2 with 0", "b: run 2", "c: run 2"])
  }

  @Test(
    "RD-7: A job that has changed since it failed, and is requested, also repeats what succeeded")
  func changedRequestedJob() throws {
    let jobs = "  a: {run: 'a'}\n  cleanup: {run: 'cleanup', needs: [a], when: failure}"
    let changed = jobs.replacing("'a'", with: "'x'")
    var past = try PastRun(jobs)
    past.run("a", state: .failed)
    past.run("cleanup")
    #expect(try past.resumed(retrying: ["a"]).words == ["a: run 2", "cleanup: keep succeeded"])
    #expect(try past.resumed(changed, retrying: ["a"]).words == ["a: run 2", "cleanup: run 2"])
    // The same if the job changes after the retry.
    try past.resume(retrying: ["a"])
    #expect(try past.resumed(changed).words == ["a: run 2", "cleanup: run 2"])
  }

  @Test(
    "RD-7: A job that comes back into the file, and has never ended, lets jobs behind it run again")
  func jobThatComesBack() throws {
    let group =
      "  part: {run: 'part', each: {N: [1, 2, 3]}}\n  whole: {run: 'whole', needs: [part]}"
    var past = try PastRun(group)
    past.run("part[1]", "part[2]")
    past.start("part[3]")
    past.end("part[3]", .cancelled, attempts: 1, byRun: true)
    try past.resume(group.replacing("[1, 2, 3]", with: "[1, 2]"))
    past.run("whole")
    #expect(
      try past.resumed(group).words == [
        "part[1]: keep succeeded", "part[2]: keep succeeded", "part[3]: run 2", "whole: run 2",
      ])
  }
}

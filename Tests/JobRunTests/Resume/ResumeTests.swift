// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import TestSupport
import Testing

@testable import JobRun

@Suite("Decisions of a resume")
struct ResumeTests {
  @Test("RD-4: In a new run, all jobs run, and their first attempts have the number 1")
  func newRun() throws {
    let plan = try PastRun.plan("  a: {run: 'true', retries: 2}\n  b: {run: 'true', needs: [a]}")
    let resumption = Resumption.fresh(plan)
    #expect(resumption.decisions == [.run(firstAttempt: 1), .run(firstAttempt: 1)])
    #expect(resumption.lastAttempts == [3, 1])
    #expect(resumption.records.isEmpty && resumption.sentences.isEmpty && resumption.hasWork)
  }

  @Test("RD-4: A journal without jobs gives the decisions of a new run")
  func emptyJournal() throws {
    let past = try PastRun("  a: {run: 'true', retries: 2}\n  b: {run: 'true', needs: [a]}")
    let resumption = try past.resumed().resumption
    let fresh = Resumption.fresh(past.plan)
    #expect(resumption.decisions == fresh.decisions)
    #expect(resumption.lastAttempts == fresh.lastAttempts)
    #expect(resumption.definitions == fresh.definitions && resumption.records.isEmpty)
  }

  @Test("RD-4: A job that has ended stays ended, and a job that has not ended runs")
  func endedStaysEnded() throws {
    var past = try PastRun(
      """
        good: {run: 'true'}
        bad: {run: 'false'}
        behind-bad: {run: 'true', needs: [bad]}
        stopped: {run: 'true'}
        open: {run: 'true', needs: [good]}
      """)
    past.run("good")
    past.run("bad", state: .failed)
    past.skip("behind-bad", because: "bad")
    past.end("stopped", .cancelled)
    let next = try past.resumed()
    #expect(
      next.words == [
        "good: keep succeeded", "bad: keep failed", "behind-bad: keep skipped",
        "stopped: keep cancelled", "open: run 1",
      ])
    #expect(next.resumption.sentences.isEmpty && next.resumption.records.isEmpty)
  }

  @Test("RD-4: If all jobs have ended, nothing is left to do")
  func nothingIsLeft() throws {
    var past = try PastRun("  a: {run: 'true'}\n  b: {run: 'true', needs: [a], when: failure}")
    past.run("a")
    past.end("b", .skipped, unneeded: true)
    let next = try past.resumed()
    #expect(next.words == ["a: keep succeeded", "b: keep skipped"])
    #expect(!next.resumption.hasWork)
  }

  @Test("RD-4: A command that still runs is adopted with its attempt and its files")
  func adoption() throws {
    var past = try PastRun("  a: {run: 'true', retries: 3}")
    past.start("a")
    past.retry("a", attempt: 1)
    past.start("a", attempt: 2, .alive(PastRun.shim))
    let next = try past.resumed()
    let files = past.directory.files(named: "a.2")
    #expect(next.resumption.decisions == [.adopt(attempt: 2, files: files, shim: PastRun.shim)])
    #expect(next.lastAttempt("a") == 4)
    #expect(next.resumption.sentences == ["a still runs, and its end is awaited"])
  }

  @Test("RD-4: The exit status of a command that has ended without a runner is taken")
  func takenStatus() throws {
    var past = try PastRun("  a: {run: 'true'}\n  b: {run: 'true'}")
    past.start("a", .ended(status: 0))
    past.start("b", .ended(status: 7))
    let next = try past.resumed()
    #expect(next.words == ["a: take 1 with 0", "b: take 1 with 7"])
    #expect([next.lastAttempt("a"), next.lastAttempt("b")] == [1, 1])
    #expect(
      next.resumption.sentences == [
        "a and b have ended without a runner, and their exit statuses are taken"
      ])
  }

  @Test("RD-4: A failed attempt that is taken counts, and the attempts that are left follow")
  func takenFailureCounts() throws {
    var past = try PastRun("  a: {run: 'true', retries: 2}")
    past.start("a")
    past.retry("a", attempt: 1)
    past.start("a", attempt: 2, .ended(status: 7))
    let next = try past.resumed()
    #expect(next.words == ["a: take 2 with 7"] && next.lastAttempt("a") == 3)
  }

  @Test("RD-4: If the runner was killed between two attempts, the attempts that are left follow")
  func pauseBetweenAttempts() throws {
    var past = try PastRun("  a: {run: 'true', retries: 2}")
    past.start("a")
    past.retry("a", attempt: 1)
    let next = try past.resumed()
    #expect(next.words == ["a: run 2"] && next.lastAttempt("a") == 3)
  }

  @Test("RD-4: A job without a process and without an exit status is lost, and runs again")
  func lostRunsAgain() throws {
    var past = try PastRun("  a: {run: 'true', retries: 2}")
    past.start("a")
    past.retry("a", attempt: 1)
    past.start("a", attempt: 2, .lost)
    let next = try past.resumed()
    // A lost attempt is not a failed one, so all attempts are left.
    #expect(next.words == ["a: run 3"] && next.lastAttempt("a") == 5)
    #expect(
      next.resumption.sentences == [
        "a was lost: no process and no exit status was found; it runs again"
      ])
  }

  @Test(
    "RD-4: If it is not known whether a command runs, the job has failed, and nothing is recorded")
  func unknownState() throws {
    var past = try PastRun(
      """
        a: {run: 'true'}
        undo: {run: 'true', needs: [a], when: failure}
        next: {run: 'true', needs: [a]}
      """)
    past.start("a", .unknown("the shim has no identity"))
    let next = try past.resumed()
    guard case .keep(let outcome) = next.resumption.decisions[0] else {
      Issue.record("\(next.words)")
      return
    }
    #expect(outcome.state == .failed && outcome.reason == "the shim has no identity")
    #expect(!next.resumption.records.contains { $0.job == "a" } && next.reopened.isEmpty)
    // The command may still succeed.
    #expect(next["undo"] == "keep skipped")
    #expect(next.resumption.sentences == ["a: the shim has no identity"])
  }

  @Test("RD-4: No job starts behind a job whose command may still run, until its end is known")
  func behindUnknownState() throws {
    var past = try PastRun(
      """
        a: {run: 'true'}
        b: {run: 'true'}
        notify: {run: 'true', needs: [a, b], when: always}
        undo: {run: 'true', needs: [a, b], when: failure}
        part: {run: 'true', each: {N: [1, 2]}}
        sum: {run: 'true', needs: [part, b], when: always}
      """)
    past.start("a", .unknown("the shim has no identity"))
    past.run("b", state: .failed)
    past.run("part[1]")
    past.start("part[2]", .unknown("the shim has no identity"))
    let next = try past.resumed()
    for id in ["notify", "undo", "sum"] {
      guard case .keep(let outcome) = next.decision(id) else {
        Issue.record("\(next.words)")
        continue
      }
      #expect(
        outcome.sentence(for: id)
          == "\(id) was skipped: it is not known if a job that it needs still runs")
      #expect(!outcome.isHarmless)
      #expect(next.resumption.records.contains { $0.job == id && $0.state == .skipped })
    }
    // They stay skipped as long as the state is unknown.
    try past.resume()
    #expect(try past.resumed().words == next.words)
    #expect(try past.resumed().resumption.records.isEmpty)
    #expect(throws: RunFailure.self) { try past.resumed(retrying: ["notify"]) }
    past.findings = ["a": .ended(status: 0), "part[2]": .lost]
    let last = try past.resumed()
    #expect(last["a"] == "take 1 with 0" && last["part[2]"] == "run 2")
    for id in ["notify", "undo", "sum"] { #expect(last[id] == "run 1", "\(id)") }
  }

  @Test("RD-4: A job whose command still runs without a shim runs again, and the command is ended")
  func orphanedRunsAgain() throws {
    var past = try PastRun(
      "  a: {run: 'true', retries: 2}\n  b: {run: 'true'}\n  c: {run: 'true', needs: [a]}")
    past.start("a")
    past.retry("a", attempt: 1)
    past.start("a", attempt: 2, .orphaned(PastRun.process))
    let next = try past.resumed()
    #expect(next.words == ["a: run 3", "b: run 1", "c: run 1"] && next.lastAttempt("a") == 5)
    #expect(next.resumption.orphans == [0: PastRun.process])
    #expect(
      next.resumption.sentences == [
        "a still runs, but its shim was killed; its command is ended, and it runs again"
      ])
    // A job that is skipped because of a need that is new in the file.
    past.run("b", state: .failed)
    let skipped = try past.resumed(
      "  a: {run: 'true', retries: 2, needs: [b]}\n  b: {run: 'true'}\n  c: {run: 'true', needs: [a]}"
    )
    #expect(skipped.resumption.orphans == [0: PastRun.process])
    #expect(
      skipped.resumption.sentences.first
        == "a still runs, but its shim was killed; its command is ended, and it is skipped")
  }

  @Test("RD-4: The command without a shim of a job that the file no longer has is named")
  func removedOrphan() throws {
    var past = try PastRun("  a: {run: 'true'}\n  b: {run: 'true'}")
    past.start("a", .orphaned(PastRun.process))
    let next = try past.resumed("  b: {run: 'true'}")
    #expect(next.resumption.orphans.isEmpty && next.words == ["b: run 1"])
    #expect(
      next.resumption.sentences == [
        "a is no longer in the job file, and its shim was killed, but its command still runs as process 4712"
      ])
  }

  @Test("RD-4: An attempt that was not examined does not run a second time")
  func notExamined() throws {
    var past = try PastRun("  a: {run: 'true'}")
    past.start("a")
    #expect(try past.resumed()["a"] == "keep failed")
  }

  @Test("RD-4: Jobs that were ended with the run, or skipped because of this, run")
  func interruptedRun() throws {
    var past = try PastRun(
      """
        a: {run: 'true'}
        b: {run: 'true', needs: [a]}
        c: {run: 'true', needs: [b], when: always}
        d: {run: 'true'}
      """)
    past.start("a")
    past.end("a", .cancelled, attempts: 1, byRun: true)
    past.end("b", .skipped, origin: "a", byRun: true)
    past.end("c", .cancelled, byRun: true)
    past.end("d", .cancelled)
    let next = try past.resumed()
    #expect(next.words == ["a: run 2", "b: run 1", "c: run 1", "d: keep cancelled"])
    #expect(next.resumption.sentences == ["a, b and c were cancelled with the run, and run"])
  }

  @Test("RD-4: A job that waits for a failure is skipped again only if no need can fail")
  func failureCondition() throws {
    var past = try PastRun(
      """
        a: {run: 'true', each: {N: [1, 2]}}
        alarm: {run: 'true', needs: [a], when: failure}
      """)
    past.run("a[1]")
    past.start("a[2]", .ended(status: 0))
    #expect(try past.resumed()["alarm"] == "run 1")
    past.end("alarm", .skipped, unneeded: true)
    #expect(try past.resumed()["alarm"] == "keep skipped")
    past.findings["a[2]"] = .ended(status: 1)
    #expect(try past.resumed()["alarm"] == "run 1")
  }

  @Test("RD-4: A job that was skipped because of a need that runs again is not kept")
  func skippedBehindInterruptedNeed() throws {
    var past = try PastRun("  a: {run: 'true'}\n  b: {run: 'true', needs: [a]}")
    past.start("a")
    past.end("a", .cancelled, attempts: 1, byRun: true)
    // The record does not say that the run was ended.
    past.skip("b", because: "a")
    #expect(try past.resumed().words == ["a: run 2", "b: run 1"])
  }

  @Test("RD-4: The findings of a run name what has become of each attempt without an end")
  func loading() async throws {
    let directory = try TemporaryDirectory()
    let run = RunDirectory(path: directory.path)
    let plan = try PastRun.plan("  job: {run: 'true', each: {N: [1, 2, 3]}}")
    #expect(RunDisk.system.createDirectory(run.jobs) == 0)
    var records: [JournalRecord] = [.runner()]
    for (index, job) in plan.jobs.enumerated() {
      let (name, files) = run.files(ofJob: index + 1, id: job.id, attempt: 1)
      let definition = JobDefinition.text(of: job, in: plan)
      records.append(.start(job.id, attempt: 1, files: name, definition: definition))
      try RunDisk.system.create(files.shim, [])
      guard index < 2 else { continue }
      try RunDisk.system.create(files.status, Array("\(index * 7)\n".utf8))
    }
    let history = RunHistory(records)
    #expect(
      await history.findings(in: run) == [
        "job[1]": .ended(status: 0), "job[2]": .ended(status: 7), "job[3]": .lost,
      ])
    let resumption = try await Resumption.load(plan, directory: run, history: history)
    #expect(
      Resumed(plan: plan, resumption: resumption).words == [
        "job[1]: take 1 with 0", "job[2]: take 1 with 7", "job[3]: run 2",
      ])
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import TestSupport
import Testing

@testable import JobRun

@Suite("Runs that are continued", .timeLimit(.minutes(5)), .onOwnThread)
struct DecisionTests {
  /// Waits until the shim of an attempt has written an exit status.
  private func waitForStatus(_ run: FinishedRun, _ name: String) {
    let files = run.run.directory.files(named: name)
    #expect(poll(for: .seconds(60), pausing: true) { !RunScene.contents(files.status).isEmpty })
  }

  @Test(
    "RD-4: Jobs that have ended keep their outcomes, and jobs that were ended with the run run again"
  )
  func keptJobs() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        good: {run: 'echo x >> "$DIR/good"'}
        bad: {run: 'echo x >> "$DIR/bad"; exit 3'}
        behind: {run: 'echo x >> "$DIR/behind"', needs: [bad]}
        long: {run: 'echo x >> "$DIR/long"; test -e "$DIR/go" || exec sleep 600', needs: [good], grace: 1s}
        after: {run: 'echo "$OPQ_RESULT" >> "$DIR/after"', needs: [long, bad], when: always}
      """)
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(1, in: "long")
    #expect(poll(for: .seconds(60), pausing: true) { run.outcome("behind") != nil })
    run.run.cancel(RunWasCancelled("the test ends it"))
    run.waitForEnd()
    run.endRunner()
    scene.touch("go")
    let next = try scene.resumed(run.run.directory, plan)
    #expect(!next.run.isFinished)
    next.start()
    next.waitForEnd()
    #expect(
      next.states == [
        "good succeeded", "bad failed", "behind skipped", "long succeeded", "after succeeded",
      ])
    #expect(next.outcome("bad") == run.outcome("bad"))
    for name in ["good", "bad"] { #expect(scene.words(name).count == 1, "\(name)") }
    #expect(scene.words("long").count == 2 && next.outcome("long")?.attemptCount == 2)
    #expect(scene.words("behind").isEmpty && scene.words("after") == ["failure"])
    // Nothing is printed about the jobs that have ended before.
    let ended = next.events.compactMap { if case .ended(let index, _) = $0 { index } else { nil } }
    #expect(ended == [3, 4])
    next.endRunner()
    // A run in which nothing is left to do ends at once.
    let last = try scene.resumed(run.run.directory, plan)
    last.start()
    #expect(last.run.isFinished && last.run.counts == next.run.counts)
  }

  @Test("RD-4: A command that still runs is awaited, and runs once", arguments: [0, 7])
  func adoptedCommand(status: Int) throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        other: {run: 'echo x >> "$DIR/other"; until test -e "$DIR/go"; do sleep 0.01; done', queue: narrow}
        long:
          run: 'echo x >> "$DIR/long"; until test -e "$DIR/go"; do sleep 0.01; done; echo over; exit \(status)'
          queue: wide
        next: {run: 'echo x >> "$DIR/next"', needs: [long]}
        late: {run: 'echo x >> "$DIR/late"', queue: narrow}
      """, head: "queues: {narrow: {width: 1, rate: 1}, wide: {width: 4}, default: {width: 2}}")
    let run = try scene.run(plan)
    run.start()
    for name in ["long", "other"] { scene.waitForWords(1, in: name) }
    run.endRunner()
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    #expect(poll(for: .seconds(60), pausing: true) { next.run.runningCount == 2 })
    scene.touch("go")
    next.waitForEnd()
    #expect(scene.words("long").count == 1 && scene.words("other").count == 1)
    let outcome = try #require(next.outcome("long"))
    #expect(outcome.state == (status == 0 ? .succeeded : .failed))
    #expect(outcome.exitStatus == Int32(status) && outcome.attemptCount == 1)
    #expect(outcome.lastLine == "over" && outcome.duration.map { $0 > .zero } == true)
    #expect(scene.words("next").count == (status == 0 ? 1 : 0))
    #expect(next.outcome("late")?.state == .succeeded)
    #expect(next.events.contains(.adopted(1, attempt: 1)))
    #expect(!next.events.contains(.started(1, attempt: 1)))
    next.endRunner()
    let records = try next.records()
    #expect(records.count { $0.hasPrefix("start long") } == 1)
    #expect(records.count { $0.hasPrefix("end long") } == 1)
    run.waitForEnd()
  }

  @Test("RD-4: A command that fails after it was adopted has its further attempts")
  func adoptedCommandIsRetried() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        flaky:
          run: 'echo "$OPQ_ATTEMPT" >> "$DIR/flaky"; until test -e "$DIR/go"; do sleep 0.01; done; exit 1'
          retries: 2
          retry-pause: 1ms
      """)
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(1, in: "flaky")
    run.endRunner()
    // The operation of the first run would start its own second attempt.
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    #expect(poll(for: .seconds(60), pausing: true) { next.run.runningCount == 1 })
    scene.touch("go")
    next.waitForEnd()
    #expect(scene.words("flaky") == ["1", "2", "3"])
    #expect(next.outcome("flaky")?.state == .failed && next.outcome("flaky")?.attemptCount == 3)
    next.endRunner()
    #expect(
      try next.records() == [
        "start flaky 1", "attempt flaky 1", "start flaky 2", "attempt flaky 2", "start flaky 3",
        "end flaky failed", "finish",
      ])
    run.waitForEnd()
  }

  @Test("RD-4: A command that has ended without a runner does not run again", arguments: [0, 7])
  func takenStatus(status: Int) throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        job: {run: 'echo x >> "$DIR/job"; until test -e "$DIR/go"; do sleep 0.01; done; echo over; exit \(status)'}
        next: {run: 'echo x >> "$DIR/next"', needs: [job]}
      """)
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(1, in: "job")
    run.endRunner()
    scene.touch("go")
    waitForStatus(run, "1-job.1")
    run.waitForEnd()
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    next.waitForEnd()
    let outcome = try #require(next.outcome("job"))
    #expect(outcome.state == (status == 0 ? .succeeded : .failed))
    #expect(outcome.exitStatus == Int32(status) && outcome.lastLine == "over")
    #expect(outcome.reason == (status == 0 ? nil : "exit status 7: over"))
    #expect(scene.words("job").count == 1 && scene.words("next").count == (status == 0 ? 1 : 0))
    next.endRunner()
    #expect(
      try next.records().first { $0.hasPrefix("end job") } == "end job \(outcome.state.rawValue)")
  }

  @Test("RD-4: An attempt that has failed without a runner is followed by the next attempt")
  func takenStatusIsRetried() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        job:
          run: 'echo "$OPQ_ATTEMPT" >> "$DIR/job"; until test -e "$DIR/go"; do sleep 0.01; done; test "$OPQ_ATTEMPT" = 2'
          retries: 1
          retry-pause: 1ms
      """)
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(1, in: "job")
    run.endRunner()
    scene.touch("go")
    waitForStatus(run, "1-job.1")
    run.waitForEnd()
    #expect(scene.words("job") == ["1"])
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    next.waitForEnd()
    #expect(scene.words("job") == ["1", "2"] && next.outcome("job")?.state == .succeeded)
    next.endRunner()
    #expect(
      try next.records() == [
        "start job 1", "attempt job 1", "start job 2", "end job succeeded", "finish",
      ])
  }

  @Test("RD-4: A lost job runs again, and one that must not run twice waits for a retry")
  func lostJobs() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        job: {run: 'echo "$OPQ_ATTEMPT" >> "$DIR/job"'}
        deploy: {run: 'echo "$OPQ_ATTEMPT" >> "$DIR/deploy"', once: true}
        next: {run: 'echo x >> "$DIR/next"', needs: [deploy]}
      """)
    let directory = try scene.runDirectory(plan)
    let journal = try RunJournal(appendingTo: directory)
    journal.append(.runner())
    for (index, definition) in JobDefinition.texts(of: plan).enumerated().prefix(2) {
      let id = plan.jobs[index].id
      let name = directory.files(ofJob: index + 1, id: id, attempt: 1).name
      journal.append(.start(id, attempt: 1, files: name, definition: definition))
    }
    journal.close()
    let run = try scene.resumed(directory, plan)
    run.start()
    run.waitForEnd()
    #expect(run.states == ["job succeeded", "deploy failed", "next skipped"])
    #expect(scene.words("job") == ["2"] && scene.words("deploy").isEmpty)
    run.endRunner()
    let history = try RunHistory.read(directory)
    #expect(history.jobs["deploy"]?.waits == true)
    // The job still waits at the next resume.
    let next = try scene.resumed(directory, plan)
    next.start()
    next.waitForEnd()
    #expect(next.states == run.states && scene.words("deploy").isEmpty)
    try next.run.retry(["deploy"])
    next.waitForEnd(2)
    #expect(next.run.counts.text == "3 jobs: 3 succeeded")
    #expect(scene.words("deploy") == ["2"] && scene.words("next") == ["x"])
  }

  @Test("RD-5: A retried job of a run that has ended runs again in a new runner")
  func requestInNewRunner() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        merge: {run: 'echo "$OPQ_ATTEMPT" >> "$DIR/merge"; test -e "$DIR/fixed"'}
        next: {run: 'echo x >> "$DIR/next"', needs: [merge]}
        other: {run: 'echo x >> "$DIR/other"'}
      """)
    let run = try scene.run(plan)
    run.start()
    run.waitForEnd()
    run.endRunner()
    scene.touch("fixed")
    let next = try scene.resumed(run.run.directory, plan, retrying: ["merge"])
    next.start()
    next.waitForEnd()
    #expect(next.run.counts.text == "3 jobs: 3 succeeded")
    #expect(scene.words("merge") == ["1", "2"])
    #expect(scene.words("next").count == 1 && scene.words("other").count == 1)
  }
}

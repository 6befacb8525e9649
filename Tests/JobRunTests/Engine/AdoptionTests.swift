// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

@Suite("Commands of earlier runners that are ended", .timeLimit(.minutes(5)), .onOwnThread)
struct AdoptionTests {
  /// When the second runner cancels the run.
  enum Moment: CaseIterable {
    case beforeStart, afterStart, afterAdoption
  }

  /// A job that ignores SIGTERM, and its child.
  private static let stubborn = """
      stubborn:
        run: |
          trap '' TERM
          sh -c 'trap "" TERM; echo $$ >> "$DIR/processes"; while :; do sleep 0.05; done' &
          echo $$ >> "$DIR/processes"
          while :; do sleep 0.05; done
        grace: GRACE
      next: {run: 'true', needs: [stubborn]}
      last: {run: 'echo x > "$DIR/last"', needs: [next], when: always}
    """

  private func plan(_ scene: RunScene, grace: String) throws -> JobPlan {
    try scene.plan(Self.stubborn.split(separator: "GRACE").joined(separator: grace))
  }

  /// Starts a run, and ends its runner while the command runs.
  private func leave(_ scene: RunScene, _ plan: JobPlan) throws -> FinishedRun {
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(2, in: "processes")
    run.endRunner()
    return run
  }

  @Test(
    "RD-4: Cancelling a continued run ends the commands of earlier runners",
    arguments: Moment.allCases)
  func cancelledRun(moment: Moment) throws {
    let scene = try RunScene()
    let plan = try plan(scene, grace: "100ms")
    let run = try leave(scene, plan)
    let next = try scene.resumed(run.run.directory, plan)
    let reason = RunWasCancelled("the test ends it")
    if moment == .beforeStart { next.run.cancel(reason) }
    next.start()
    if moment == .afterAdoption {
      #expect(poll(for: .seconds(60), pausing: true) { next.run.runningCount == 1 })
    }
    next.run.cancel(reason)
    next.waitForEnd()
    #expect(next.states == ["stubborn cancelled", "next cancelled", "last cancelled"])
    let processes = scene.words("processes")
    #expect(processes.count == 2 && processes.allSatisfy(RunScene.hasEnded))
    next.endRunner()
    let history = try RunHistory.read(run.run.directory)
    for id in ["stubborn", "next", "last"] { #expect(history.jobs[id]?.isByRun == true, "\(id)") }
    run.waitForEnd()
  }

  @Test("RD-4: The grace periods of the commands of earlier runners can be ended early")
  func gracePeriodsEnd() throws {
    let scene = try RunScene()
    let plan = try plan(scene, grace: "1d")
    let run = try leave(scene, plan)
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    #expect(poll(for: .seconds(60), pausing: true) { next.run.runningCount == 1 })
    next.run.cancel(RunWasCancelled("the test ends it"))
    next.run.endGracePeriods()
    next.waitForEnd()
    #expect(next.states.first == "stubborn cancelled")
    #expect(scene.words("processes").allSatisfy(RunScene.hasEnded))
    run.waitForEnd()
  }

  @Test("RD-4: The timeout of an attempt begins with its start in the earlier runner")
  func timeoutContinues() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        slow:
          run: 'echo $$ >> "$DIR/slow"; exec sleep 600'
          timeout: 2s
          grace: 1s
      """)
    // The first runner does not end the command, because its file has no timeout. The definition is the same.
    let run = try scene.run(
      scene.plan("  slow: {run: 'echo $$ >> \"$DIR/slow\"; exec sleep 600', grace: 1s}"))
    run.start()
    scene.waitForWords(1, in: "slow")
    run.endRunner()
    let begin = ContinuousClock.now
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    next.waitForEnd()
    #expect(begin.duration(to: .now) < .seconds(60))
    let outcome = try #require(next.outcome("slow"))
    #expect(outcome.state == .failed && outcome.reason == "an attempt took longer than 2s")
    #expect(scene.words("slow").allSatisfy(RunScene.hasEnded))
    run.waitForEnd()
  }

  @Test("RD-4: More commands of earlier runners than the width of their queue are awaited at once")
  func narrowQueue() throws {
    let scene = try RunScene()
    let jobs =
      "  job: {run: 'echo x >> \"$DIR/job\"; until test -e \"$DIR/go\"; do sleep 0.01; done', each: {N: [1, 2, 3, 4]}}"
    let run = try scene.run(scene.plan(jobs, head: "queues: {default: {width: 4}}"))
    run.start()
    scene.waitForWords(4, in: "job")
    run.endRunner()
    let plan = try scene.plan(
      jobs + "\n  late: {run: 'echo x >> \"$DIR/late\"'}",
      head: "queues: {default: {width: 1, rate: 1}}")
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    #expect(poll(for: .seconds(60), pausing: true) { next.run.runningCount == 4 })
    #expect(scene.words("late").isEmpty)
    scene.touch("go")
    next.waitForEnd()
    #expect(next.run.counts.text == "5 jobs: 5 succeeded" && scene.words("job").count == 4)
    run.waitForEnd()
  }

  @Test("RD-7: The command of a job that the file no longer has is awaited before the run ends")
  func removedJob() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          old: {run: 'echo x >> "$DIR/old"; until test -e "$DIR/go"; do sleep 0.01; done; exit 7'}
          kept: {run: 'echo x >> "$DIR/kept"'}
        """))
    run.start()
    scene.waitForWords(1, in: "old")
    #expect(poll(for: .seconds(60), pausing: true) { run.outcome("kept") != nil })
    run.endRunner()
    let plan = try scene.plan("  kept: {run: 'echo x >> \"$DIR/kept\"'}")
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    #expect(!next.run.isFinished && next.outcome("kept")?.state == .succeeded)
    scene.touch("go")
    next.waitForEnd()
    #expect(next.run.counts.text == "1 job: 1 succeeded" && scene.words("kept").count == 1)
    next.endRunner()
    let history = try RunHistory.read(run.run.directory)
    #expect(history.jobs["old"]?.outcome?.exitStatus == 7 && history.isFinished)
    run.waitForEnd()
  }
}

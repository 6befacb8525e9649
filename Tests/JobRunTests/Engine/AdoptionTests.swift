// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore
import TestSupport
import Testing

@testable import JobRun

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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

  /// A job without and with a timeout. The definition is the same.
  private static func slow(_ keys: String = "") -> String {
    let run = #"'echo "$OPQ_ATTEMPT" >> "$DIR/slow"; test "$OPQ_ATTEMPT" = 2 || exec sleep 600'"#
    return "  slow: {run: \(run), grace: 1s, retry-pause: 1ms\(keys)}"
  }

  @Test("RD-4: The timeout of an attempt begins with its start in the earlier runner")
  func timeoutContinues() throws {
    let scene = try RunScene()
    // The first runner does not end the command, because its file has no timeout.
    let run = try scene.run(scene.plan(Self.slow()))
    run.start()
    scene.waitForWords(1, in: "slow")
    let begin = ContinuousClock.now
    run.endRunner()
    #expect(poll(for: .seconds(60), pausing: true) { begin.duration(to: .now) > .seconds(4) })
    let resumption = ContinuousClock.now
    let next = try scene.resumed(run.run.directory, scene.plan(Self.slow(", timeout: 6s")))
    next.start()
    next.waitForEnd()
    // A timeout that began with the second runner would end after 6 seconds.
    #expect(resumption.duration(to: .now) < .seconds(6))
    #expect(begin.duration(to: .now) > .seconds(5))
    let outcome = try #require(next.outcome("slow"))
    #expect(outcome.state == .failed)
    #expect(outcome.reason == "an attempt took longer than 6.00s")
    #expect(scene.words("slow") == ["1"])
    run.waitForEnd()
  }

  @Test("RD-4: An attempt that has exceeded its timeout without a runner has further attempts")
  func timeoutIsRetried() throws {
    let scene = try RunScene()
    let run = try scene.run(scene.plan(Self.slow()))
    run.start()
    scene.waitForWords(1, in: "slow")
    let begin = ContinuousClock.now
    run.endRunner()
    #expect(poll(for: .seconds(60), pausing: true) { begin.duration(to: .now) > .seconds(3) })
    let plan = try scene.plan(Self.slow(", timeout: 3s, retries: 1"))
    let next = try scene.resumed(run.run.directory, plan)
    next.start()
    next.waitForEnd()
    #expect(next.outcome("slow")?.state == .succeeded && scene.words("slow") == ["1", "2"])
    next.endRunner()
    #expect(
      try next.records() == [
        "start slow 1", "attempt slow 1", "start slow 2", "end slow succeeded", "finish",
      ])
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

  @Test("RD-7: Cancelling the run ends the command of a job that the file no longer has")
  func cancelledRemovedJob() throws {
    let scene = try RunScene()
    let text = try plan(scene, grace: "100ms")
    let run = try leave(scene, text)
    let next = try scene.resumed(run.run.directory, scene.plan("  kept: {run: 'true'}"))
    next.start()
    #expect(poll(for: .seconds(60), pausing: true) { next.outcome("kept") != nil })
    #expect(!next.run.isFinished)
    next.run.cancel(RunWasCancelled("the test ends it"))
    next.run.endGracePeriods()
    next.waitForEnd()
    let processes = scene.words("processes")
    #expect(processes.count == 2 && processes.allSatisfy(RunScene.hasEnded))
    next.endRunner()
    let job = try #require(try RunHistory.read(run.run.directory).jobs["stubborn"])
    #expect(job.outcome?.state == .cancelled && job.isByRun)
    run.waitForEnd()
  }

  @Test("RD-7: A job that the file no longer has, and that has succeeded, is not marked as ended")
  func succeededRemovedJob() throws {
    let scene = try RunScene()
    let run = try scene.run(scene.plan("  kept: {run: 'true'}"))
    let files = run.run.directory.files(ofJob: 1, id: "old", attempt: 1).files
    try RunDisk.system.create(files.status, Array("0\n".utf8))
    // The process has ended: this one has another start time.
    let shim = AdoptedShim(processID: getpid(), startTime: 1)
    let operation = AdoptedOperation(
      run.run.commands.adoptedCommand(named: "old", grace: nil), shim: shim, files: files)
    operation.start()
    #expect(poll(for: .seconds(60), pausing: true) { operation.isFinished })
    run.run.cancel(RunWasCancelled("the test ends it"))
    run.run.noteEnd(
      of: Resumption.RemovedJob(id: "old", attempt: 1, files: files, shim: shim), operation)
    run.endRunner()
    let job = try #require(try RunHistory.read(run.run.directory).jobs["old"])
    #expect(job.outcome?.state == .succeeded && !job.isByRun)
  }
}

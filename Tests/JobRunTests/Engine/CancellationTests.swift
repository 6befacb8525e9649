// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCore
import TestSupport
import Testing

@testable import JobRun

@Suite("Runs that are cancelled at certain moments", .timeLimit(.minutes(5)), .onOwnThread)
struct CancellationTests {
  @Test("RD-1: A job that is cancelled while its start waits for the disk does not start")
  func whileStartWaits() throws {
    let scene = try RunScene()
    let gate = Gate()
    var disk = RunDisk.system
    let sync = disk.sync
    disk.sync = { file in
      gate.pass()
      return sync(file)
    }
    let run = try scene.run(
      scene.plan(
        """
          job: {run: 'echo x >> "$DIR/ran"', retries: 2}
          next: {run: 'echo x >> "$DIR/ran"', needs: [job], when: always}
        """), disk: disk)
    run.start()
    let waits = poll(for: .seconds(60), pausing: true) {
      run.run.state.withLock { $0.jobs[0]?.attemptCount == 1 }
    }
    #expect(waits && gate.arrivedCount > 0)
    run.run.cancel(RunWasCancelled("the test ends it"))
    gate.open()
    run.waitForEnd()
    #expect(run.states == ["job cancelled", "next cancelled"] && scene.words("ran").isEmpty)
    #expect(RunScene.names(in: run.run.directory.jobs).isEmpty)
    run.endRunner()
    let history = try RunHistory.read(run.run.directory)
    #expect(history.jobs["job"]?.isByRun == true && history.jobs["job"]?.attemptCount == 1)
    // The job has not run.
    let next = try scene.resumed(run.run.directory, run.run.plan)
    next.start()
    next.waitForEnd()
    #expect(next.run.counts.text == "2 jobs: 2 succeeded" && scene.words("ran").count == 2)
  }

  @Test("RD-1: A job that is cancelled in the pause before its next attempt ends at once")
  func inRetryPause() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        "  job: {run: 'echo x >> \"$DIR/job\"; exit 7', retries: 3, retry-pause: 1h}"))
    run.start()
    let isPausing = poll(for: .seconds(60), pausing: true) {
      run.run.takeEvents().contains(.retried(0, attempt: 1, reason: "exit status 7"))
    }
    #expect(isPausing)
    run.run.cancel(RunWasCancelled("the test ends it"))
    run.waitForEnd()
    #expect(run.states == ["job cancelled"] && scene.words("job").count == 1)
    #expect(run.outcome("job")?.attemptCount == 1)
    run.endRunner()
    #expect(
      try run.records() == ["start job 1", "attempt job 1", "end job cancelled", "finish"])
    #expect(try RunHistory.read(run.run.directory).jobs["job"]?.isByRun == true)
  }

  @Test("RD-4: A resume does not forget a failure that ends the run, until a user retries a job")
  func failureOfEarlierRunner() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        broken: {run: 'test -e "$DIR/fixed"'}
        long: {run: 'echo x >> "$DIR/long"; test -e "$DIR/fixed" || exec sleep 600', grace: 1s}
        next: {run: 'echo x >> "$DIR/next"', needs: [long]}
        notify: {run: 'echo "$OPQ_RESULT" >> "$DIR/notify"', needs: [long], when: always}
      """)
    // The first runner is killed before it cancels the other jobs.
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(1, in: "long")
    #expect(poll(for: .seconds(60), pausing: true) { run.outcome("broken") != nil })
    run.endRunner()
    let next = try scene.resumed(run.run.directory, plan, failsFast: true)
    next.start()
    next.waitForEnd()
    #expect(
      next.states == ["broken failed", "long cancelled", "next cancelled", "notify succeeded"])
    #expect(next.outcome("next")?.origin == "broken" && scene.words("next").isEmpty)
    #expect(scene.words("notify") == ["cancelled"])
    next.endRunner()
    scene.touch("fixed")
    let last = try scene.resumed(
      run.run.directory, plan, retrying: ["broken"], failsFast: true)
    last.start()
    last.waitForEnd()
    #expect(last.run.counts.text == "4 jobs: 4 succeeded")
    run.waitForEnd()
  }
}

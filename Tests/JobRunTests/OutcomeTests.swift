// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCore
import TestSupport
import Testing

@testable import JobRun

@Suite("Outcomes of jobs", .timeLimit(.minutes(5)), .onOwnThread)
struct OutcomeTests {
  @Test("JR-1: A job starts after the jobs that it needs have ended")
  func diamondRunsInOrder() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        join: {run: 'echo join >> "$DIR/order"', needs: [left, right]}
        left: {run: 'echo side >> "$DIR/order"', needs: [first]}
        right: {run: 'echo side >> "$DIR/order"', needs: [first]}
        first: {run: 'echo first >> "$DIR/order"'}
      """)
    #expect(scene.words("order") == ["first", "side", "side", "join"])
    #expect(run.run.outcomes.allSatisfy { $0?.state == .succeeded && $0?.exitStatus == 0 })
  }

  @Test("JR-1: The end of a need is an event before the start of the job")
  func eventsAreInOrder() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        first: {run: 'true', each: {N: [1, 2, 3]}}
        second: {run: 'true', needs: [first]}
        third: {run: 'true', needs: [second]}
      """)
    let starts = (0..<5).map { index in run.events.firstIndex { $0 == .started(index, attempt: 1) }
    }
    let ends = (0..<5).map { index in
      run.events.firstIndex { if case .ended(index, _) = $0 { true } else { false } }
    }
    #expect(run.events.count == 10)
    for index in 0..<3 { #expect(try #require(ends[index]) < #require(starts[3])) }
    #expect(try #require(ends[3]) < #require(starts[4]))
  }

  @Test("JR-2: After a failure, dependents are skipped with the origin, and other jobs run")
  func failureSkipsDependents() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        broken: {run: 'echo the reason; exit 3'}
        next: {run: 'echo next >> "$DIR/ran"', needs: [broken]}
        last: {run: 'echo last >> "$DIR/ran"', needs: [next]}
        other: {run: 'echo other >> "$DIR/ran"'}
      """)
    #expect(
      run.states == ["broken failed", "next skipped", "last skipped", "other succeeded"])
    #expect(scene.words("ran") == ["other"])
    let broken = try #require(run.outcome("broken"))
    #expect(broken.exitStatus == 3 && broken.attemptCount == 1)
    #expect(broken.sentence(for: "broken") == "broken failed: exit status 3: the reason")
    #expect(run.outcome("last")?.origin == "broken")
    #expect(run.outcome("last")?.sentence(for: "last") == "last was skipped: broken failed")
    #expect(run.run.counts.text == "4 jobs: 1 succeeded, 1 failed, 2 skipped")
    #expect(run.run.counts.harmfulCount == 3)
  }

  @Test("JR-2: A failure in a group skips the jobs that need the group")
  func failureInGroupSkips() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        part: {run: 'test "$N" != 2', each: {N: [1, 2, 3]}}
        whole: {run: 'true', needs: [part]}
      """)
    #expect(run.outcome("whole")?.state == .skipped)
    #expect(run.outcome("whole")?.origin == "part[2]")
    #expect(run.outcome("part[3]")?.state == .succeeded)
  }

  @Test("JR-3: A job with the condition always runs after any ends, with their result")
  func alwaysRuns() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        good: {run: 'true'}
        broken: {run: 'false'}
        skipped: {run: 'true', needs: [broken]}
        after-good: {run: 'echo "$OPQ_RESULT" > "$DIR/good"', needs: [good], when: always}
        after-broken: {run: 'echo "$OPQ_RESULT" > "$DIR/broken"', needs: [good, broken], when: always}
        after-skipped: {run: 'echo "$OPQ_RESULT" > "$DIR/skipped"', needs: [skipped], when: always}
      """)
    #expect(scene.words("good") == ["success"])
    #expect(scene.words("broken") == ["failure"])
    #expect(scene.words("skipped") == ["skipped"])
    #expect(run.outcome("after-skipped")?.state == .succeeded)
  }

  @Test("JR-3: A job with the condition always runs after a cancelled need, with this result")
  func alwaysRunsAfterCancellation() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          long: {run: 'echo $$ > "$DIR/long"; exec sleep 600', grace: 1s}
          after: {run: 'echo "$OPQ_RESULT" > "$DIR/after"', needs: [long], when: always}
          alarm: {run: 'true', needs: [long], when: failure}
        """))
    run.start()
    scene.waitForWords(1, in: "long")
    run.run.state.withLock { $0.jobs[0]?.operation }?.cancel()
    run.waitForEnd()
    #expect(run.states == ["long cancelled", "after succeeded", "alarm skipped"])
    #expect(scene.words("after") == ["cancelled"])
  }

  @Test("JR-4: A job with the condition failure runs only if a need has failed")
  func failureConditionRunsAfterFailure() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        good: {run: 'true'}
        broken: {run: 'false'}
        part: {run: 'test "$N" != 2', each: {N: [1, 2, 3]}}
        after-good: {run: 'echo good >> "$DIR/ran"', needs: [good], when: failure}
        after-broken: {run: 'echo "$OPQ_RESULT" >> "$DIR/ran"', needs: [broken], when: failure}
        after-part: {run: 'echo "$OPQ_RESULT" >> "$DIR/ran"', needs: [part], when: failure}
        later: {run: 'true', needs: [after-good]}
      """)
    #expect(scene.words("ran") == ["failure", "failure"])
    let unneeded = try #require(run.outcome("after-good"))
    #expect(unneeded.state == .skipped && unneeded.reason == "no need has failed")
    // The run can succeed although these jobs have not run.
    #expect(unneeded.isHarmless && run.outcome("later")?.isHarmless == true)
    #expect(run.outcome("later")?.state == .skipped)
  }

  @Test("JR-5: After the first failure, a run that fails fast cancels what has not ended")
  func failFast() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        long: {run: 'echo $$ > "$DIR/long"; exec sleep 600', grace: 1s}
        broken: {run: 'until test -s "$DIR/long"; do sleep 0.01; done; exit 1'}
        cleanup: {run: 'echo "$OPQ_RESULT" > "$DIR/cleanup"', needs: [long, broken], when: always}
      """, failsFast: true)
    #expect(run.states == ["long cancelled", "broken failed", "cleanup succeeded"])
    #expect(run.outcome("long")?.origin == "broken")
    #expect(scene.words("cleanup") == ["failure"])
  }

  @Test("JR-2: If the wait for needs is cancelled, a dependent names the cancelled job")
  func cancelledWaitIsNoFailure() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          each: {run: 'echo x >> "$DIR/started"; until test -e "$DIR/go"; do sleep 0.02; done', each: {NUMBER: [1, 2]}}
          clean: {run: 'true', needs: [each], when: always}
          publish: {run: 'true', needs: [clean]}
        """))
    run.start()
    scene.waitForWords(1, in: "started")
    let clean = try #require(run.run.state.withLock { $0.jobs[2]?.operation })
    try #require(clean.dependencies.first).cancel()
    scene.touch("go")
    run.waitForEnd()
    #expect(run.states.suffix(2) == ["clean cancelled", "publish skipped"])
    #expect(
      run.outcome("publish")?.sentence(for: "publish")
        == "publish was skipped: clean was cancelled")
  }

  @Test("JR-6: A cancelled run skips no job, also if the file has a job before its need")
  func cancellationSkipsNothing() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          last: {run: 'true', needs: [middle]}
          middle: {run: 'true', needs: [first]}
          first: {run: 'echo $$ > "$DIR/first"; exec sleep 600', grace: 1s}
        """))
    run.start()
    scene.waitForWords(1, in: "first")
    run.run.cancel(RunWasCancelled("the test ends it"))
    run.waitForEnd()
    #expect(run.states == ["last cancelled", "middle cancelled", "first cancelled"])
  }

  @Test("JR-6: Cancelling a run ends all jobs, and a job that traps SIGTERM leaves no process")
  func cancellingEndsStubbornGroups() throws {
    let scene = try RunScene()
    let plan = try scene.plan(
      """
        stubborn:
          run: |
            trap '' TERM
            sh -c 'trap "" TERM; echo $$ >> "$DIR/processes"; while :; do sleep 0.05; done' &
            echo $$ >> "$DIR/processes"
            while :; do sleep 0.05; done
          grace: 100ms
        next: {run: 'true', needs: [stubborn]}
        last: {run: 'true', needs: [next], when: always}
      """)
    let run = try scene.run(plan)
    run.start()
    scene.waitForWords(2, in: "processes")
    run.run.cancel(RunWasCancelled("the test ends it"))
    run.waitForEnd()
    #expect(run.states == ["stubborn cancelled", "next cancelled", "last cancelled"])
    #expect(
      run.outcome("stubborn")?.sentence(for: "stubborn")
        == "stubborn was cancelled: the test ends it")
    let processes = scene.words("processes")
    #expect(processes.count == 2)
    for process in processes { #expect(RunScene.hasEnded(process)) }
  }

  @Test("JR-6: The grace periods of a run can be ended early", arguments: [false, true])
  func gracePeriodsEnd(isBeforeCancellation: Bool) throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          stubborn:
            run: 'trap "" TERM; echo $$ > "$DIR/process"; while :; do sleep 0.05; done'
            grace: 1d
        """))
    run.start()
    scene.waitForWords(1, in: "process")
    if isBeforeCancellation { run.run.endGracePeriods() }
    run.run.cancel(RunWasCancelled("the test ends it"))
    if !isBeforeCancellation { run.run.endGracePeriods() }
    run.waitForEnd()
    #expect(run.states == ["stubborn cancelled"])
  }

  @Test("JR-6: A run that is cancelled before its start runs nothing")
  func cancelledBeforeStart() throws {
    let scene = try RunScene()
    let run = try scene.run(scene.plan("  only: {run: 'echo ran > \"$DIR/ran\"'}"))
    run.run.cancel(RunWasCancelled("too early"))
    run.start()
    run.waitForEnd()
    #expect(run.states == ["only cancelled"] && scene.words("ran").isEmpty)
  }
}

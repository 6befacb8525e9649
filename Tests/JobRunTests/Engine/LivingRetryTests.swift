// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

@Suite("Retries in a living run", .timeLimit(.minutes(5)), .onOwnThread)
struct LivingRetryTests {
  /// Jobs of which `merge` succeeds when the file `fixed` exists.
  private static let jobs = """
      fetch: {run: 'echo x >> "$DIR/fetch"'}
      merge: {run: 'echo "$OPQ_ATTEMPT" >> "$DIR/merge"; test -e "$DIR/fixed"', needs: [fetch]}
      deploy: {run: 'echo x >> "$DIR/deploy"', needs: [merge]}
      announce: {run: 'echo x >> "$DIR/announce"', needs: [deploy]}
      notify: {run: 'echo "$OPQ_RESULT" >> "$DIR/notify"', needs: [announce], when: always}
      alarm: {run: 'echo x >> "$DIR/alarm"', needs: [merge], when: failure}
      other: {run: 'echo x >> "$DIR/other"'}
    """

  @Test(
    "RD-5: A retried job runs again, with what was skipped because of it and with always jobs behind it"
  )
  func retriedJob() throws {
    let scene = try RunScene()
    let run = try scene.finished(Self.jobs)
    #expect(run.run.isFinished && run.run.counts.counts[.skipped] == 2)
    scene.touch("fixed")
    let ids = try run.run.retry(["merge"])
    #expect(ids == ["merge", "deploy", "announce", "notify"])
    run.waitForEnd(2)
    #expect(scene.words("merge") == ["1", "2"])
    #expect(scene.words("notify") == ["skipped", "success"])
    for name in ["fetch", "deploy", "announce", "alarm", "other"] {
      #expect(scene.words(name).count == 1, "\(name)")
    }
    #expect(run.run.counts.text == "7 jobs: 7 succeeded" && run.run.counts.harmfulCount == 0)
    #expect(run.run.isFinished)
    let repeated = run.events.compactMap {
      if case .willRunAgain(let index) = $0 { index } else { nil }
    }
    #expect(repeated == [1, 2, 3, 4])
    run.endRunner()
    let records = try run.records()
    #expect(records.count { $0 == "finish" } == 2)
    let retry = try #require(records.firstIndex(of: "retry merge deploy announce notify"))
    #expect(
      Array(records[(retry + 1)...]) == [
        "start merge 2", "end merge succeeded", "start deploy 1", "end deploy succeeded",
        "start announce 1", "end announce succeeded", "start notify 2", "end notify succeeded",
        "finish",
      ])
  }

  @Test("RD-5: A job can be retried several times, and its attempts continue their numbers")
  func secondRetry() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        flaky: {run: 'echo "$OPQ_ATTEMPT" >> "$DIR/flaky"; test -e "$DIR/fixed"', retries: 1, retry-pause: 1ms}
        next: {run: 'true', needs: [flaky]}
      """)
    #expect(run.run.counts.text == "2 jobs: 1 failed, 1 skipped")
    try run.run.retry(["flaky"])
    run.waitForEnd(2)
    #expect(run.run.counts.text == "2 jobs: 1 failed, 1 skipped")
    #expect(run.run.counts.harmfulCount == 2)
    scene.touch("fixed")
    try run.run.retry(["flaky"])
    run.waitForEnd(3)
    #expect(run.run.counts.text == "2 jobs: 2 succeeded" && run.run.counts.harmfulCount == 0)
    #expect(scene.words("flaky") == ["1", "2", "3", "4", "5"])
    #expect(run.outcome("flaky")?.attemptCount == 5)
    for attempt in 1...5 {
      #expect(RunScene.names(in: run.run.directory.jobs).contains("1-flaky.\(attempt).status"))
    }
    #expect(throws: RunFailure.self) { try run.run.retry(["flaky"]) }
  }

  @Test("RD-5: A retry that is refused changes nothing")
  func refusals() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        Self.jobs + "\n  long: {run: 'until test -e \"$DIR/go\"; do sleep 0.01; done'}"))
    #expect(throws: RunFailure.self) { try run.run.retry(["merge"]) }
    run.start()
    let isOver = poll(for: .seconds(60), pausing: true) { run.run.counts.total == 7 }
    #expect(isOver)
    let before = run.run.outcomes
    for ids in [["fetch"], ["deploy"], ["long"], ["unknown"], ["fetch", "long"]] {
      #expect(throws: RunFailure.self, "\(ids)") { try run.run.retry(ids) }
    }
    #expect(run.run.outcomes == before && !run.run.isFinished)
    // Of several jobs, those that can be retried run again.
    let choice = run.run.retryPossible(["merge", "fetch"])
    #expect(choice.requested == [1] && Array(choice.refusals.keys) == ["fetch"])
    scene.touch("go")
    run.waitForEnd()
    #expect(scene.words("merge") == ["1", "2"])
    run.run.cancel(RunWasCancelled("the test ends it"))
    #expect(throws: RunFailure("the run is being ended")) { try run.run.retry(["merge"]) }
  }

  @Test("RD-5: A job that waits for a retried one waits for the new attempt")
  func waitingJob() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          merge: {run: 'echo x >> "$DIR/merge"; test -e "$DIR/fixed"'}
          long: {run: 'until test -e "$DIR/go"; do sleep 0.01; done'}
          notify: {run: 'echo "$OPQ_RESULT" >> "$DIR/notify"', needs: [merge, long], when: always}
          last: {run: 'echo x >> "$DIR/last"', needs: [notify]}
          deploy: {run: 'echo x >> "$DIR/deploy"', needs: [merge]}
        """))
    run.start()
    #expect(poll(for: .seconds(60), pausing: true) { run.outcome("merge") != nil })
    scene.touch("fixed")
    // Whether the end of deploy was noted does not matter.
    try run.run.retry(["merge"])
    #expect(poll(for: .seconds(60), pausing: true) { run.outcome("merge")?.state == .succeeded })
    scene.touch("go")
    run.waitForEnd()
    #expect(run.run.counts.text == "5 jobs: 5 succeeded")
    for name in ["notify", "last", "deploy"] { #expect(scene.words(name).count == 1, "\(name)") }
    #expect(scene.words("notify") == ["success"] && scene.words("merge").count == 2)
  }

  @Test("RD-5: A job does not run again while a job runs that uses its failure")
  func userOfFailure() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          merge: {run: 'echo x >> "$DIR/merge"; exit 1'}
          cleanup: {run: 'echo x > "$DIR/cleanup"; until test -e "$DIR/go"; do sleep 0.01; done', needs: [merge], when: always}
        """))
    run.start()
    scene.waitForWords(1, in: "cleanup")
    #expect(
      throws: RunFailure("merge cannot run again until cleanup has ended, which uses its result")
    ) {
      try run.run.retry(["merge"])
    }
    scene.touch("go")
    run.waitForEnd()
    #expect(try run.run.retry(["merge"]) == ["merge", "cleanup"])
    run.waitForEnd(2)
    #expect(scene.words("merge").count == 2)
  }

  @Test("RD-5: A job does not run again while a job runs that uses its success")
  func userOfSuccess() throws {
    let scene = try RunScene()
    let run = try scene.run(
      scene.plan(
        """
          merge: {run: 'test -e "$DIR/fixed"'}
          report: {run: 'echo x >> "$DIR/report"', needs: [merge], when: always}
          mail: {run: 'echo x > "$DIR/mail"; until test -e "$DIR/go"; do sleep 0.01; done', needs: [report]}
        """))
    run.start()
    scene.waitForWords(1, in: "mail")
    scene.touch("fixed")
    #expect(
      throws: RunFailure("merge cannot run again until mail has ended, which uses its result")
    ) {
      try run.run.retry(["merge"])
    }
    scene.touch("go")
    run.waitForEnd()
    #expect(try run.run.retry(["merge"]) == ["merge", "report"])
    run.waitForEnd(2)
    #expect(run.run.counts.text == "3 jobs: 3 succeeded" && scene.words("report").count == 2)
  }

  @Test(
    "RD-5: After a run that has failed fast, a retry releases the jobs that were cancelled")
  func failedFast() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        long: {run: 'echo x >> "$DIR/long"; test -e "$DIR/fixed" || exec sleep 600', grace: 1s}
        broken: {run: 'until test -s "$DIR/long"; do sleep 0.01; done; test -e "$DIR/fixed"'}
        next: {run: 'true', needs: [broken]}
      """, failsFast: true)
    #expect(run.states.prefix(2) == ["long cancelled", "broken failed"])
    scene.touch("fixed")
    try run.run.retry(["broken"])
    run.waitForEnd(2)
    #expect(run.run.counts.text == "3 jobs: 3 succeeded")
  }

  @Test("RD-5: A need for a group counts jobs that run again and those that have succeeded")
  func groups() throws {
    let scene = try RunScene()
    let run = try scene.finished(
      """
        part: {run: 'echo "$N" >> "$DIR/part"; test "$N" = 1 || test -e "$DIR/fixed$N"', each: {N: [1, 2, 3]}}
        whole: {run: 'echo x >> "$DIR/whole"', needs: [part]}
      """)
    #expect(run.outcome("whole")?.state == .skipped)
    scene.touch("fixed2")
    #expect(try run.run.retry(["part[2]"]) == ["part[2]", "whole"])
    run.waitForEnd(2)
    // Another job of the group has failed.
    #expect(run.outcome("whole")?.sentence(for: "whole") == "whole was skipped: part[3] failed")
    #expect(run.run.counts.text == "4 jobs: 2 succeeded, 1 failed, 1 skipped")
    scene.touch("fixed3")
    try run.run.retry(["part[3]"])
    run.waitForEnd(3)
    #expect(run.run.counts.text == "4 jobs: 4 succeeded" && scene.words("whole") == ["x"])
    #expect(scene.words("part").sorted() == ["1", "2", "2", "3", "3"])
  }

  @Test("RD-5: An outcome that was counted can be removed")
  func countsAreRemoved() {
    func outcome(_ state: JobOutcome.State, isUnneeded: Bool = false) -> JobOutcome {
      JobOutcome(
        state: state, attemptCount: 1, exitStatus: nil, origin: nil, reason: nil, lastLine: nil,
        duration: nil, isUnneeded: isUnneeded)
    }
    var counts = JobCounts()
    for state in JobOutcome.State.allCases { counts.add(outcome(state)) }
    counts.add(outcome(.skipped, isUnneeded: true))
    #expect(counts.total == 5 && counts.harmfulCount == 3)
    counts.remove(outcome(.skipped, isUnneeded: true))
    counts.remove(outcome(.failed))
    #expect(counts.text == "3 jobs: 1 succeeded, 1 skipped, 1 cancelled")
    #expect(counts.harmfulCount == 2)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of runs whose runner is killed and which another runner resumes.
@Suite("Resumed runs", .timeLimit(.minutes(10)), .onOwnThread)
struct ResumeTests {
  /// A job that waits for the file `go` and then ends as `ending` says, with jobs that depend on it.
  private static func jobs(_ ending: String, _ keys: String = "") -> String {
    """
      early: {run: 'echo early >> "$DIR/ran"'}
      held:
        run: 'echo "start $OPQ_ATTEMPT" >> "$DIR/ran"; \(StoredRunScene.hold()); \(ending)'
        needs: [early]
        \(keys)
      after: {run: 'echo after >> "$DIR/ran"', needs: [held]}
      always: {run: 'echo "always $OPQ_RESULT" >> "$DIR/ran"', needs: [held], when: always}
    """
  }

  /// Starts a run, waits until the job `held` runs, and kills the runner.
  private func killRunner(
    in scene: StoredRunScene, _ arguments: [String] = []
  ) throws -> StoredRun {
    let runner = try scene.start(["run", "--batch", scene.file] + arguments)
    #expect(scene.wait(for: "start 1", in: "ran"), "\(runner.errors)")
    let run = try scene.onlyRun()
    #expect(run.runner == runner.window.child)
    runner.kill()
    #expect(run.runner == nil)
    return run
  }

  private func waitForStatusFile(of run: StoredRun, in scene: StoredRunScene) throws {
    try scene.open()
    #expect(scene.wait { run.status(of: "held") != nil })
  }

  @Test("RD-2, RD-4: A job that still runs at the resume has run once, and its end is awaited")
  func adoptedJob() throws {
    let scene = try StoredRunScene(Self.jobs("echo the end"))
    let run = try killRunner(in: scene)
    let shim = try #require(run.shim(of: "held"))
    #expect(StoredRunScene.isAlive(shim))
    let resumed = try scene.start(["run", "--resume", "--batch"])
    #expect(try scene.waitUntilExecuting("held", in: resumed), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["early", "start 1"])
    try scene.open()
    #expect(resumed.end() == .status(0), "\(resumed.errors)")
    #expect(scene.lines("ran").prefix(2) == ["early", "start 1"])
    #expect(Set(scene.lines("ran").dropFirst(2)) == ["after", "always success"])
    #expect(scene.lines("ran").count == 4)
    #expect(resumed.output.contains("the end"))
    #expect(try scene.onlyRun().id == run.id)
    #expect(run.records("start", of: "held").map(\.attempt) == [1])
    #expect(run.records("start", of: "early").count == 1)
    let end = try #require(run.end(of: "held"))
    #expect(end.state == "succeeded" && end.status == 0 && end.attempt == 1)
    #expect(run.records("runner").count == 2)
    #expect(try run.records().last?.event == "finish")
    #expect(!StoredRunScene.isAlive(shim))
  }

  @Test("RD-2, RD-4: The exit status of a job that ended without a runner is taken")
  func takenFailure() throws {
    let scene = try StoredRunScene(Self.jobs("echo the reason; exit 7"))
    let run = try killRunner(in: scene)
    try waitForStatusFile(of: run, in: scene)
    #expect(run.status(of: "held") == 7)
    #expect(run.end(of: "held") == nil)
    let resumed = try scene.run(["run", "--resume", "--batch", run.id])
    #expect(resumed.ending == .status(1), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["early", "start 1", "always failure"])
    let end = try #require(run.end(of: "held"))
    #expect(end.state == "failed" && end.status == 7 && end.attempt == 1)
    #expect(end.reason?.contains("exit status 7") == true)
    #expect(run.end(of: "after")?.state == "skipped" && run.end(of: "after")?.origin == "held")
    #expect(resumed.output.contains("exit status 7"))
  }

  @Test("RD-2, RD-4: A success that nothing has awaited is taken")
  func takenSuccess() throws {
    let scene = try StoredRunScene(Self.jobs("true"))
    let run = try killRunner(in: scene)
    try waitForStatusFile(of: run, in: scene)
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(Set(scene.lines("ran")) == ["early", "start 1", "after", "always success"])
    #expect(run.end(of: "held")?.state == "succeeded")
  }

  @Test("RD-2: The shim records a command that a signal has ended")
  func killedCommand() throws {
    let scene = try StoredRunScene(Self.jobs("true"))
    let run = try killRunner(in: scene)
    let group = try #require(run.group(of: "held"))
    #expect(kill(-group, SIGKILL) == 0)
    #expect(scene.wait { run.status(of: "held") == 128 + 9 })
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(1))
    #expect(run.end(of: "held")?.state == "failed")
    #expect(run.end(of: "held")?.reason?.contains("signal 9 (SIGKILL)") == true)
    #expect(scene.lines("ran") == ["early", "start 1", "always failure"])
  }

  @Test("RD-4: After a failure without a runner, the other attempts follow")
  func takenAttempt() throws {
    let scene = try StoredRunScene(
      Self.jobs("test \"$OPQ_ATTEMPT\" = 3", "retries: 2\n    retry-pause: 1ms"))
    let run = try killRunner(in: scene)
    try waitForStatusFile(of: run, in: scene)
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(
      scene.lines("ran").filter { $0.hasPrefix("start") } == ["start 1", "start 2", "start 3"])
    #expect(run.records("start", of: "held").map(\.attempt) == [1, 2, 3])
    #expect(run.records("attempt", of: "held").map(\.status) == [1, 1])
    #expect(run.end(of: "held")?.attempt == 3)
  }

  @Test("RD-4: A job whose shim was killed is lost and runs again")
  func lostJob() throws {
    let scene = try StoredRunScene(Self.jobs("true"))
    let run = try killRunner(in: scene)
    try killJob("held", of: run, in: scene)
    try scene.open()
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran").prefix(3) == ["early", "start 1", "start 2"])
    #expect(run.records("start", of: "held").map(\.attempt) == [1, 2])
    #expect(run.records("start", of: "early").count == 1)
    #expect(run.end(of: "held")?.attempt == 2)
  }

  @Test("RD-4: A command whose shim was killed is ended before its job runs again")
  func orphanedCommand() throws {
    let scene = try StoredRunScene(Self.jobs("true"))
    let run = try killRunner(in: scene)
    let shim = try #require(run.shim(of: "held"))
    let command = try #require(run.group(of: "held"))
    #expect(kill(shim, SIGKILL) == 0)
    #expect(scene.wait { !StoredRunScene.isAlive(shim) })
    #expect(StoredRunScene.isAlive(command))
    let resumed = try scene.start(["run", "--resume", "--batch"])
    #expect(scene.wait(for: "start 2", in: "ran"), "\(resumed.errors)")
    #expect(!StoredRunScene.isAlive(command))
    try scene.open()
    #expect(resumed.end() == .status(0), "\(resumed.errors)")
    #expect(run.records("start", of: "held").map(\.attempt) == [1, 2])
  }

  @Test("RD-4, RD-5: A lost job that must not run twice waits until it is retried")
  func lostOnceJob() throws {
    let scene = try StoredRunScene(Self.jobs("true", "once: true"))
    let run = try killRunner(in: scene)
    try killJob("held", of: run, in: scene)
    try scene.open()
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(1))
    #expect(!scene.lines("ran").contains("start 2"))
    let end = try #require(run.end(of: "held"))
    #expect(end.waits == true && end.state == "failed")
    #expect(end.reason?.contains("retry") == true)
    #expect(resumed.output.contains("retry"))
    #expect(run.end(of: "after")?.state == "skipped")
    // A second resume does not run it either.
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(1))
    #expect(!scene.lines("ran").contains("start 2"))
    #expect(try scene.run(["retry", "held"]).ending == .status(0))
    #expect(scene.lines("ran").filter { $0.hasPrefix("start") } == ["start 1", "start 2"])
    #expect(scene.lines("ran").filter { $0 == "early" }.count == 1)
    #expect(scene.lines("ran").contains("after"))
    #expect(scene.lines("ran").last { $0.hasPrefix("always") } == "always success")
    #expect(run.records("retry").first?.jobs?.contains("held") == true)
    #expect(run.end(of: "held")?.state == "succeeded" && run.end(of: "held")?.waits == nil)
  }

  @Test("RD-4: Jobs that an interrupt has cancelled run at the resume")
  func interruptedRun() throws {
    let scene = try StoredRunScene(Self.jobs("true"))
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "start 1", in: "ran"))
    runner.window.signal(SIGINT)
    #expect(runner.end() == .status(130), "\(runner.errors)")
    let run = try scene.onlyRun()
    #expect(run.end(of: "held")?.state == "cancelled" && run.end(of: "held")?.byRun == true)
    #expect(!StoredRunScene.isAlive(try #require(run.shim(of: "held"))))
    try scene.open()
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran").prefix(3) == ["early", "start 1", "start 2"])
    #expect(Set(scene.lines("ran").dropFirst(3)) == ["after", "always success"])
  }

  @Test("RD-4: If nothing is left to do, a resume prints the summary and has the same status")
  func nothingLeft() throws {
    let scene = try StoredRunScene(
      """
        broken: {run: 'echo ran >> "$DIR/ran"; exit 4'}
        next: {run: 'true', needs: [broken]}
      """)
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    let run = try scene.onlyRun()
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(1))
    #expect(resumed.output.contains("2 jobs: 1 failed, 1 skipped"), "\(resumed.output)")
    #expect(scene.lines("ran") == ["ran"])
    #expect(run.records("start").count == 1)
  }

  @Test("RD-4: A variable that the job file names and that has another value is said")
  func changedVariable() throws {
    let scene = try StoredRunScene(
      """
        held: {run: 'echo start >> "$DIR/ran"; \(StoredRunScene.hold()); echo "$FIRST" >> "$DIR/ran"'}
        next: {run: 'echo "${SECOND:-none} $FIRST" >> "$DIR/ran"', needs: [held]}
      """)
    let variables = ["FIRST=a", "SECOND=b", "OTHER=c"]
    let runner = try scene.start(["run", "--batch", scene.file], environment: variables)
    #expect(scene.wait(for: "start", in: "ran"))
    runner.kill()
    try scene.open()
    let resumed = try scene.run(
      ["run", "--resume", "--batch"], environment: ["FIRST=new", "SECOND=b", "OTHER=new"])
    #expect(resumed.ending == .status(0))
    let said = resumed.output + resumed.errors
    let sentences = said.split(separator: "\n").filter { $0.contains("FIRST") }
    #expect(sentences.count == 1, "\(said)")
    #expect(!said.contains("SECOND") && !said.contains("OTHER") && !said.contains("DIR"))
    // The environment is the one of the resume.
    #expect(scene.lines("ran") == ["start", "a", "b new"])
  }

  @Test("RD-4, RD-9: log -f continues with the resumed run")
  func followedAttempts() throws {
    let scene = try StoredRunScene(
      """
        flaky:
          run: 'echo "attempt $OPQ_ATTEMPT"; \(StoredRunScene.hold("go$OPQ_ATTEMPT")); test "$OPQ_ATTEMPT" = 2'
          retries: 1
          retry-pause: 1ms
      """)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait { scene.runs.first?.base(of: "flaky") != nil })
    let run = try scene.onlyRun()
    let follower = try scene.start(["log", "-f", "flaky", "--run", run.id])
    #expect(scene.wait { follower.output.contains("attempt 1\n") })
    runner.kill()
    let resumed = try scene.start(["run", "--resume", "--batch"])
    #expect(try scene.waitUntilExecuting("flaky", in: resumed))
    try scene.open("go1")
    #expect(scene.wait { follower.output.contains("attempt 2\n") }, "\(follower.output)")
    try scene.open("go2")
    #expect(resumed.end() == .status(0), "\(resumed.errors)")
    #expect(follower.end() == .status(0), "\(follower.errors)")
  }

  /// Kills an attempt's shim, and then its command.
  private func killJob(_ job: String, of run: StoredRun, in scene: StoredRunScene) throws {
    let shim = try #require(run.shim(of: job))
    let group = try #require(run.group(of: job))
    #expect(kill(shim, SIGKILL) == 0)
    #expect(scene.wait { !StoredRunScene.isAlive(shim) })
    #expect(kill(-group, SIGKILL) == 0)
    #expect(scene.wait { !StoredRunScene.isAlive(group) })
  }
}

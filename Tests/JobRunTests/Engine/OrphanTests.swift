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

@Suite("Commands of earlier runners whose shims were killed", .timeLimit(.minutes(5)), .onOwnThread)
struct OrphanTests {
  private let scene: RunScene

  init() throws { scene = try RunScene() }

  /// Creates the directory of a run whose first job has started, and whose runner and shim were killed. The command
  /// still runs. Its text must write its process id to the file `old`.
  private func orphan(_ plan: JobPlan, _ text: String) throws -> RunDirectory {
    let directory = try scene.runDirectory(plan)
    let job = plan.jobs[0]
    let (name, files) = directory.files(ofJob: 1, id: job.id, attempt: 1)
    let journal = try RunJournal(appendingTo: directory)
    journal.append(.runner())
    let definition = JobDefinition.text(of: job, in: plan)
    journal.append(.start(job.id, attempt: 1, files: name, definition: definition))
    journal.close()
    // The shell does what a shim does, and then kills itself.
    var shim = Command(
      shell: #"""
        read -r line </proc/self/stat; echo "$line" >"$SHIM"
        (read -r line </proc/self/stat; echo "$line" >>"$SHIM"; exec setsid sh -c "$TEXT") &
        until test -s "$DIR/old"; do sleep 0.01; done
        kill -KILL $$
        """#)
    shim.output = .discarded
    shim.environment = ["SHIM": files.shim, "TEXT": text, "DIR": scene.directory.path]
    let operation = CommandOperation(shim)
    OperationQueue(name: "shim").addOperation(operation)
    #expect(poll(for: .seconds(60), pausing: true) { operation.isFinished })
    #expect((operation.error as? CommandError)?.signal == SIGKILL)
    return directory
  }

  /// Returns the names of the operations for which a job waits.
  private static func dependencies(of index: Int, in run: FinishedRun) -> [String] {
    let operation = run.run.state.withLock { $0.jobs[index]?.operation }
    return operation?.dependencies.compactMap(\.name) ?? []
  }

  private var old: pid_t { scene.words("old").first.flatMap { pid_t($0) } ?? 0 }

  /// The text of a command that takes a moment to end after SIGTERM.
  private static let slow = #"""
    trap 'echo asked >> "$DIR/asked"; sleep 0.3; touch "$DIR/ended"; exit 0' TERM
    echo $$ > "$DIR/old"
    while :; do sleep 0.01; done
    """#
  /// The text of a command that ends after SIGTERM when the file `go` exists.
  private static let gated = #"""
    trap 'echo asked >> "$DIR/asked"; until test -e "$DIR/go" || ! test -d "$DIR"; do sleep 0.01; done
      touch "$DIR/ended"; exit 0' TERM
    echo $$ > "$DIR/old"
    while test -d "$DIR"; do sleep 0.01; done
    """#
  /// The text of a command that ignores SIGTERM.
  private static let stubborn = #"""
    trap '' TERM
    echo $$ > "$DIR/old"
    while :; do sleep 0.01; done
    """#

  @Test("RD-4: A command whose shim was killed ends before the next attempt of its job starts")
  func endsBeforeNextAttempt() throws {
    let plan = try scene.plan(
      """
        job:
          run: 'test -e "$DIR/ended" || echo x >> "$DIR/overlap"; echo "$OPQ_ATTEMPT" >> "$DIR/job"'
          grace: 1d
        other: {run: 'echo x >> "$DIR/other"'}
      """)
    let directory = try orphan(plan, Self.slow)
    let run = try scene.resumed(directory, plan)
    #expect(run.run.resumption.sentences.count == 1)
    run.start()
    run.waitForEnd()
    #expect(run.states == ["job succeeded", "other succeeded"])
    #expect(scene.words("job") == ["2"] && scene.words("overlap").isEmpty)
    #expect(scene.words("asked") == ["asked"] && scene.words("other") == ["x"])
  }

  @Test("RD-4: The job does not begin while its earlier command ends")
  func endIsNoPartOfAttempt() throws {
    let plan = try scene.plan(
      "  job: {run: 'echo \"$OPQ_ATTEMPT\" >> \"$DIR/job\"', timeout: 1m, grace: 1d}")
    let directory = try orphan(plan, Self.gated)
    let run = try scene.resumed(directory, plan)
    run.start()
    scene.waitForWords(1, in: "asked")
    #expect(Self.dependencies(of: 0, in: run) == ["end the command of job"])
    #expect(run.run.state.withLock { $0.jobs[0]?.hasBegun } == false)
    #expect(run.run.runningCount == 0 && run.run.livingCommandCount == 1)
    scene.touch("go")
    run.waitForEnd()
    #expect(run.states == ["job succeeded"] && scene.words("job") == ["2"])
  }

  @Test("RD-4: If a job is cancelled while its command ends, jobs behind it and a retry wait")
  func cancelledJob() throws {
    let plan = try scene.plan(
      """
        job: {run: 'test -e "$DIR/ended"', grace: 1d}
        clean: {run: 'test -e "$DIR/ended"', needs: [job], when: always}
      """)
    let directory = try orphan(plan, Self.gated)
    let run = try scene.resumed(directory, plan)
    run.start()
    scene.waitForWords(1, in: "asked")
    run.run.state.withLock { $0.jobs[0]?.operation }?.cancel()
    #expect(poll(for: .seconds(60), pausing: true) { run.outcome("job")?.state == .cancelled })
    #expect(Self.dependencies(of: 1, in: run).contains("end the command of job"))
    #expect(try run.run.retry(["job"]).contains("job"))
    #expect(Self.dependencies(of: 0, in: run) == ["end the command of job"])
    run.run.state.withLock { $0.jobs[0]?.operation }?.cancel()
    scene.touch("go")
    run.waitForEnd()
    #expect(run.states == ["job cancelled", "clean succeeded"])
  }

  @Test("RD-6: If the journal of the next runner cannot be written, the command continues")
  func fullDisk() throws {
    let plan = try scene.plan("  job: {run: 'echo x >> \"$DIR/job\"'}")
    let directory = try orphan(plan, Self.slow)
    var disk = RunDisk.system
    disk.write = { _, _, _ in ENOSPC }
    let run = try scene.resumed(directory, plan, disk: disk)
    run.start()
    run.waitForEnd()
    #expect(run.states == ["job cancelled"] && scene.words("job").isEmpty)
    #expect(!RunScene.hasEnded("\(old)") && scene.words("asked").isEmpty)
    run.endRunner()
    let next = try scene.resumed(directory, plan)
    next.start()
    next.waitForEnd()
    #expect(next.states == ["job succeeded"] && scene.words("asked") == ["asked"])
  }

  @Test("RD-4: The command ends before the end of the run, also if its job does not run again")
  func endsBeforeRun() throws {
    let plan = try scene.plan("  job: {run: 'true'}\n  need: {run: 'exit 1'}")
    let directory = try orphan(plan, Self.slow)
    let changed = try scene.plan(
      "  job: {run: 'true', needs: [need], grace: 1d}\n  need: {run: 'exit 1'}")
    let run = try scene.resumed(directory, changed)
    run.start()
    run.waitForEnd()
    #expect(run.states == ["job skipped", "need failed"])
    #expect(RunScene.names(in: scene.directory.path).contains("ended"))
  }

  @Test("RD-4: Cancelling the run and ending the grace periods kills the command")
  func cancelled() throws {
    let plan = try scene.plan("  job: {run: 'echo x >> \"$DIR/job\"', grace: 1d}")
    let directory = try orphan(plan, Self.stubborn)
    let run = try scene.resumed(directory, plan)
    run.start()
    #expect(run.run.livingCommandCount == 1)
    run.run.cancel(RunWasCancelled("the test ends it"))
    #expect(!run.run.isFinished && !RunScene.hasEnded("\(old)"))
    run.run.endGracePeriods()
    run.waitForEnd()
    #expect(run.states == ["job cancelled"] && scene.words("job").isEmpty)
    #expect(RunScene.hasEnded("\(old)"))
  }

  @Test("RD-4: The command of a job that must not run twice is not ended, and prevents a retry")
  func once() throws {
    let plan = try scene.plan(
      """
        deploy: {run: 'echo x >> "$DIR/deploy"', once: true}
        notify: {run: 'echo x >> "$DIR/notify"', needs: [deploy], when: always}
      """)
    let directory = try orphan(plan, Self.slow)
    let run = try scene.resumed(directory, plan)
    run.start()
    run.waitForEnd()
    #expect(run.states == ["deploy failed", "notify skipped"])
    #expect(run.outcome("deploy")?.reason?.contains("as process \(old)") == true)
    #expect(throws: RunFailure.self) { try run.run.retry(["deploy"]) }
    #expect(!RunScene.hasEnded("\(old)") && scene.words("asked").isEmpty)
    run.endRunner()
    run.run.deleteUselessFiles()
    // The next runner still finds the command.
    let next = try scene.resumed(directory, plan)
    #expect(next.run.resumption.unknownJobs.count == 1)
    try #require(old > 1)
    kill(old, SIGKILL)
    #expect(poll(for: .seconds(60), pausing: true) { RunScene.hasEnded("\(old)") })
    let last = try scene.resumed(directory, plan, retrying: ["deploy"])
    last.start()
    last.waitForEnd()
    #expect(last.states == ["deploy succeeded", "notify succeeded"])
  }

  @Test("RD-4: A retry of a living run starts no job behind a job whose command may still run")
  func unknownNeed() throws {
    let plan = try scene.plan(
      """
        unknown: {run: 'true'}
        merge: {run: 'test -e "$DIR/fixed"'}
        notify: {run: 'echo x >> "$DIR/notify"', needs: [unknown, merge], when: always}
        undo: {run: 'echo x >> "$DIR/undo"', needs: [unknown, merge], when: failure}
        good: {run: 'echo x >> "$DIR/good"', needs: [merge], when: always}
      """)
    let directory = try scene.runDirectory(plan)
    let (name, files) = directory.files(ofJob: 1, id: "unknown", attempt: 1)
    let journal = try RunJournal(appendingTo: directory)
    journal.append(.runner())
    journal.append(
      .start("unknown", attempt: 1, files: name, definition: JobDefinition.texts(of: plan)[0]))
    journal.close()
    // A directory cannot be read as a file.
    #expect(mkdir(files.shim, 0o700) == 0)
    let run = try scene.resumed(directory, plan)
    run.start()
    run.waitForEnd()
    let states = ["unknown failed", "merge failed", "notify skipped", "undo skipped"]
    #expect(run.states == states + ["good succeeded"])
    #expect(try run.run.retry(["merge"]) == ["merge", "notify", "undo", "good"])
    run.waitForEnd(2)
    #expect(run.states == states + ["good succeeded"])
    let sentence = "notify was skipped: it is not known if a job that it needs still runs"
    #expect(run.outcome("notify")?.sentence(for: "notify") == sentence)
    #expect(scene.words("notify").isEmpty && scene.words("undo").isEmpty)
    #expect(scene.words("good").count == 2)
  }
}

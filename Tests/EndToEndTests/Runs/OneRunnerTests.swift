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

/// Tests of several processes that use the same run, and of data that belongs to another process or time.
@Suite("One runner at a time", .timeLimit(.minutes(10)), .onOwnThread)
struct OneRunnerTests {
  private static let jobs = """
      held: {run: 'echo "held $OPQ_ATTEMPT" >> "$DIR/ran"; \(StoredRunScene.hold())'}
      last: {run: 'echo last >> "$DIR/ran"', needs: [held]}
    """

  /// Starts a run, and kills its runner while the first job runs.
  private func killedRun(in scene: StoredRunScene) throws -> StoredRun {
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "held 1", in: "ran"), "\(runner.errors)")
    runner.kill()
    return try scene.onlyRun()
  }

  @Test("RD-11: Of several resumes at once, one runs the jobs, and the others name it")
  func severalResumes() throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try killedRun(in: scene)
    let programs = try (1...4).map { _ in try scene.start(["run", "--resume", "--batch", run.id]) }
    #expect(scene.wait { run.records("runner").count == 2 })
    let runner = try #require(run.runner)
    for program in programs where program.window.child != runner {
      #expect(program.end() == .status(2))
      program.expectSentence("the run \(run.id) is already running (process \(runner))")
      #expect(program.output == "")
    }
    try scene.open()
    let winner = try #require(programs.first { $0.window.child == runner })
    #expect(winner.end() == .status(0), "\(winner.errors)")
    #expect(scene.lines("ran") == ["held 1", "last"])
    #expect(run.records("runner").count == 2)
  }

  @Test("RD-11: A run that is alive is not resumed, and its files stay as they are")
  func livingRun() throws {
    let scene = try StoredRunScene(Self.jobs)
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "held 1", in: "ran"), "\(runner.errors)")
    let run = try scene.onlyRun()
    let (journal, plan) = (run.contents("journal.jsonl"), run.contents("plan.json"))
    for arguments in [[], [run.id], ["--dry-run"]] {
      let resumed = try scene.run(["run", "--resume", "--batch"] + arguments)
      #expect(resumed.ending == .status(2))
      resumed.expectSentence("already running")
    }
    #expect(run.contents("journal.jsonl") == journal && run.contents("plan.json") == plan)
    try scene.open()
    #expect(runner.end() == .status(0))
  }

  @Test("RD-11: A second run of the same file is another run")
  func secondRun() throws {
    let scene = try StoredRunScene(
      "  only: {run: 'echo \"$OPQ_RUN\" >> \"$DIR/ran\"; \(StoredRunScene.hold())'}")
    let programs = try (1...2).map { _ in try scene.start(["run", "--batch", scene.file]) }
    #expect(scene.wait { scene.lines("ran").count == 2 })
    #expect(Set(scene.lines("ran")) == Set(scene.runs.map(\.id)))
    try scene.open()
    for program in programs { #expect(program.end() == .status(0)) }
  }

  @Test("RD-4: Times in the future change nothing")
  func clockSetBack() throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try killedRun(in: scene)
    // The clock was set back by ten years after these records.
    let moved = run.journalLines.map { line in
      String(line).replacing(#/"time":([0-9]+)/#) { match in
        "\"time\":\((Int64(match.1) ?? 0) + 315_000_000_000_000_000)"
      } + "\n"
    }
    try moved.joined().write(toFile: run.file("journal.jsonl"), atomically: true, encoding: .utf8)
    let request = run.contents("request.json").replacing(#/"created":[0-9]+/#) { _ in
      "\"created\":4000000000000000000"
    }
    try request.write(toFile: run.file("request.json"), atomically: true, encoding: .utf8)
    try scene.open()
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(0), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["held 1", "last"])
    let list = try scene.run(["runs"])
    #expect(list.ending == .status(0) && list.output.contains(run.id))
    // No time is shown as negative.
    #expect(!resumed.output.contains(" -") && !list.output.contains(#/\s-[0-9]/#), "\(list.output)")
  }

  @Test("RD-4: A process id that another process has now is not taken for a job or a runner")
  func reusedProcess() throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try killedRun(in: scene)
    let shim = try #require(run.shim(of: "held"))
    let group = try #require(run.group(of: "held"))
    #expect(kill(shim, SIGKILL) == 0 && kill(-group, SIGKILL) == 0)
    #expect(scene.wait { !StoredRunScene.isAlive(shim) && !StoredRunScene.isAlive(group) })
    // A process that does not belong to the run has the ids of the shim, the group and the runner.
    let other = try PseudoTerminal()
    try other.start("/bin/sleep", ["600"])
    let process = try #require(other.child)
    let base = try #require(run.base(of: "held"))
    let identities = run.contents("\(base).shim")
      .replacing("\(shim)", with: "\(process)").replacing("\(group)", with: "\(process)")
    try overwrite(run.file("\(base).shim"), with: identities)
    try overwrite(run.file("lock"), with: "\(process)\n")
    try scene.open()
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(0), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["held 1", "held 2", "last"])
    #expect(StoredRunScene.isAlive(process))
    other.signal(SIGKILL)
    _ = other.waitForEnd()
  }

  @Test("RD-4: If the lock of a shim is held by an unknown process, the job does not run again")
  func unknownShim() throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try killedRun(in: scene)
    let shim = try #require(run.shim(of: "held"))
    let group = try #require(run.group(of: "held"))
    #expect(kill(shim, SIGKILL) == 0 && kill(-group, SIGKILL) == 0)
    #expect(scene.wait { !StoredRunScene.isAlive(shim) && !StoredRunScene.isAlive(group) })
    let other = try PseudoTerminal()
    try other.start("/bin/sleep", ["600"])
    let process = try #require(other.child)
    let base = try #require(run.base(of: "held"))
    let path = run.file("\(base).shim")
    // The start time in the file is not the one of the process with this id.
    try overwrite(path, with: run.contents("\(base).shim").replacing("\(shim)", with: "\(process)"))
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    try scene.open()
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(1), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["held 1"])
    #expect(resumed.output.contains("held: it is not known"), "\(resumed.output)")
    #expect(StoredRunScene.isAlive(process))
    other.signal(SIGKILL)
    _ = other.waitForEnd()
    // The next resume examines the job again. Without the lock, it is lost.
    #expect(flock(descriptor, LOCK_UN) == 0)
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran") == ["held 1", "held 2", "last"])
  }

  /// Replaces the contents of a file, which stays the same file.
  private func overwrite(_ path: String, with text: String) throws {
    let file = try #require(FileHandle(forWritingAtPath: path))
    defer { try? file.close() }
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
  }
}

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

/// Tests of run directories that cannot be written, and of files that are damaged.
@Suite("Damaged run directories", .timeLimit(.minutes(10)), .onOwnThread)
struct DamageTests {
  private static let jobs = """
      first: {run: 'echo first >> "$DIR/ran"'}
      held:
        run: 'echo "held $OPQ_ATTEMPT" >> "$DIR/ran"; \(StoredRunScene.hold())'
        needs: [first]
      last: {run: 'echo last >> "$DIR/ran"', needs: [held]}
    """

  /// Starts a run, kills its runner while the second job runs, and waits until this job has ended by itself.
  private func endedJob(in scene: StoredRunScene) throws -> StoredRun {
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "held 1", in: "ran"), "\(runner.errors)")
    runner.kill()
    let run = try scene.onlyRun()
    try scene.open()
    let shim = try #require(run.shim(of: "held"))
    #expect(scene.wait { run.status(of: "held") == 0 && !StoredRunScene.isAlive(shim) })
    return run
  }

  private func append(_ text: String, to path: String) throws {
    let file = try #require(FileHandle(forWritingAtPath: path))
    defer { try? file.close() }
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
  }

  @Test("RD-6: A last line of the journal that is not complete is dropped")
  func tornLine() throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try endedJob(in: scene)
    try append(#"{"attempt":1,"event":"end","job":"held","sta"#, to: run.file("journal.jsonl"))
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(0), "\(resumed.errors)")
    #expect(resumed.errors.split(separator: "\n").count <= 1)
    #expect(scene.lines("ran") == ["first", "held 1", "last"])
    #expect(try run.records().last?.event == "finish")
  }

  @Test("RD-6: If the record of an end is torn, the status file is taken")
  func tornEnd() throws {
    let scene = try StoredRunScene(Self.jobs)
    try scene.open()
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(0))
    let run = try scene.onlyRun()
    let lines = run.journalLines
    let index = try #require(lines.firstIndex { $0.contains("\"end\"") && $0.contains("\"held\"") })
    let kept = lines[..<index].map { "\($0)\n" }.joined() + lines[index].dropLast(9)
    try kept.write(toFile: run.file("journal.jsonl"), atomically: true, encoding: .utf8)
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(0), "\(resumed.errors)")
    // The end of `first` is recorded. The status of `held` is in its file. The start of `last` was cut off.
    #expect(scene.lines("ran") == ["first", "held 1", "last", "last"])
    #expect(run.records("start", of: "held").count == 1)
  }

  @Test("RD-6: Another damaged line of the journal is named, and nothing runs")
  func damagedLine() throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try endedJob(in: scene)
    var lines = run.journalLines.map { String($0) }
    lines[1] = "no record"
    try lines.map { "\($0)\n" }.joined().write(
      toFile: run.file("journal.jsonl"), atomically: true, encoding: .utf8)
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(2))
    resumed.expectSentence("journal.jsonl", "line 2")
    #expect(scene.lines("ran") == ["first", "held 1"])
    #expect(run.journalLines.map { String($0) } == lines)
  }

  @Test("RD-4, RD-6: Without its status file, only a job whose end is not recorded runs again")
  func deletedStatus() throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try endedJob(in: scene)
    for job in ["first", "held"] {
      let base = try #require(run.base(of: job))
      try? FileManager.default.removeItem(atPath: run.file("\(base).status"))
    }
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(0), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["first", "held 1", "held 2", "last"])
    #expect((resumed.output + resumed.errors).contains("held"))
  }

  @Test(
    "RD-6: A status file without a number counts as missing",
    arguments: ["", "x\n", "12 3\n", "999\n"])
  func damagedStatus(text: String) throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try endedJob(in: scene)
    let base = try #require(run.base(of: "held"))
    try text.write(toFile: run.file("\(base).status"), atomically: true, encoding: .utf8)
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran") == ["first", "held 1", "held 2", "last"])
  }

  @Test(
    "RD-6: Missing and damaged files of a run are one sentence",
    arguments: ["request.json", "journal.jsonl"])
  func missingFile(name: String) throws {
    let scene = try StoredRunScene(Self.jobs)
    let run = try endedJob(in: scene)
    try "no JSON\n".write(toFile: run.file(name), atomically: true, encoding: .utf8)
    let damaged = try scene.run(["run", "--resume", "--batch", run.id])
    #expect(damaged.ending == .status(2))
    damaged.expectSentence(name)
    try FileManager.default.removeItem(atPath: run.file(name))
    let missing = try scene.run(["run", "--resume", "--batch", run.id])
    #expect(missing.ending == .status(2))
    missing.expectSentence(name)
    #expect(scene.lines("ran") == ["first", "held 1"])
  }

  @Test(
    "RD-6: The superuser cannot resume the run of another user, and creates no file in it",
    .enabled(if: geteuid() == 0))
  func otherUser() throws {
    let scene = try StoredRunScene("  first: {run: 'exit 1'}")
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    let run = try scene.onlyRun()
    try FileManager.default.removeItem(atPath: run.file("lock"))
    #expect(chown(run.path, 65_534, 65_534) == 0)
    for command in [["run", "--resume", run.path], ["retry", "first", "--run", run.path]] {
      let refused = try scene.run(command + ["--batch"])
      #expect(refused.ending == .status(2))
      refused.expectSentence("belongs to user 65534")
    }
    #expect(!FileManager.default.fileExists(atPath: run.file("lock")))
  }

  @Test("RD-6: A run that does not exist is one sentence with the nearest name, and the status 3")
  func unknownRun() throws {
    let scene = try StoredRunScene("  first: {run: 'true'}")
    let none = try scene.run(["run", "--resume", "--batch"])
    #expect(none.ending == .status(3))
    none.expectSentence("there are no runs in")
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(0))
    let run = try scene.onlyRun()
    let wrong = try scene.run(["run", "--resume", "--batch", "\(run.id.dropLast())!"])
    #expect(wrong.ending == .status(3))
    wrong.expectSentence(run.id)
    let dry = try scene.run(["run", "--resume", "--dry-run", "19990101"])
    #expect(dry.ending == .status(3))
    dry.expectSentence("there is no run \"19990101\"")
  }
}

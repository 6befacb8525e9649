// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of resumes after a change of the job file.
@Suite("Changed jobs", .timeLimit(.minutes(10)), .onOwnThread)
struct ChangedJobTests {
  private static func jobs(b: String = "true", once: String = "true", more: String = "") -> String {
    """
      a: {run: 'echo a >> "$DIR/ran"'}
      b: {run: 'echo b >> "$DIR/ran"; \(b)', needs: [a]}
      c: {run: 'echo c >> "$DIR/ran"', needs: [b]}
      d: {run: 'echo d >> "$DIR/ran"', needs: [a]}
      e: {run: 'echo e >> "$DIR/ran"', needs: [c], when: always}
      once: {run: 'echo once >> "$DIR/ran"; \(once)', once: true}
      \(more)
    """
  }

  /// Runs the jobs, and forgets what they have written.
  private func finishedRun(in scene: StoredRunScene) throws -> StoredRun {
    let first = try scene.run(["run", "--batch", scene.file])
    #expect(first.ending == .status(0), "\(first.errors)")
    #expect(Set(scene.lines("ran")) == ["a", "b", "c", "d", "e", "once"])
    try FileManager.default.removeItem(atPath: scene.scene.file("ran"))
    return try scene.onlyRun()
  }

  @Test("RD-7: A changed job runs again with all that depends on it, and a dry run says so")
  func changedJob() throws {
    let scene = try StoredRunScene(Self.jobs())
    let run = try finishedRun(in: scene)
    let journal = run.contents("journal.jsonl")
    try scene.write(Self.jobs(b: "echo changed"))
    let said = try scene.run(["run", "--resume", "--dry-run"])
    #expect(said.ending == .status(0), "\(said.errors)")
    #expect(said.output.contains("b has changed, and runs again"), "\(said.output)")
    for job in ["b", "c", "e"] {
      let lines = said.output.split(separator: "\n").filter { line in
        line.split { !$0.isLetter }.contains(job[...])
      }
      #expect(lines.contains { $0.contains("again") }, "\(said.output)")
    }
    #expect(scene.lines("ran") == [] && run.contents("journal.jsonl") == journal)
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(0), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["b", "c", "e"])
    #expect(run.records("start", of: "b").map(\.attempt) == [1, 2])
    #expect(resumed.output.contains("6 jobs: 6 succeeded"))
    // The new definition is recorded, so the next resume has nothing to do.
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran") == ["b", "c", "e"])
    let definitions = run.records("start", of: "b").compactMap(\.definition)
    #expect(definitions.count == 2 && Set(definitions).count == 2)
  }

  @Test("RD-7: Without a change, no job runs again, also after a change that is no change")
  func unchangedJobs() throws {
    let scene = try StoredRunScene(Self.jobs())
    let run = try finishedRun(in: scene)
    try scene.write(Self.jobs(), head: "# A comment\nqueues: {default: {width: 1}}")
    let said = try scene.run(["run", "--resume", "--dry-run"])
    #expect(said.ending == .status(0) && !said.output.contains("again"), "\(said.output)")
    #expect(try scene.run(["run", "--resume", "--batch"]).ending == .status(0))
    #expect(scene.lines("ran") == [] && run.records("start").count == 6)
  }

  @Test("RD-7: A changed job that must not run twice waits until it is retried")
  func changedOnceJob() throws {
    let scene = try StoredRunScene(Self.jobs())
    let run = try finishedRun(in: scene)
    try scene.write(Self.jobs(once: "echo changed"))
    let said = try scene.run(["run", "--resume", "--dry-run"])
    #expect(said.output.contains("once") && said.output.contains("retry"), "\(said.output)")
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(1), "\(resumed.errors)")
    #expect(scene.lines("ran") == [] && run.end(of: "once")?.waits == true)
    #expect(try scene.run(["retry", "once"]).ending == .status(0))
    #expect(scene.lines("ran") == ["once"])
  }

  @Test("RD-7: New jobs run, and removed jobs are no longer part of the run")
  func newAndRemovedJobs() throws {
    let scene = try StoredRunScene(Self.jobs())
    let run = try finishedRun(in: scene)
    let jobs = Self.jobs(more: "f: {run: 'echo f >> \"$DIR/ran\"', needs: [b]}")
    try scene.write(
      jobs.split(separator: "\n").filter { !$0.hasPrefix("  d:") }.joined(separator: "\n"))
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(0), "\(resumed.errors)")
    #expect(scene.lines("ran") == ["f"])
    #expect(resumed.output.contains("6 jobs: 6 succeeded"), "\(resumed.output)")
    #expect(!run.contents("plan.json").contains("\"id\":\"d\""))
  }

  @Test("RD-7: A mistake in the changed file is one sentence, and nothing runs")
  func mistakeInChangedFile() throws {
    let scene = try StoredRunScene(Self.jobs())
    let run = try finishedRun(in: scene)
    let plan = run.contents("plan.json")
    try scene.write("  a: {rnu: 'true'}")
    let resumed = try scene.run(["run", "--resume", "--batch"])
    #expect(resumed.ending == .status(2))
    resumed.expectSentence("the unknown key \"rnu\"")
    #expect(scene.lines("ran") == [] && run.contents("plan.json") == plan)
  }

  @Test("RD-1, RD-7: A run of standard input is resumed from its copy", arguments: [false, true])
  func standardInput(isLines: Bool) throws {
    let scene = try StoredRunScene("  unused: {run: 'false'}")
    let command = "echo ran >> '\(scene.directory)/ran'; test -e '\(scene.directory)/go'"
    try (isLines ? "\(command)\n" : "jobs:\n  job:\n    run: |\n      \(command)\n").write(
      toFile: scene.scene.file("input"), atomically: true, encoding: .utf8)
    let options = isLines ? ["--lines", "-"] : ["-"]
    let words = (["run", "--batch"] + options).joined(separator: " ")
    let script = "cd \"$1\" && exec \"$0\" \(words) <input"
    #expect(
      try scene.scene.run(["-c", script, BuiltProgram.path, scene.directory], of: "/bin/sh")
        == .status(1))
    try FileManager.default.removeItem(atPath: scene.scene.file("input"))
    let run = try scene.onlyRun()
    #expect(run.contents("input").contains(command))
    try scene.open()
    let job = isLines ? "line-1" : "job"
    #expect(try scene.run(["retry", job]).ending == .status(0))
    #expect(scene.lines("ran") == ["ran", "ran"])
  }
}

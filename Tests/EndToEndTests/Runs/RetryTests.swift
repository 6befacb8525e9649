// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests of `opq-top retry`.
@Suite("Retrying jobs", .timeLimit(.minutes(10)), .onOwnThread)
struct RetryTests {
  private static func jobs(_ more: String = "") -> String {
    """
      good: {run: 'echo good >> "$DIR/ran"'}
      broken: {run: 'echo broken >> "$DIR/ran"; test -e "$DIR/repaired"', needs: [good]}
      skipped: {run: 'echo skipped >> "$DIR/ran"', needs: [broken]}
      behind: {run: 'echo behind >> "$DIR/ran"', needs: [skipped]}
      always: {run: 'echo "always $OPQ_RESULT" >> "$DIR/ran"', needs: [behind], when: always}
      other: {run: 'echo other >> "$DIR/ran"; exit 3'}
      unneeded: {run: 'echo unneeded >> "$DIR/ran"', needs: [other], when: always}
      \(more)
    """
  }

  /// Forgets what the jobs have written.
  private func forget(in scene: StoredRunScene) throws {
    try FileManager.default.removeItem(atPath: scene.scene.file("ran"))
  }

  @Test("RD-5: A retried job runs with what was skipped because of it and always behind it")
  func finishedRun() throws {
    let scene = try StoredRunScene(Self.jobs())
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    let run = try scene.onlyRun()
    try forget(in: scene)
    try scene.open("repaired")
    let retried = try scene.run(["retry", "broken", "--run", run.id])
    // The job `other` has still failed.
    #expect(retried.ending == .status(1), "\(retried.errors)")
    #expect(scene.lines("ran") == ["broken", "skipped", "behind", "always success"])
    let jobs = try #require(run.records("retry").first?.jobs)
    #expect(Set(jobs) == ["broken", "skipped", "behind", "always"])
    #expect(run.records("start", of: "broken").map(\.attempt) == [1, 2])
    #expect(run.end(of: "other")?.state == "failed" && run.records("start", of: "good").count == 1)
    #expect(retried.output.contains("7 jobs: 6 succeeded, 1 failed"), "\(retried.output)")
  }

  @Test("RD-5: A job is retried in the runner that is alive")
  func livingRun() throws {
    let scene = try StoredRunScene(
      Self.jobs("held: {run: 'echo held >> \"$DIR/ran\"; \(StoredRunScene.hold())'}"),
      head: "queues: {default: {width: 4}}")
    let runner = try scene.start(["run", "--batch", scene.file])
    #expect(scene.wait(for: "held", in: "ran"))
    let run = try scene.onlyRun()
    #expect(scene.wait { run.end(of: "always") != nil && run.end(of: "unneeded") != nil })
    #expect(scene.lines("ran").contains("always skipped"))
    try forget(in: scene)
    try scene.open("repaired")
    let retried = try scene.run(["retry", "broken"])
    #expect(retried.ending == .status(0), "\(retried.errors)")
    #expect(scene.wait(for: "always success", in: "ran"))
    #expect(scene.lines("ran") == ["broken", "skipped", "behind", "always success"])
    try scene.open()
    #expect(runner.end() == .status(1))
    #expect(run.records("runner").count == 1)
    #expect(runner.output.contains("8 jobs: 7 succeeded, 1 failed"), "\(runner.output)")
    #expect(runner.lines.contains("retried   broken") && runner.lines.contains("retried   skipped"))
  }

  @Test(
    "RD-5: Only a job that has failed, was cancelled or waits is retried",
    arguments: [
      ("good", "succeeded"), ("skipped", "broken"), ("brokn", "broken"),
    ])
  func refusals(job: String, word: String) throws {
    let scene = try StoredRunScene(Self.jobs())
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    let run = try scene.onlyRun()
    let journal = run.contents("journal.jsonl")
    try forget(in: scene)
    let refused = try scene.run(["retry", job])
    #expect(refused.ending == .status(1))
    refused.expectSentence(job, word)
    #expect(scene.lines("ran") == [] && run.records("retry").isEmpty)
    #expect(run.contents("journal.jsonl") == journal)
  }

  @Test("RD-5: Without a runner, one refused job refuses the retry, and each refusal is a line")
  func severalJobs() throws {
    let scene = try StoredRunScene(Self.jobs())
    #expect(try scene.run(["run", "--batch", scene.file]).ending == .status(1))
    let run = try scene.onlyRun()
    let journal = run.contents("journal.jsonl")
    try forget(in: scene)
    let refused = try scene.run(["retry", "broken", "good", "nonesuch", "skipped"])
    #expect(refused.ending == .status(1) && refused.output.isEmpty, "\(refused.output)")
    let lines = refused.errors.split(separator: "\n")
    #expect(lines.count == 2, "\(refused.errors)")
    // The job "skipped" can run together with "broken".
    for (line, name) in zip(lines, ["good", "nonesuch"]) {
      #expect(line.hasPrefix("opq-top: ") && line.contains(name))
    }
    #expect(scene.lines("ran") == [] && run.contents("journal.jsonl") == journal)
  }
}

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

/// A test that kills the runners of one run at random moments.
@Suite("Runners that are killed", .timeLimit(.minutes(10)), .onOwnThread)
struct KilledRunnerTests {
  /// The number of jobs, without the last one.
  private static let jobCount = 200

  /// A random graph of jobs that write to the file `ran` when they start.
  private struct Graph {
    var jobs = ""
    /// The expected state of each job.
    var states: [String: String] = [:]

    init(_ random: inout SeededGenerator) {
      for number in 1...jobCount {
        let first = max(1, number - 40)
        let needs = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
          first < number ? Int.random(in: first..<number, using: &random) : nil
        }
        let isBroken = Int.random(in: 0..<40, using: &random) == 0
        let pause = Int.random(in: 0..<4, using: &random) == 0 ? "sleep 0.02; " : ""
        let list = Set(needs).sorted().map { "j\($0)" }
        let command = "echo \"$OPQ_JOB\" >> \"$DIR/ran\"; \(pause)exit \(isBroken ? 3 : 0)"
        jobs += "  j\(number): {run: '\(command)', needs: [\(list.joined(separator: ", "))]}\n"
        let isSkipped = list.contains { states[$0] != "succeeded" }
        states["j\(number)"] = isSkipped ? "skipped" : isBroken ? "failed" : "succeeded"
      }
      // The run cannot end before the test opens the gate.
      let all = (1...jobCount).map { "j\($0)" }.joined(separator: ", ")
      jobs += "  last: {run: 'echo last >> \"$DIR/ran\"; \(StoredRunScene.hold())', "
      jobs += "needs: [\(all)], when: always}\n"
      states["last"] = "succeeded"
    }
  }

  @Test("RD-1, RD-4: No job that has succeeded runs again, wherever runners are killed")
  func randomMoments() throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let graph = Graph(&random)
    let scene = try StoredRunScene(graph.jobs, head: "queues: {default: {width: 3}}")
    let killCount = Effort.scaled(50)
    // On average, three quarters of the records are written when the last runner is killed.
    let most = 3 * Self.jobCount / killCount
    for number in 1...killCount {
      let arguments =
        number == 1 ? ["run", "--batch", scene.file] : ["run", "--resume", "--batch"]
      let target =
        (scene.runs.first?.journalLines.count ?? 0) + Int.random(in: 0...most, using: &random)
      let runner = try scene.start(arguments)
      // The first runner creates the run. The others can be killed before they have written a record.
      let isThere = scene.wait(every: 500) {
        guard let run = scene.runs.first, run.journalLines.count >= max(1, target) else {
          return scene.lines("ran").contains("last")
        }
        return true
      }
      #expect(isThere, "\(runner.errors)")
      usleep(UInt32.random(in: 0..<4_000, using: &random))
      runner.kill()
    }
    try scene.open()
    let finisher = try scene.start(["run", "--resume", "--batch"])
    #expect(finisher.end(within: 240) == .status(graph.states.values.contains("failed") ? 1 : 0))
    try expectEnd(graph, of: try scene.onlyRun(), in: scene)
  }

  private func expectEnd(_ graph: Graph, of run: StoredRun, in scene: StoredRunScene) throws {
    let records = try run.records()
    #expect(records.last?.event == "finish")
    var ended: [String: String] = [:]
    for record in records {
      guard let job = record.job else { continue }
      if record.event == "start" {
        #expect(ended[job] == nil, "\(job) starts again although it is \(ended[job] ?? "")")
      }
      if record.event == "end" { ended[job] = record.state }
    }
    for (job, state) in graph.states where ended[job] != state {
      Issue.record("\(job) is \(ended[job] ?? "not recorded"), and not \(state)")
    }
    // No shim was killed, so no command that has begun was lost.
    let ran = Dictionary(grouping: scene.lines("ran")) { $0 }.mapValues(\.count)
    let expected = graph.states.filter { $0.value != "skipped" }.mapValues { _ in 1 }
    #expect(ran == expected)
    print(
      "\(records.count { $0.event == "runner" }) runners, \(records.count) records, "
        + "\(records.count { ($0.attempt ?? 0) > 1 && $0.event == "start" }) starts after a lost one"
    )
  }
}

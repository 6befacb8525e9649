// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// A test that compares the report of a run with its journal.
@Suite("The report and the journal of a run", .timeLimit(.minutes(10)), .onOwnThread)
struct RunReportTests {
  private static let needs = [
    "start": [], "slow": ["start"], "fast": ["start"], "middle": ["fast"],
    "join": ["slow", "middle"],
    "side": ["fast"], "end": ["join", "side"],
  ]

  /// Returns a command that waits until the end of another job is in the journal.
  private static func after(_ job: String) -> String {
    #"until grep -qs "\"event\":\"end\",\"job\":\"\#(job)\"" "$DIR"/.opq/runs/*/journal.jsonl"#
      + #" || ! test -d "$DIR"; do sleep 0.02; done"#
  }

  /// The order of the ends does not depend on times: `slow` ends after `middle`, and `join` after `side`.
  private static func jobs() -> String {
    let commands = ["slow": after("middle"), "join": after("side")]
    return needs.keys.sorted().map { job in
      let list = needs[job, default: []].joined(separator: ", ")
      return "  \(job): {run: '\(commands[job] ?? "true")', needs: [\(list)]}"
    }.joined(separator: "\n")
  }

  /// Returns the chain of jobs that ends with the last job. Each one is the need of the next one that ended last.
  private func path(in run: StoredRun) throws -> [String] {
    let ends = Dictionary(
      run.records("end").compactMap { record in record.job.map { ($0, record.time) } }
    ) { $1 }
    #expect(ends.count == Self.needs.count)
    var path: [String] = []
    var next = ends.max { $0.value < $1.value }?.key
    while let job = next {
      path.insert(job, at: 0)
      next = Self.needs[job, default: []].max { ends[$0, default: 0] < ends[$1, default: 0] }
    }
    return path
  }

  @Test("RD-1, RD-10: The critical path of the report is the one of the journal")
  func criticalPath() throws {
    let scene = try StoredRunScene(Self.jobs(), head: "queues: {default: {width: 4}}")
    let recording = scene.scene.file("run.opq")
    let recorded = try scene.run(
      ["record", "-o", recording, "--", BuiltProgram.path, "run", "--batch", scene.file])
    #expect(recorded.ending == .status(0), "\(recorded.errors)")
    let path = try path(in: try scene.onlyRun())
    #expect(path == ["start", "slow", "join", "end"])
    // The columns that the test reads contain no quotation marks.
    let export = try scene.run(["export", recording, "--format", "csv"]).output
    let rows = export.split(whereSeparator: \.isNewline).map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    let header = try #require(rows.first)
    let name = try #require(header.firstIndex(of: "name"))
    let isOnPath = try #require(header.firstIndex(of: "on_critical_path"))
    let finished = try #require(header.firstIndex(of: "finished"))
    let marked = rows.dropFirst().filter {
      $0[isOnPath] == "true" && Self.needs["\($0[name])"] != nil
    }
    let ordered = marked.sorted { (Double($0[finished]) ?? 0) < (Double($1[finished]) ?? 0) }
    #expect(ordered.map { String($0[name]) } == path)
    let report = try scene.run(["report", recording]).output
    #expect(Self.path(inReport: report) == path)
  }

  /// Returns the jobs in the table of a report's section about the critical path, in order.
  private static func path(inReport html: String) -> [String] {
    guard let begin = html.range(of: "<section id=\"path\">") else { return [] }
    let section = html[begin.upperBound...]
    let end = section.range(of: "</section>")?.lowerBound ?? section.endIndex
    return section[..<end].matches(of: #/<tr><td class="id">[^<]*</td><td>([^<]*)</td>/#)
      .map { String($0.1) }.filter { needs[$0] != nil }
  }
}

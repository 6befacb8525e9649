// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import RunAnalysis

/// Tests of the files that are written for other programs. The script .ci/check-readers checks that
/// these programs can read the files.
@Suite("Exports of a recording") struct ExportTests {
  @Test("A table has a line for each operation, with its times, in the form of RFC 4180")
  func csv() throws {
    let lines = try ExportScene.text(.csv).components(separatedBy: "\r\n")
    let name = #""""a"", <b onload='x'>&amp;\n\x1b[2J\\ \u202e""#
    #expect(
      lines == [
        "id,name,class,queue,state,priority,added,ready,started,cancel_requested,finished,"
          + "dependency_wait_seconds,slot_wait_seconds,work_seconds,on_critical_path,dependencies,error,cancellation,kind,attempts,progress,status",
        "1,\(name),Fetch,\(name),finished,0,0.000000000,0.000000000,0.500000000,,1.000000000,"
          + "0.000000000,0.500000000,0.500000000,true,,,,Fetch,,,",
        "2,,Parse,\(name),cancelled,4,0.000000000,1.000000000,1.250000000,1.500000000,2.000000000,"
          + "1.000000000,0.250000000,0.750000000,true,\"1 9\",,,Parse,,,",
        "3,poll,Poll,io,executing,0,,,2.000000000,,,,,,false,2,,,Poll,,,", "",
      ])
  }

  @Test("Each format has the state and the error of a failed operation, as text")
  func failures() throws {
    var reports = ExportScene.failures(3)
    reports[0].progress = OperationProgress(
      completed: 7, total: 9, base: 0, since: ExportScene.time(1))
    reports[0].statusText = "=reading"
    let history = try ExportScene.history(ExportScene.bytes(reports))
    func text(_ format: ExportFormat) -> String {
      var text = ""
      format.export(ExportedRun(history)).write { text += $0 }
      return text
    }
    let lines = text(.csv).components(separatedBy: "\r\n")
    #expect(lines[1].contains(",failed,"))
    #expect(lines[1].hasSuffix(#","disk full",,Fetch,,7/9,"'=reading""#))
    #expect(lines[2].hasSuffix(#","'=1 ""a"", <b onload='x'>&amp;\n\x1b[2J\\ \u202e",,Fetch,,,"#))
    let dot = text(.dot)
    #expect(dot.contains(##"Fetch · failed · 501ms\ndisk full", fillcolor="#ffcdd2""##))
    let trace = text(.chromeTrace)
    #expect(!(dot + trace).unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
    let facts = try events(of: trace).compactMap { $0["args"] as? [String: Any] }
    #expect(
      facts.contains { $0["state"] as? String == "failed" && $0["error"] as? String == "disk full" }
    )
    #expect(
      facts.contains { $0["progress"] as? String == "7/9" && $0["status"] as? String == "=reading" }
    )
  }

  @Test("Each format has what cancelled an operation, also if the filter excludes the origin")
  func cancellations() throws {
    var reports = ExportScene.failures(1)
    var report = OperationReport(
      id: .init(7), name: "file 7", className: "Fetch", queue: .init(1), state: .cancelled,
      added: ExportScene.time(1), becameReady: ExportScene.time(1),
      started: ExportScene.time(1.5), finished: ExportScene.time(3))
    report.cancellationCause = .dependency(.init(1))
    reports.append(report)
    let history = try ExportScene.history(ExportScene.bytes(reports))
    let run = ExportedRun(history, filter: try OperationFilter("state:cancelled"))
    func text(_ format: ExportFormat) -> String {
      var text = ""
      format.export(run).write { text += $0 }
      return text
    }
    let sentence = "cancelled because #1 “file 1” failed: disk full"
    let lines = text(.csv).components(separatedBy: "\r\n")
    #expect(lines.count == 3 && lines[1].hasSuffix(",,\"\(sentence)\",Fetch,,,"))
    #expect(text(.dot).contains("\\n\(sentence)\", fillcolor=\"#f3d1f4\""))
    let facts = try events(of: text(.chromeTrace)).compactMap { $0["args"] as? [String: Any] }
    #expect(facts.contains { $0["cancellation"] as? String == sentence })
  }

  @Test("A filter selects the exported operations")
  func filters() throws {
    let lines = try ExportScene.text(.csv, filter: "queue:io").components(separatedBy: "\r\n")
    #expect(lines.count == 3 && lines[1].hasPrefix("3,poll"))
    let dot = try ExportScene.text(.dot, filter: "queue:io")
    #expect(dot.contains("  3 [") && !dot.contains("  2 [") && !dot.contains("->"))
    let trace = try events(of: ExportScene.text(.chromeTrace, filter: "queue:io"))
    let slices = trace.filter { $0["ph"] as? String == "X" && $0["pid"] as? Int != 0 }
    #expect(slices.map { $0["name"] as? String } == ["poll"])
  }

  @Test(
    "A graph has a node for each operation and an arrow for each dependency, and names are text")
  func dot() throws {
    let text = try ExportScene.text(.dot)
    let name =
      #"#1 \"a\", <b onload='x'>&amp;amp;\\n\\x1b[2J\\\\ \\u202e\nFetch · finished · 500ms"#
    #expect(text.hasPrefix("digraph operations {\n") && text.hasSuffix("}\n"))
    #expect(text.contains("  1 [label=\"\(name)\", fillcolor=\"#ffffff\", penwidth=3"))
    #expect(
      text.contains(##"  2 [label="#2 Parse\nParse · cancelled · 750ms", fillcolor="#f3d1f4""##))
    #expect(text.contains("  9 [label=\"#9\\nnot recorded\", style=\"dashed\"];\n"))
    #expect(text.contains("  1 -> 2 [penwidth=3") && text.contains("  9 -> 2;\n"))
    #expect(text.contains("  2 -> 3;\n"))
    #expect(!text.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
  }

  private func events(of text: String) throws -> [[String: Any]] {
    let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return try #require(json?["traceEvents"] as? [[String: Any]])
  }

  @Test(
    "A trace has a slice for each run, an arrow for each dependency, counters and the critical path"
  )
  func chromeTrace() throws {
    let text = try ExportScene.text(.chromeTrace)
    #expect(!text.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
    let events = try events(of: text)
    func all(_ phase: String, in process: Int? = nil) -> [[String: Any]] {
      events.filter {
        $0["ph"] as? String == phase && (process == nil || $0["pid"] as? Int == process)
      }
    }
    let first = try #require(all("X", in: 1).first)
    #expect(first["name"] as? String == ExportScene.hostile && first["cat"] as? String == "Fetch")
    #expect(first["ts"] as? Double == 500_000 && first["dur"] as? Double == 500_000)
    let facts = try #require(first["args"] as? [String: Any])
    #expect(facts["slotWaitMicroseconds"] as? Double == 500_000 && facts["id"] as? Int == 1)
    // A run that has not ended ends with the recording.
    #expect(all("X", in: 2).map { $0["dur"] as? Double } == [1_000_000])
    #expect(all("s").count == 2 && all("f").count == 2)
    #expect(
      all("s")[0]["ts"] as? Double == 999_999.999 && all("f")[0]["ts"] as? Double == 1_250_000)
    let path = all("X", in: 0).map { "\($0["cat"] as? String ?? "") \($0["dur"] as? Double ?? 0)" }
    #expect(path == ["slot wait 500000.0", "work 500000.0", "slot wait 250000.0", "work 750000.0"])
    #expect(all("C").count == 2 && all("i").map { $0["name"] as? String } == ["slow"])
    let names = all("M").compactMap { ($0["args"] as? [String: Any])?["name"] as? String }
    #expect(
      names == ["tiles[4711]", "critical path", ExportScene.hostile, "slot 1", "io", "slot 1"])
  }

  @Test(
    "Times are exact to the nanosecond, however long the machine has run", arguments: [0, 1, 4_000])
  func exactTimes(days: Int64) throws {
    let start = MonitorTime(nanoseconds: days * 86_400_000_000_000 + 1)
    let reports = (0..<500).map { (number: Int64) -> OperationReport in
      let begin = start + .nanoseconds(number * 1_001)
      return OperationReport(
        id: .init(UInt64(number + 1)), name: "n", className: "C", queue: .init(1),
        state: .finished, started: begin, finished: begin + .nanoseconds(1_001))
    }
    var writer = RecordingWriter()
    var bytes = writer.add(.hello(ReplayScene.hello)) + writer.add(.update(Update(time: start)))
    var update = Update(time: start + .seconds(1))
    update.changed = reports
    bytes += writer.add(.update(update)) + writer.finish()
    var text = ""
    ChromeTrace(ExportedRun(try ExportScene.history(bytes))).write { text += $0 }
    let slices = try events(of: text).filter {
      $0["ph"] as? String == "X" && $0["tid"] as? Int == 1
    }
    let times = slices.filter { $0["pid"] as? Int == 1 }.compactMap { $0["ts"] as? Double }
    let expected = (0..<500).map { (number: Int) -> Double in Double(number * 1_001) / 1_000 }
    #expect(times == expected)
  }

  @Test("A name that a spreadsheet would read as a formula is escaped")
  func formulas() throws {
    let reports = ["=1+1", "+1", "-1", "@SUM(1)", "'quoted", "a=1"].enumerated().map {
      index, name in
      OperationReport(
        id: .init(UInt64(index + 1)), name: name, className: "C", queue: .init(2), state: .ready)
    }
    var text = ""
    OperationsCSV(ExportedRun(try ExportScene.history(ExportScene.bytes(reports)))).write {
      text += $0
    }
    let names = text.split(separator: "\r\n").dropFirst().map { $0.split(separator: ",")[1] }
    let quoted = ["'=1+1", "'+1", "'-1", "'@SUM(1)", "''quoted"].map { "\"\($0)\"" }
    #expect(names.map(String.init) == quoted + ["a=1"])
  }

  @Test("An export is written in pieces, and completely")
  func pieces() throws {
    let reports = (1...3_000).map { number in
      OperationReport(
        id: .init(UInt64(number)), name: "tile \(number)", className: "Tile", queue: .init(1),
        state: .finished, started: ExportScene.time(1), finished: ExportScene.time(2))
    }
    let history = try ExportScene.history(ExportScene.bytes(reports))
    var count = 0
    OperationsCSV(ExportedRun(history)).write {
      count += $0.utf8.count { $0 == UInt8(ascii: "\n") }
    }
    #expect(count == 3_001)
  }
}

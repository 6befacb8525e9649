// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import MonitorTestSupport
import TestSupport
import Testing

@testable import RunAnalysis

@Suite("The page about a recording") struct ReportTests {
  @Test("It is complete, needs no other file, and a name in it is only text")
  func page() throws {
    let html = ReportPage(try ExportScene.history()).html
    for part in [
      "Critical path", "Concurrency", "Slots", "Slowest kinds of operations", "Warnings",
      "slot wait", "Fetch",
      "prefers-color-scheme: dark", "@media print", "tiles[4711]",
    ] {
      #expect(html.contains(part), "\(part)")
    }
    #expect(!html.contains("<script") && !html.contains("://") && !html.contains("src="))
    #expect(html.contains("default-src 'none'"))
    #expect(!html.contains("<b onload") && html.contains("&lt;b onload=&#39;x&#39;&gt;&amp;amp;"))
    #expect(!html.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
  }

  @Test(
    "Failures are grouped by kind and error, the most frequent first, and an error is only text")
  func failures() throws {
    let reports = ExportScene.failures(12)
    let html = ReportPage(try ExportScene.history(ExportScene.bytes(reports))).html
    let start = try #require(html.range(of: "<h2>Failures")).upperBound
    let rows = html[start...].components(separatedBy: "<tr>").dropFirst(2).prefix(2).map { $0 }
    #expect(
      rows[0].hasPrefix(
        "<td>Fetch</td><td>disk full</td><td class=\"n\">11</td>"
          + "<td>#1 file 1, #3 file 3, #4 file 4, #5 file 5, #6 file 6 and 6 more</td></tr>"))
    #expect(rows[1].hasPrefix("<td>Fetch</td><td>=1 &quot;a&quot;, &lt;b onload=&#39;x&#39;&gt;"))
    #expect(html.contains("12 failed, 0 cancelled"))
    #expect(!html.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
    #expect(ReportPage(try ExportScene.history()).html.contains("No operation failed."))
  }

  @Test("The program's own kinds are what failures and times are grouped by, and are only text")
  func kinds() throws {
    let reports = ExportScene.failures(12).map { report in
      var report = report
      report.givenKind = report.id.rawValue % 2 == 0 ? "read <b>" : "hash"
      return report
    }
    let history = try ExportScene.history(ExportScene.bytes(reports))
    let html = ReportPage(history).html
    #expect(html.contains("<td>hash</td><td>disk full</td>"))
    #expect(html.contains("<td>read &lt;b&gt;</td><td>disk full</td>"))
    #expect(!html.contains("<td>Fetch</td>"))
    let distributions = KindDistributions.slowest(of: history)
    #expect(Set(distributions.map(\.kind)).isSuperset(of: ["read <b>", "hash"]))
    func text(_ format: ExportFormat) -> String {
      var text = ""
      format.export(ExportedRun(history)).write { text += $0 }
      return text
    }
    for (text, parts) in [
      (text(.chromeTrace), ["\"cat\":\"hash\"", "\"kind\":\"hash\"", "\"class\":\"Fetch\""]),
      (text(.csv), [",kind,attempts,progress,status\r\n", "\"disk full\",,hash,,,\r\n"]),
      (text(.dot), ["\\nhash · failed"]),
    ] {
      for part in parts { #expect(text.contains(part), "\(part)") }
    }
  }

  @Test("Open tags are closed, in the right order")
  func isWellFormed() throws {
    let html = ReportPage(try ExportScene.history()).html
    var open: [Substring] = []
    for tag in html.matches(of: /<(\/?)([a-z1-6]+)[^>]*?(\/?)>/) {
      guard tag.2 != "meta", tag.3.isEmpty else { continue }
      if tag.1.isEmpty { open.append(tag.2) } else { #expect(open.popLast() == tag.2) }
    }
    #expect(open == [])
  }

  @Test("Very many runs make a page that a browser can show; 100,000 at full effort")
  func isBounded() throws {
    let count = Effort.percent >= 100 ? 100_000 : 20_000
    let reports = (1...count).map { number in
      let start = ExportScene.time(1 + Double(number) / 40_000)
      return OperationReport(
        id: .init(UInt64(number)), name: "tile \(number)", className: "Tile \(number % 500)",
        queue: .init(1), state: .finished, added: start, becameReady: start, started: start,
        finished: start + .microseconds(20 + number % 300))
    }
    let html = ReportPage(try ExportScene.history(ExportScene.bytes(reports))).html
    #expect(html.utf8.count < count * 50 && html.contains("operations</title>"))
    #expect(html.contains("475 kinds with shorter runs are not shown"))
  }

  @Test("A long chain, and very many operations at once, are drawn in time and in bounds")
  func isBoundedWhateverTheForm() throws {
    let chain = (1...20_000).map { number in
      let start = ExportScene.time(1) + .microseconds(number * 100)
      return OperationReport(
        id: .init(UInt64(number)), name: "link", className: "Link", queue: .init(1),
        state: .finished, dependencies: number > 1 ? [.init(UInt64(number - 1))] : [],
        added: ExportScene.time(1), becameReady: start, started: start,
        finished: start + .microseconds(100))
    }
    let linked = ReportPage(try ExportScene.history(ExportScene.bytes(chain))).html
    #expect(
      linked.contains("The path has 20\u{202F}000 operations. Each one waited for the previous one")
        && linked.utf8.count < 1_000_000)
    let crowd = (1...50_000).map { number in
      OperationReport(
        id: .init(UInt64(number)), name: "one of many", className: "Many", queue: .init(2),
        state: .finished, started: ExportScene.time(1) + .nanoseconds(number),
        finished: ExportScene.time(3) + .nanoseconds(number))
    }
    let crowded = ReportPage(try ExportScene.history(ExportScene.bytes(crowd))).html
    #expect(
      crowded.contains("49\u{202F}968 more slots not drawn") && crowded.utf8.count < 1_000_000)
  }

  @Test("Impossible times and numbers cause no crash, in any form", arguments: 0..<8)
  func hostileNumbers(variant: Int) throws {
    let history = try ExportScene.history(ExportScene.hostileNumbers(variant))
    #expect(ReportPage(history).html.hasSuffix("</html>\n"))
    for format in ExportFormat.allCases {
      var count = 0
      format.export(ExportedRun(history)).write { count += $0.utf8.count }
      #expect(count > 100)
    }
  }

  @Test(
    "Operations that ended before the recording began do not belong to it, nor does earlier time")
  func leavesOutThePast() throws {
    let old = OperationReport(
      id: .init(1), name: "old", className: "Old", queue: .init(1), state: .finished,
      started: ExportScene.time(-36_000), finished: ExportScene.time(0.5))
    let long = OperationReport(
      id: .init(2), name: "long", className: "Long", queue: .init(1), state: .finished,
      dependencies: [.init(1)], added: ExportScene.time(-36_000),
      becameReady: ExportScene.time(-18_000), started: ExportScene.time(-18_000),
      finished: ExportScene.time(2))
    var running = long
    (running.state, running.finished) = (.executing, nil)
    var first = Update(time: ExportScene.time(1))
    first.queues = [QueueReport(id: .init(1), name: "q", width: 1)]
    var last = first
    (first.changed, last.time, last.changed) = ([old, running], ExportScene.time(3), [long])
    var writer = RecordingWriter()
    let bytes =
      writer.add(.hello(ReplayScene.hello)) + writer.add(.update(first))
      + writer.add(.update(last)) + writer.finish()
    let history = try ExportScene.history(bytes)
    #expect(history.operations.keys.map(\.rawValue) == [2] && history.earlierCount == 1)
    let path = try #require(CriticalPath(of: history))
    #expect(path.duration == .seconds(1) && path.total(of: .work) == .seconds(1))
    let html = ReportPage(history).html
    #expect(html.contains("50 % busy") && !html.contains("old"))
  }

  @Test("The page mentions data that was not recorded or was cut off")
  func saysWhatIsMissing() throws {
    let cut = ReportPage(try ExportScene.history(ExportScene.bytes(isFinished: false))).html
    #expect(cut.contains("was not completed"))
    var writer = RecordingWriter()
    var first = Update(time: ExportScene.time(1))
    first.queues = [QueueReport(id: .init(1), name: "q")]
    var last = first
    last.time = ExportScene.time(2)
    last.lostChanges = 9
    last.queues[0].counts = StateCounts(executing: 3, finished: 1_234, total: 1_237)
    let bytes =
      writer.add(.hello(ReplayScene.hello)) + writer.add(.update(first)) + writer.add(.update(last))
      + writer.finish()
    let empty = ReportPage(try ExportScene.history(bytes)).html
    #expect(empty.contains("1\u{202F}237 of 1\u{202F}237 operations were only counted"))
    #expect(empty.contains("Calculated from the counts of each update") && empty.contains("peak 3"))
    #expect(empty.contains("No operation finished during the recording"))
  }

  @Test(
    "The time axis has few lines, at round times", arguments: [0, 1, 999, 5_000, 61_000_000])
  func ticks(milliseconds: Int) {
    let axis = TimeAxis(
      start: ExportScene.time(5), end: ExportScene.time(5) + .milliseconds(milliseconds))
    #expect((1...10).contains(axis.ticks.count) && axis.ticks.first == 0)
    #expect(axis.x(ExportScene.time(4)) == TimeAxis.left)
    #expect(milliseconds == 0 || axis.x(axis.end) == TimeAxis.width)
  }
}

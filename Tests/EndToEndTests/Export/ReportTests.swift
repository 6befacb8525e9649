// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import RunAnalysis
import Testing

@testable import opq_top

@Suite("The page about a recording") struct ReportTests {
  @Test("It has everything, needs nothing else, and a name in it is only text")
  func page() throws {
    let html = ReportPage(try ExportScene.history()).html
    for part in [
      "Critical path", "Concurrency", "Slots", "Slowest classes", "Warnings", "slot wait", "Fetch",
      "prefers-color-scheme: dark", "@media print", "tiles[4711]",
    ] {
      #expect(html.contains(part), "\(part)")
    }
    #expect(!html.contains("<script") && !html.contains("://") && !html.contains("src="))
    #expect(html.contains("default-src 'none'"))
    #expect(!html.contains("<b onload") && html.contains("&lt;b onload=&#39;x&#39;&gt;&amp;amp;"))
    #expect(!html.unicodeScalars.contains { $0.isObeyed && $0 != "\n" })
  }

  @Test("What is open is closed, in the right order")
  func isWellFormed() throws {
    let html = ReportPage(try ExportScene.history()).html
    var open: [Substring] = []
    for tag in html.matches(of: /<(\/?)([a-z1-6]+)[^>]*?(\/?)>/) {
      guard tag.2 != "meta", tag.3.isEmpty else { continue }
      if tag.1.isEmpty { open.append(tag.2) } else { #expect(open.popLast() == tag.2) }
    }
    #expect(open == [])
  }

  @Test("A hundred thousand runs make a page that a browser can show")
  func isBounded() throws {
    let reports = (1...100_000).map { number in
      let start = ExportScene.time(1 + Double(number) / 40_000)
      return OperationReport(
        id: .init(UInt64(number)), name: "tile \(number)", className: "Tile \(number % 500)",
        queue: .init(1), state: .finished, added: start, becameReady: start, started: start,
        finished: start + .microseconds(20 + number % 300))
    }
    let html = ReportPage(try ExportScene.history(ExportScene.bytes(reports))).html
    #expect(html.utf8.count < 5_000_000 && html.contains("operations</title>"))
    #expect(html.contains("475 classes that run shorter are left out"))
  }

  @Test("What was not recorded, cut off or never there is said")
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
    #expect(empty.contains("1\u{202F}237 of 1\u{202F}237 operations came and went"))
    #expect(empty.contains("As counted at each update") && empty.contains("peak 3"))
    #expect(empty.contains("Nothing finished while it was recorded"))
  }

  @Test(
    "Times between lines are round, and not too many", arguments: [0, 1, 999, 5_000, 61_000_000])
  func ticks(milliseconds: Int) {
    let axis = TimeAxis(
      start: ExportScene.time(5), end: ExportScene.time(5) + .milliseconds(milliseconds))
    #expect((1...10).contains(axis.ticks.count) && axis.ticks.first == 0)
    #expect(axis.x(ExportScene.time(4)) == TimeAxis.left)
    #expect(milliseconds == 0 || axis.x(axis.end) == TimeAxis.width)
  }
}

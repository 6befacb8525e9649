// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The state of ``Scene``, in which two operations have failed.
private enum FailureScene {
  static let diskFull = OperationReport.ID(1078)
  static let timedOut = OperationReport.ID(1038)

  static let operations = Scene.operations.map { report in
    var report = report
    if [diskFull, timedOut].contains(report.id) { report.state = .failed }
    if report.id == diskFull {
      report.errorText = "cannot write slope.tif: No space left on device"
    }
    if report.id == timedOut { report.errorText = "the operation took longer than 2 seconds" }
    return report
  }

  static let queues = Scene.queues.map { queue in
    var queue = queue
    if [Scene.cpu, Scene.io].contains(queue.id) { queue.counts.failed = 1 }
    return queue
  }

  /// Returns a dashboard with the state of the scene. `view` is the digit of the key that opens the view, with
  /// Alt.
  static func dashboard(columns: Int = 80, rows: Int = 24, view: Unicode.Scalar? = nil) -> Dashboard
  {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    if let view { dashboard.take(.input(.alt(view))) }
    var update = FakeMonitor(operations).update(
      for: Interest(), queues: queues, changed: operations.map(\.id), removed: [], at: Scene.now)
    if dashboard.connection.interest.timeline != nil { update.runs = runs }
    if dashboard.connection.interest.eventLimit > 0 {
      update.events = EventNews(events: events, isBeginning: true)
    }
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }

  private static var runs: RecentRuns {
    var runs = HistoryScene.runs
    for index in runs.runs.indices
    where [802, 812, 1034, 1070].contains(runs.runs[index].id.rawValue) {
      runs.runs[index].state = .failed
    }
    return runs
  }

  private static var events: [OperationEvent] {
    HistoryScene.events.suffix(12).map { event in
      var event = event
      if event.new == .finished { event.new = .failed }
      return event
    }
  }
}

@Suite("Failed operations on the screen") struct FailureTests {
  private typealias Scene = FailureScene

  private static let sizes = [(80, 24), (120, 40)]

  @Test("The list, its pane and its filter look as stored", arguments: sizes)
  func list(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("\\state:failed")
    dashboard.press(.enter)
    GoldenFrame.check(dashboard, named: "failed-list")
  }

  @Test("The detail of a failed operation looks as stored", arguments: sizes)
  func detail(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("1078")
    dashboard.press(.enter)
    dashboard.press(.enter)
    GoldenFrame.check(dashboard, named: "failed-detail")
  }

  @Test("The queues look as stored", arguments: sizes)
  func queues(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press(.tab)
    dashboard.press(.tab)
    GoldenFrame.check(dashboard, named: "failed-queues")
  }

  @Test(
    "A tree looks as stored; a folded row has the number of failures below it", arguments: sizes)
  func tree(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("d")
    GoldenFrame.check(dashboard, named: "failed-tree")
    // The selection goes to operation 1180, which waits for both failed operations.
    dashboard.press("jjh")
    GoldenFrame.check(dashboard, named: "failed-tree-folded")
  }

  @Test("The timeline looks as stored", arguments: sizes)
  func timeline(columns: Int, rows: Int) {
    GoldenFrame.check(
      Scene.dashboard(columns: columns, rows: rows, view: "4"), named: "failed-timeline")
  }

  @Test("The events look as stored", arguments: sizes)
  func events(columns: Int, rows: Int) {
    GoldenFrame.check(
      Scene.dashboard(columns: columns, rows: rows, view: "5"), named: "failed-events")
  }

  @Test("The header shows failures only if there are some")
  func header() {
    #expect(Scene.dashboard().text()[0].contains(" 2 failed "))
    var dashboard = Scene.dashboard()
    dashboard.take(.monitor(.update(DashboardTests.Scene.update)))
    #expect(!dashboard.text()[0].contains("failed"))
  }

  @Test(
    "The filter word finished means failed operations too, and succeeded does not",
    arguments: [
      ("finished", 18), ("failed", 2), ("succeeded", 16), ("s", 16), ("fail", 2),
    ])
  func filters(word: String, count: Int) throws {
    let filter = try OperationFilter("state:\(word)")
    #expect(
      Scene.operations.count { filter.matches($0, queueName: "", at: DashboardTests.Scene.now) }
        == count)
  }

  @Test("The text of an error cannot control the terminal")
  func hostileErrors() throws {
    for error in ["\u{1B}[2J\n\u{202E}\u{9B}31m", String(repeating: "e\u{301}", count: 500), ""] {
      for opensDetail in [false, true] {
        var dashboard = Scene.dashboard()
        var report = try #require(dashboard.shown.operations[Scene.diskFull])
        report.errorText = error
        dashboard.update(changed: [report])
        dashboard.press("1078")
        dashboard.press(.enter)
        if opensDetail { dashboard.press(.enter) }
        GoldenFrame.checkCells(of: dashboard.picture())
        let isSafe = dashboard.text().joined().unicodeScalars.allSatisfy { !$0.isObeyed }
        #expect(isSafe)
      }
    }
  }

  @Test("An operation that failed is one that nothing holds up, and its sentence has the error")
  func sentence() throws {
    let dashboard = Scene.dashboard()
    let report = try #require(dashboard.shown.operations[Scene.timedOut])
    let sentence = Explanation(
      monitored: dashboard.shown, now: dashboard.shownTime, isReadOnly: false,
      glyphs: Glyphs(isUnicode: true)
    ).sentence(about: report)
    #expect(sentence == "failed at 12:03:39, ran 2.71s: the operation took longer than 2 seconds")
  }
}

@Suite("Failed operations below the rows of a tree") struct FailedDescendantTests {
  private typealias ID = OperationReport.ID

  @Test("Each failed operation below a row is counted once, and is not counted as unfinished")
  func counts() {
    // Operation 1 waits for 2 and 3, and both wait for 4 and 5. Operation 6 is below a failed operation.
    let edges: [UInt64: [UInt64]] = [1: [2, 3], 2: [4, 5], 3: [4, 5], 4: [6], 5: [], 6: []]
    let failed: Set<UInt64> = [4, 5, 6]
    var store = OperationStore()
    store.apply(
      changed: edges.map { id, needs in
        OperationReport(
          id: ID(id), name: "", className: "Block", queue: Scene.io,
          state: failed.contains(id) ? .failed : .waiting, dependencies: needs.map { ID($0) })
      }, removed: [])
    let counts = DescendantCounts(below: [ID(1)], .waitsFor, in: OperationGraph(store), limit: 100)
    #expect((1...6).map { counts[ID($0)] } == [2, 0, 0, 0, 0, 0])
    #expect((1...6).map { counts.failedCount(below: ID($0)) } == [2, 2, 2, 0, 0, 0])
  }
}

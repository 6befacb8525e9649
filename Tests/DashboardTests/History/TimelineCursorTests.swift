// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

@Suite("The cursor of the timeline") struct TimelineCursorTests {
  private typealias ID = OperationReport.ID

  /// Returns a dashboard that shows the timeline of ``HistoryScene``. The run 1070 has failed.
  static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = HistoryScene.dashboard(columns: columns, rows: rows)
    dashboard.take(.input(.alt("4")))
    report(HistoryScene.runs.runs, to: &dashboard)
    return dashboard
  }

  /// Sends the dashboard these runs, with the run 1070 as a failed one.
  static func report(
    _ runs: [OperationRun], to dashboard: inout Dashboard, at time: MonitorTime = Scene.now
  ) {
    var update = Scene.update
    update.time = time
    update.times = HistoryScene.times
    var failed = OperationReport(
      id: ID(1070), name: "resample everything", className: "ResampleOperation", queue: Scene.cpu,
      state: .failed, started: Scene.seconds(70), finished: Scene.seconds(89.5))
    failed.errorText = "cannot write slope.tif: No space left on device"
    update.changed.append(failed)
    let runs = runs.map { run in
      var run = run
      if run.id == ID(1070) { run.state = .failed }
      return run
    }
    update.runs = RecentRuns(runs: runs.sorted { $0.started < $1.started }, count: runs.count)
    dashboard.take(.tick(time))
    dashboard.take(.monitor(.update(update)))
  }

  /// Returns a new run of the first slot of the queue `cpu`. It has replaced the run 1077.
  private func nextRun(_ id: Int, from start: Double) -> [OperationRun] {
    HistoryScene.runs.runs.map { run in
      var run = run
      if run.id == ID(1077) { (run.state, run.finished) = (.cancelled, Scene.seconds(start)) }
      return run
    } + [
      OperationRun(
        id: ID(id), title: "compute tile", queue: Scene.cpu, state: .executing,
        started: Scene.seconds(start), kind: "ComputeOperation")
    ]
  }

  /// The ids of the runs of the first slot of the queue `cpu`.
  private static let slot = [1070, 827, 828, 829, 1077].map { ID($0) }

  private func selectedCells(_ dashboard: Dashboard) -> [String] {
    let grid = dashboard.picture()
    return (0..<grid.size.rows).compactMap { row in
      let cells = grid.row(row).dropFirst(TimelineView.gutter).filter(\.style.isSelected)
      return cells.isEmpty ? nil : String(String.UnicodeScalarView(cells.map(\.scalar)))
    }
  }

  @Test(
    "TL-6, TL-7: The timeline with the cursor on a failed run looks as stored",
    arguments: [(80, 24), (120, 40), (200, 60)])
  func picture(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(columns: columns, rows: rows)
    for _ in 1..<Self.slot.count { dashboard.press("h") }
    #expect(dashboard.selected == ID(1070))
    GoldenFrame.check(dashboard, named: "timeline-cursor")
  }

  @Test("TL-6: h and l select the previous and the next run of the slot, and ring at its ends")
  func horizontalKeys() {
    var dashboard = Self.dashboard()
    #expect(dashboard.selected == ID(1077))
    #expect(dashboard.press("l") == [.bell])
    for id in Self.slot.reversed().dropFirst() {
      #expect(dashboard.press("h") == [])
      #expect(dashboard.selected == id)
    }
    #expect(dashboard.press("h") == [.bell])
    #expect(dashboard.press(.right) == [])
    #expect(dashboard.selected == ID(827))
    #expect(dashboard.press(.left) == [])
    #expect(dashboard.selected == ID(1070))
  }

  @Test("TL-6: the footer has h and l together if it has room", arguments: Effort.sample(40...200))
  func footer(columns: Int) {
    let footer = Self.dashboard(columns: columns).text().last ?? ""
    #expect(footer.contains("h Previous") == footer.contains("l Next"), "\(footer)")
    #expect(footer.contains("h Previous  l Next") || columns < 100, "\(footer)")
  }

  @Test("TL-6: a new run moves the cursor only if the newest run is selected")
  func newRuns() {
    var dashboard = Self.dashboard()
    Self.report(nextRun(1500, from: 102), to: &dashboard, at: Scene.seconds(103))
    #expect(dashboard.selected == ID(1500))
    dashboard.press("hh")
    #expect(dashboard.selected == ID(829))
    Self.report(nextRun(1501, from: 104), to: &dashboard, at: Scene.seconds(105))
    #expect(dashboard.selected == ID(829))
    dashboard.press("ll")
    #expect(dashboard.selected == ID(1501) && dashboard.timeline.follows)
    Self.report(nextRun(1502, from: 106), to: &dashboard, at: Scene.seconds(107))
    #expect(dashboard.selected == ID(1502))
  }

  @Test("TL-6: the cursor stays on its run if another time window changes the slots")
  func zoom() {
    var dashboard = Self.dashboard()
    dashboard.press("hhh")
    dashboard.press("-")
    Self.report(HistoryScene.runs.runs, to: &dashboard)
    #expect(dashboard.selected == ID(827))
    dashboard.press("+")
    #expect(dashboard.selected == ID(827))
  }

  @Test("TL-8: if the selected run leaves the time window, the next run of the slot is selected")
  func leavingRuns() {
    var dashboard = Self.dashboard()
    for _ in 1..<Self.slot.count { dashboard.press("h") }
    dashboard.take(.tick(Scene.seconds(120)))
    #expect(dashboard.selected == ID(827))
    #expect(!dashboard.timeline.follows)
    dashboard.take(.tick(Scene.seconds(123)))
    #expect(dashboard.selected == ID(1077) && dashboard.timeline.follows)
  }

  @Test("TL-9: j and k select another slot, and there the run that began nearest")
  func verticalKeys() {
    var dashboard = Self.dashboard()
    dashboard.press("j")
    #expect(dashboard.selected == ID(1080))
    dashboard.press("k")
    for _ in 1..<Self.slot.count { dashboard.press("h") }
    dashboard.press("j")
    // The run 1070 began before the time window, so the first run of the window is the nearest.
    #expect(dashboard.timeline.selected == .slot(Scene.cpu, 1))
    #expect(dashboard.timeline.run?.id == dashboard.timeline.selectedRow?.runs.first?.id)
    #expect(!dashboard.timeline.follows)
    // The heading of the queue io is between the two slots.
    dashboard.press("jj")
    #expect(dashboard.selected == ID(1033))
    dashboard.press("kkkj")
    #expect(dashboard.selected != ID(1080), "the way back selects runs of the same time")
  }

  @Test("TL-7: the cells of the selected run are reversed, also the only cell of a short run")
  func reversedCells() {
    var dashboard = Self.dashboard()
    #expect(selectedCells(dashboard) == ["▐#1077 resample…▓▶"])
    dashboard.press("h")
    #expect(selectedCells(dashboard) == ["▐░░"])
    dashboard = Self.dashboard(columns: 40, rows: 16)
    dashboard.press("--h")
    #expect(selectedCells(dashboard).map(\.count) == [1])
  }

  @Test("TL-7: the line below has the id, the result, the start, the kind, the name and the error")
  func line() {
    var dashboard = Self.dashboard(columns: 160, rows: 40)
    let line = dashboard.screen.layout?.sentence ?? 0
    #expect(
      dashboard.text()[line]
        == " #1077 cancelling 7.00s on cpu, started 12:04:24  ResampleOperation  resample dem")
    for _ in 1..<Self.slot.count { dashboard.press("h") }
    let text = dashboard.text()[line]
    #expect(text.hasPrefix(" #1070 failed after 19.5s on cpu, started 12:03:59"))
    #expect(text.contains("ResampleOperation  resample everything  error: cannot write slope.tif"))
    dashboard.press("l")
    #expect(dashboard.text()[line].contains("#827 finished after 849ms on cpu"))
  }

  @Test("TL-7: the error has room on the line although the name is long", arguments: [80, 120])
  func longNames(columns: Int) {
    var dashboard = Self.dashboard(columns: columns, rows: 40)
    var runs = HistoryScene.runs.runs
    let index = runs.firstIndex { $0.id == ID(1070) } ?? 0
    runs[index].title = String(repeating: "long ", count: 1_000)
    Self.report(runs, to: &dashboard)
    for _ in 1..<Self.slot.count { dashboard.press("h") }
    let text = dashboard.text()[dashboard.screen.layout?.sentence ?? 0]
    #expect(text.contains("long long") && text.contains("error: cannot"))
  }

  @Test("TL-10: Enter shows the details of the selected run, and x cancels it if it executes")
  func actions() {
    var dashboard = Self.dashboard()
    dashboard.press("jj")
    dashboard.press("jh")
    #expect(dashboard.selected == ID(1034))
    dashboard.press("l")
    #expect(dashboard.selected == ID(1042))
    dashboard.press("x")
    #expect(dashboard.press("y") == [.send(.cancel([ID(1042)]))])
    dashboard.press("kkk")
    for _ in 1..<Self.slot.count { dashboard.press("h") }
    #expect(dashboard.press("x") == [.bell])
    dashboard.press(.enter)
    #expect(dashboard.detail?.id == ID(1070))
    dashboard.press(.escape)
    #expect(dashboard.selected == ID(1070))
  }

  @Test("TL-9, TL-10: On the heading of a queue, the keys for runs say that no run is selected")
  func headings() {
    var dashboard = Self.dashboard()
    dashboard.press("k")
    #expect(dashboard.timeline.selected == .queue(Scene.cpu) && dashboard.selected == nil)
    for input in [Input.key(.enter), .character("x"), .character("L"), .character("w")] {
      #expect(dashboard.take(.input(input)) == [.bell], "\(input)")
      #expect(dashboard.text().shows("no operation is selected"), "\(input)")
    }
    for key in ["h", "l"] {
      #expect(dashboard.press(key) == [.bell])
      #expect(dashboard.text().shows("no run is selected"))
    }
    #expect(dashboard.detail == nil && dashboard.prompts.question == nil)
  }

  @Test("TL-10: S suspends the queue of the selected slot or heading, and is in the footer")
  func suspension() {
    var dashboard = Self.dashboard()
    #expect(dashboard.text().last?.contains("S Suspend") == true)
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.cpu, true))])
    dashboard.press("jjjjj")
    #expect(dashboard.timeline.selected == .queue(Scene.net))
    #expect(dashboard.text().last?.contains("S Resume ") == true)
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.net, false))])
  }

  @Test("TL-11: a table below the slots lists the runs of the selected queue if there is room")
  func table() {
    var dashboard = Self.dashboard(columns: 120, rows: 60)
    var text = dashboard.text()
    #expect(text.shows("  runs of cpu  27"))
    #expect(text.shows("▌ #1077     1  12:04:24    7.00s  cancelling  ResampleOperation"))
    #expect(text.shows("resample everything  error: cannot write slope.tif"))
    dashboard.press("h")
    text = dashboard.text()
    #expect(text.shows("▌ #829 "))
    dashboard.press("jjj")
    #expect(dashboard.text().shows("  runs of io  4"))
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    #expect(!dashboard.text().shows("runs of"))
  }

  @Test("TL-11: the selected run is in the table wherever it is")
  func tableFollowsTheCursor() {
    var dashboard = Self.dashboard(columns: 120, rows: 34)
    dashboard.press("jkhhhh")
    #expect(dashboard.text().filter { $0.hasPrefix("▌ #1070 ") }.count == 1)
  }

  @Test("TL-12: without runs, nothing moves and no time passes on the screen")
  func rest() {
    var dashboard = Self.dashboard()
    // The rate above the view moves too.
    dashboard.press("#")
    Self.report(HistoryScene.runs.runs.suffix(1), to: &dashboard)
    #expect(dashboard.nextTick(after: dashboard.now) != nil)
    Self.report([], to: &dashboard)
    #expect(dashboard.nextTick(after: dashboard.now) == nil)
    #expect(dashboard.press("h") == [.bell])
    #expect(dashboard.cursorRun == nil)
  }
}

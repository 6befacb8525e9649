// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Events and the timeline")
struct HistoryViewTests {
  private typealias ID = OperationReport.ID

  private static func dashboard(
    _ view: Unicode.Scalar, columns: Int = 80, rows: Int = 24, skipped: Int = 0
  ) -> Dashboard {
    var dashboard = HistoryScene.dashboard(columns: columns, rows: rows)
    dashboard.take(.input(.alt(view)))
    HistoryScene.report(&dashboard, skipped: skipped)
    return dashboard
  }

  private static let timeline: Unicode.Scalar = "4"
  private static let events: Unicode.Scalar = "5"

  // MARK: Pictures

  @Test(arguments: [(80, 24), (120, 40), (200, 60), (40, 10)])
  func theTimelineLooksAsStored(columns: Int, rows: Int) {
    let dashboard = Self.dashboard(Self.timeline, columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "timeline-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (120, 40), (200, 60), (40, 10)])
  func theEventsLookAsStored(columns: Int, rows: Int) {
    let dashboard = Self.dashboard(Self.events, columns: columns, rows: rows, skipped: 1_204)
    GoldenFrame.check(dashboard.picture(), named: "events-\(columns)x\(rows)")
  }

  @Test func theHistoryLooksAsStoredInASCII() {
    GoldenFrame.check(
      Self.dashboard(Self.timeline).picture(isUnicode: false), named: "timeline-ascii-80x24")
    GoldenFrame.check(
      Self.dashboard(Self.events).picture(isUnicode: false), named: "events-ascii-80x24")
    GoldenFrame.check(
      HistoryScene.dashboard(columns: 120, rows: 40).picture(isUnicode: false),
      named: "header-ascii-120x40")
  }

  @Test(arguments: [(80, 24), (120, 40), (200, 60), (60, 16)])
  func theHeaderLooksAsStored(columns: Int, rows: Int) {
    let dashboard = HistoryScene.dashboard(columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "header-\(columns)x\(rows)")
  }

  // MARK: Interest

  @Test func theHistoryIsRequestedOnlyByItsViews() {
    var dashboard = HistoryScene.dashboard()
    for view in "12345".unicodeScalars {
      dashboard.take(.input(.alt(view)))
      #expect((dashboard.connection.interest.eventLimit > 0) == (view == Self.events))
      #expect((dashboard.connection.interest.timeline != nil) == (view == Self.timeline))
    }
  }

  @Test func zoomingAsksForTheOtherWindow() {
    var dashboard = Self.dashboard(Self.timeline)
    #expect(dashboard.connection.interest.timeline?.window == .seconds(30))
    dashboard.press("-")
    #expect(dashboard.connection.interest.timeline?.window == .seconds(60))
    dashboard.press("++")
    #expect(dashboard.connection.interest.timeline?.window == .seconds(10))
    dashboard.press("+")
    #expect(dashboard.press("+") == [.bell])
    #expect(dashboard.connection.interest.timeline?.window == .seconds(5))
  }

  // MARK: Timeline

  @Test func eachQueueHasAHeadingAndAStripForEachSlotInUse() {
    let dashboard = Self.dashboard(Self.timeline)
    #expect(
      dashboard.timeline.rows.map(\.id) == [
        .queue(Scene.cpu), .slot(Scene.cpu, 0), .slot(Scene.cpu, 1), .queue(Scene.io),
        .slot(Scene.io, 0), .slot(Scene.io, 1), .queue(Scene.net), .queue(Scene.index),
        .slot(Scene.index, 0),
      ])
  }

  @Test func theSelectedStripNamesItsOperationAndEnterShowsIt() {
    var dashboard = Self.dashboard(Self.timeline)
    dashboard.press("jjj")
    #expect(dashboard.selected == ID(1042))
    #expect(dashboard.text().shows("#1042 executing 12.4s on io"))
    dashboard.press(.enter)
    #expect(dashboard.detail?.id == ID(1042))
  }

  @Test func theKeysOfAStripActOnItsOperation() {
    var dashboard = Self.dashboard(Self.timeline)
    dashboard.press("jjj")
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.io, true))])
    dashboard.press("x")
    #expect(dashboard.press("y") == [.send(.cancel([ID(1042)]))])
  }

  @Test func theSelectionIsASlot() {
    var dashboard = Self.dashboard(Self.timeline)
    dashboard.press("jjj")
    var update = Scene.update
    update.runs = HistoryScene.runs
    // The update removes the two rows of the timeline above the selected row. The selection must
    // stay on its row.
    update.runs?.runs.removeAll { $0.queue == Scene.cpu }
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.timeline.selected == .slot(Scene.io, 0))
  }

  @Test func omittedRunsAreCounted() {
    var dashboard = Self.dashboard(Self.timeline, columns: 120, rows: 40)
    var update = Scene.update
    update.runs = HistoryScene.runs
    update.runs?.count = 31_000
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("\(HistoryScene.runs.runs.count) of 31,000 runs"))
  }

  @Test func theTimelineMovesUntilItIsEmpty() throws {
    var dashboard = Self.dashboard(Self.timeline)
    var update = Scene.update(
      of: Scene.operations.map { operation in
        var operation = operation
        operation.state = .finished
        return operation
      })
    update.runs = RecentRuns(
      runs: HistoryScene.runs.runs.filter { $0.finished != nil }, count: 30)
    dashboard.take(.monitor(.update(update)))
    let next = try #require(dashboard.nextTick(after: Scene.now))
    #expect(next > Scene.now && next - Scene.now <= .seconds(1))
    dashboard.take(.tick(Scene.now + .seconds(130)))
    #expect(dashboard.nextTick(after: dashboard.now) == nil)
    #expect(dashboard.timeline.rows.allSatisfy { $0.runs.isEmpty })
  }

  @Test func nothingMovesWhilePaused() {
    for view in [Self.timeline, Self.events] {
      var dashboard = Self.dashboard(view)
      dashboard.press("p")
      let before = dashboard.picture()
      #expect(dashboard.nextTick(after: dashboard.now) == nil)
      dashboard.take(.tick(dashboard.now + .seconds(60)))
      HistoryScene.report(&dashboard)
      #expect(dashboard.picture() == before)
    }
  }

  // MARK: Events

  /// Sends the dashboard an update with a new event of the operation 1400.
  private static func reportNews(to dashboard: inout Dashboard) {
    var update = Scene.update
    update.times = HistoryScene.times
    update.events = EventNews(
      events: [
        OperationEvent(
          time: Scene.now, operation: ID(1_400), title: "new", queue: Scene.cpu, old: nil,
          new: .ready)
      ])
    dashboard.take(.monitor(.update(update)))
  }

  private func cursorLines(_ dashboard: Dashboard) -> [String] {
    dashboard.text().filter { $0.hasPrefix("▌") }
  }

  @Test func theNewestEventIsAtTheBottomUntilOneIsSelected() {
    var dashboard = Self.dashboard(Self.events)
    #expect(dashboard.text().last { $0.contains("#1095") } != nil)
    dashboard.press("k")
    #expect(dashboard.selected == ID(1033))
    let before = dashboard.text()
    Self.reportNews(to: &dashboard)
    #expect(dashboard.text() == before)
    dashboard.press("G")
    #expect(dashboard.text().shows("#1400"))
  }

  @Test("The newest event is selected from the first frame on, and after G")
  func theNewestEventIsSelected() {
    var dashboard = Self.dashboard(Self.events)
    #expect(dashboard.selected == ID(1095))
    #expect(cursorLines(dashboard).map { $0.contains("#1095") } == [true])
    #expect(dashboard.text().shows("following"))
    Self.reportNews(to: &dashboard)
    #expect(dashboard.selected == ID(1400))
    #expect(cursorLines(dashboard).map { $0.contains("#1400") } == [true])
    // The sentence has the facts of the event, because the monitor does not report the operation.
    #expect(dashboard.text().shows("#1400 ready: new"))
    dashboard.press("gG")
    #expect(dashboard.selected == ID(1400))
  }

  @Test("A key that concerns the newest event keeps this event selected", arguments: ["x", "w"])
  func aKeyHoldsTheNewestEvent(key: String) {
    var dashboard = Self.dashboard(Self.events)
    dashboard.press(key)
    Self.reportNews(to: &dashboard)
    #expect(dashboard.selected == ID(1095))
    #expect(!dashboard.events.follows)
  }

  @Test("A new event does not change the interest while the newest event is selected")
  func followingDoesNotChangeTheInterest() {
    var dashboard = Self.dashboard(Self.events)
    let interest = dashboard.connection.interest
    Self.reportNews(to: &dashboard)
    #expect(dashboard.selected == ID(1400))
    #expect(dashboard.connection.interest == interest)
    dashboard.press("k")
    #expect(dashboard.connection.interest.subjects == [ID(1095)])
  }

  @Test("An operation that only an event names is not called finished")
  func aKeySaysThatTheStateIsNotKnownYet() {
    var dashboard = Self.dashboard(Self.events)
    Self.reportNews(to: &dashboard)
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.text().shows("the state of #1400 is not known yet; press the key again"))
    #expect(dashboard.connection.interest.subjects == [ID(1400)])
    dashboard.update(changed: [
      OperationReport(
        id: ID(1400), name: "new", className: "Block", queue: Scene.cpu, state: .ready)
    ])
    dashboard.press("x")
    #expect(dashboard.prompts.question?.ids == [ID(1400)])
  }

  @Test("The line below events that may be incomplete has room on the narrowest screen")
  func theBeginningIsShown() {
    var dashboard = HistoryScene.dashboard(columns: 40, rows: 10)
    dashboard.take(.input(.alt(Self.events)))
    HistoryScene.report(&dashboard)
    dashboard.press(String(repeating: "k", count: HistoryScene.events.count - 30))
    #expect(dashboard.text().shows("── events above may be missing ─"))
  }

  @Test func aLineWithoutAnEventIsNotSelectedWhileEventsAreFollowed() {
    var dashboard = Self.dashboard(Self.events)
    var update = Scene.update
    update.events = EventNews(events: [], skippedCount: 7)
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("7 events not shown"))
    #expect(dashboard.selected == ID(1095))
    #expect(cursorLines(dashboard).map { $0.contains("#1095") } == [true])
  }

  @Test func enterShowsAllAboutTheOperationOfTheEvent() {
    var dashboard = Self.dashboard(Self.events)
    dashboard.press("kk")
    dashboard.press(.enter)
    #expect(dashboard.detail?.id == ID(1080))
    dashboard.press(.escape)
    #expect(dashboard.detail == nil && dashboard.screen.view == .events)
  }

  @Test func enterOnAnEventOfARemovedOperationOnlyShowsANotice() {
    var dashboard = Self.dashboard(Self.events)
    dashboard.press("g")
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.screen.view == .events)
    #expect(dashboard.text().shows("the details of #800 are no longer stored"))
  }

  @Test func anotherFilterClearsTheEvents() throws {
    var dashboard = Self.dashboard(Self.events)
    #expect(!dashboard.live.events.lines.isEmpty)
    dashboard.list.listing.filter = try OperationFilter("queue:io")
    dashboard.take(.tick(dashboard.now))
    #expect(dashboard.live.events.lines.isEmpty)
  }

  @Test("T17: every small size of the history is drawn without a trap")
  func everySmallSizeIsDrawn() {
    for view in [Self.timeline, Self.events] {
      let dashboard = Self.dashboard(view)
      for columns in 0...82 {
        for rows in [0, 1, 9, 10, 11, 13, 16, 24] {
          let size = Size(columns: columns, rows: rows)
          let grid = dashboard.view(size: size, capabilities: Capabilities())
          #expect(grid.size == size)
          if columns.isMultiple(of: 7) { GoldenFrame.checkCells(of: grid) }
        }
      }
    }
  }
}

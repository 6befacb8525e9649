// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The mouse in groups, queues, the setup and the timeline") struct MouseViewsTests {
  private typealias ID = OperationReport.ID

  private static let sizes = [(80, 24), (120, 40), (200, 60)]

  private func scene(_ columns: Int, _ rows: Int) -> Dashboard {
    ViewScene.dashboard(columns: columns, rows: rows, configuration: .withMouse)
  }

  /// Clicks on each row of the screen, each time in the same state. Returns what is selected after the clicks that
  /// change the selection, from the top.
  private func selections<Value: Equatable>(
    _ start: Dashboard, column: Int = 20, _ value: (Dashboard) -> Value?
  ) -> [Value] {
    (0..<start.screen.size.rows).compactMap { row in
      var dashboard = start
      let context = start.keyContext
      dashboard.click(row: row, column: column)
      guard dashboard.keyContext == context, value(dashboard) != value(start) else { return nil }
      return value(dashboard)
    }
  }

  @Test(
    "MS-5: A click selects a group, and a click on the selected group lists it", arguments: sizes)
  func groups(columns: Int, rows: Int) {
    var dashboard = scene(columns, rows)
    dashboard.press("v")
    let keys = dashboard.shownGroups?.rows.map(\.key) ?? []
    #expect(keys.count == 3)
    let selected = selections(dashboard) { dashboard in
      // A click on a heading sorts.
      dashboard.groups?.order == GroupOrder() ? dashboard.shownGroups?.selected?.key : keys.first
    }
    #expect(selected == Array(keys.dropFirst()))
    // The line below the groups is no group.
    #expect(dashboard.text().shows("3 more groups"))
    let before = dashboard.picture()
    #expect(dashboard.click("3 more groups") == [])
    #expect(dashboard.picture() == before)
    dashboard.click("IndexWriter")
    dashboard.click("IndexWriter")
    #expect(dashboard.list.listing.filter?.text == "kind:=\"IndexWriter\"")
    #expect(dashboard.keyContext == .list)
  }

  @Test("MS-7: A click on a heading sorts the groups, and the next one reverses the order")
  func groupHeadings() throws {
    var dashboard = GroupScene.dashboard(
      by: .kind, columns: 200, rows: 60, configuration: .withMouse)
    let row = try #require(dashboard.screen.layout?.headings)
    let headings = dashboard.picture().text[row]
    func click(_ heading: String) throws -> [Effect] {
      let range = try #require(headings.firstRange(of: heading))
      let column = TerminalText.width(of: String(headings[..<range.lowerBound]))
      return dashboard.click(row: row, column: column)
    }
    for (heading, column) in [
      ("KIND", GroupOrder.Column.name), ("READY", .ready), ("SLOT99", .longestWait),
      ("RATE", .rate), ("EXEC", .executing),
    ] {
      #expect(try click(heading) == [])
      #expect(dashboard.groups?.order == GroupOrder(column: column), "\(heading)")
      #expect(try click(heading) == [])
      #expect(dashboard.groups?.order == GroupOrder(column: column, isReversed: true))
      #expect(try click(heading) == [])
      #expect(dashboard.groups?.order == GroupOrder(column: column))
      // The reversed order does not reverse the order of the next column.
      #expect(try click(heading) == [])
    }
    #expect(try click("EXEC") == [])
    #expect(dashboard.groups?.rows.map(\.counts.executing) == [2, 2, 1, 1])
    let order = dashboard.groups?.order
    for heading in ["ENDED PER SECOND", "RUN TIMES 4m"] {
      #expect(try click(heading) == [.bell])
      #expect(dashboard.groups?.order == order)
    }
  }

  @Test("MS-5: After the selected group has disappeared, a click selects the group at its place")
  func groupsWithGhost() {
    var dashboard = scene(80, 24)
    dashboard.press("vj")
    let rest = dashboard.shownGroups.map { state in
      state.rows.map(\.key).filter { $0 != state.selected?.key }
    }
    var update = ViewScene.update
    update.groups?.groups.removeAll { $0.key == dashboard.shownGroups?.selected?.key }
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.shownGroups?.selected == nil)
    #expect(dashboard.text().shows("the selected group no longer exists"))
    #expect(selections(dashboard) { $0.shownGroups?.selected?.key } == rest)
  }

  @Test(
    "MS-5: In the view of queues, a click selects a queue, and not an operation below the table",
    arguments: sizes)
  func queues(columns: Int, rows: Int) {
    var dashboard = scene(columns, rows)
    dashboard.take(.input(.alt("3")))
    dashboard.press("g")
    let ids = dashboard.shown.queues.map(\.id)
    #expect(selections(dashboard) { $0.queues.id } == Array(ids.dropFirst()))
    #expect(dashboard.screen.layout.flatMap { dashboard.queueSummaryRows(in: $0) } != nil)
    let before = dashboard.picture()
    #expect(dashboard.click("#1103") == [])
    #expect(dashboard.picture() == before)
  }

  @Test(
    "MS-5: On the screen of a queue, a click selects an operation", arguments: sizes + [(40, 12)])
  func queueScreen(columns: Int, rows: Int) {
    var dashboard = scene(columns, rows)
    dashboard.take(.input(.alt("3")))
    dashboard.press("g")
    dashboard.press(.enter)
    dashboard.press("g")
    #expect(dashboard.keyContext == .queue)
    let queue = dashboard.summarizedQueue
    let ids = queue.map { QueueOperationRows(of: $0, in: dashboard.shown).ids } ?? []
    #expect(dashboard.openQueueScreen?.selected == ids.first)
    let shown = ids.filter { id in dashboard.text().contains { $0.contains("\(id) ") } }
    #expect(selections(dashboard) { $0.openQueueScreen?.selected } == Array(shown.dropFirst()))
    #expect(shown.count > (rows == 12 ? 1 : 3))
    dashboard.click("#1080")
    dashboard.click("#1080")
    #expect(dashboard.detail?.id == ID(1080))
  }

  @Test("MS-5: A click on the screen of a queue is exact, also if operations have no line")
  func queueScreenWithHiddenLines() {
    var dashboard = QueueScene.dashboard()
    dashboard.settings.usesMouse = true
    QueueScene.report(to: &dashboard) { update in
      update.queues[0].width = 64
      update.queues[0].counts.executing = 64
      update.runOrders[0].executing = (2_000..<2_064).map { ID($0) }
    }
    dashboard.click("#2001 ")
    #expect(dashboard.openQueueScreen?.selected == ID(2001))
  }

  @Test("MS-5: In the setup, a click selects a setting or a column, and then changes it")
  func setup() {
    for (columns, rows) in Self.sizes {
      var dashboard = scene(columns, rows)
      dashboard.take(.input(.function(2)))
      let settings = selections(dashboard, column: 5) { $0.setup?.selectedKey }
      #expect(settings == Array(SetupState.keys.dropFirst()), "\(columns)")
      dashboard.click("bell")
      #expect(dashboard.setup?.selectedKey == .bell)
      dashboard.click("bell")
      #expect(dashboard.settings.ringsBell && dashboard.unsavedSettings == [.bell])
      // A click on the other side selects the row there.
      dashboard.click("[x] queue")
      #expect(dashboard.setup?.side == .columns)
      #expect(dashboard.setup?.selectedColumn == .queue)
      #expect(dashboard.settings.columns == nil)
      dashboard.click("[x] queue")
      #expect(dashboard.settings.columns?.contains { $0.column == .queue } == false)
      dashboard.click("theme")
      #expect(dashboard.setup?.side == .settings && dashboard.setup?.selectedKey == .theme)
    }
    var narrow = scene(60, 24)
    narrow.take(.input(.function(2)))
    narrow.press(.tab)
    narrow.click("[x] state")
    #expect(narrow.setup?.selectedColumn == .state)
  }

  @Test("MS-5: The preview of the list in the setup does not react")
  func preview() {
    var dashboard = scene(200, 60)
    dashboard.take(.input(.function(2)))
    let text = dashboard.text()
    let rule = text.firstIndex { $0.contains(" the list ") } ?? 60
    #expect(rule < 40)
    let before = dashboard.picture()
    for row in rule + 2..<57 { #expect(dashboard.click(row: row, column: 30) == []) }
    #expect(dashboard.picture() == before)
  }

  @Test("MS-6: A click on a run in the table below the slots selects the run")
  func runTable() {
    var dashboard = scene(120, 40)
    dashboard.take(.input(.alt("4")))
    HistoryScene.report(&dashboard)
    dashboard.click("#1042")
    func tableRows() -> [(row: Int, id: String)] {
      let lines = dashboard.text()
      let title = lines.firstIndex { $0.contains("runs of ") } ?? lines.count
      return lines.indices.dropFirst(title + 2).compactMap { row in
        let id = lines[row].split(separator: " ").first { $0 != "▌" }
        return id.flatMap { $0.hasPrefix("#") ? (row, String($0)) : nil }
      }
    }
    let ids = tableRows().map(\.id)
    #expect(ids.count > 2)
    for id in ids {
      guard let entry = tableRows().first(where: { $0.id == id }) else { continue }
      dashboard.click(row: entry.row, column: 30)
      if dashboard.detail != nil { dashboard.press("q") }
      #expect(dashboard.timeline.run.map { "\($0.id)" } == id)
    }
    // The legend does not react.
    let before = dashboard.picture()
    let legend = dashboard.screen.layout.map { $0.body.upperBound - 1 } ?? 0
    for column in 0..<120 { dashboard.click(row: legend, column: column) }
    #expect(dashboard.picture() == before)
  }
}

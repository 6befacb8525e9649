// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The mouse") struct MouseTests {
  private typealias ID = OperationReport.ID

  private func list(columns: Int = 80, rows: Int = 24) -> Dashboard {
    Scene.dashboard(columns: columns, rows: rows, configuration: .withMouse)
  }

  @Test("MS-4: Without the setting, the mouse has no effect")
  func switchedOff() {
    var dashboard = Scene.dashboard()
    let before = dashboard.picture()
    for row in 0..<24 {
      for kind in MouseInput.Kind.allCases {
        #expect(dashboard.take(.input(.mouse(MouseInput(kind, row: row, column: 10)))) == [])
      }
    }
    #expect(dashboard.picture() == before)
    #expect(!dashboard.usesMouse)
    #expect(list().usesMouse)
  }

  // MARK: Rows

  @Test(
    "MS-5: A click on a row of the list selects it",
    arguments: [(80, 24), (120, 40), (200, 60), (40, 10)])
  func clickOnRow(columns: Int, rows: Int) {
    var dashboard = list(columns: columns, rows: rows)
    let keys = Array(dashboard.visibleKeys)
    let body = dashboard.screen.layout?.body ?? 0..<0
    for (row, key) in zip(body, keys).reversed() {
      #expect(dashboard.click(row: row, column: columns / 4) == [])
      #expect(dashboard.list.selection.id == key.id)
      #expect(Array(dashboard.visibleKeys) == keys)
      #expect(dashboard.detail == nil)
    }
  }

  @Test("MS-5: A click on the selected row opens it, as Enter does")
  func clickOnSelectedRow() {
    var dashboard = list()
    dashboard.click("resample landuse")
    #expect(dashboard.keyContext == .list)
    dashboard.click("resample landuse")
    #expect(dashboard.detail?.id == ID(1080))
    // The detail screen has no rows to select.
    let before = dashboard.picture()
    #expect(dashboard.click(row: 10, column: 10) == [])
    #expect(dashboard.picture() == before)
  }

  @Test("MS-5: A click beside the rows, on a blank row or outside the screen has no effect")
  func clickElsewhere() {
    var dashboard = list(columns: 120, rows: 40)
    dashboard.press("\\name:landuse")
    dashboard.press(.enter)
    let before = dashboard.picture()
    let body = dashboard.screen.layout?.body ?? 0..<0
    for (row, column) in [
      (body.lowerBound + 3, 10), (body.upperBound - 1, 10), (body.lowerBound, 100), (0, 0),
      (2, 40), (500, 10), (10, 5_000),
    ] {
      #expect(dashboard.click(row: row, column: column) == [], "\(row), \(column)")
    }
    #expect(dashboard.picture() == before)
  }

  @Test("MS-5: A click selects a row also if the selected operation has no row on the screen")
  func clickBesideGhost() {
    for clicked in [-2, -1, 1, 2] {
      var dashboard = list()
      dashboard.press("jjj")
      dashboard.press("H")
      let id = dashboard.list.selection.id
      var report = Scene.operations.first { $0.id == id }
      report?.state = .finished
      report?.finished = Scene.now
      dashboard.update(changed: report.map { [$0] } ?? [])
      let row = dashboard.text().firstIndex { $0.hasPrefix("▌") } ?? 0
      #expect(dashboard.text()[row].contains("selected row"))
      let words = dashboard.text()[row + clicked]
      dashboard.click(row: row + clicked, column: 10)
      let selected = dashboard.list.selection.id.map { "\($0)" } ?? "none"
      #expect(words.contains(selected), "\(clicked)")
    }
  }

  @Test("MS-5: A click selects a row of each view", arguments: [1, 2, 4])
  func clickInViews(tabs: Int) {
    var dashboard = list()
    for _ in 0..<tabs { dashboard.press(.tab) }
    if tabs == 4 { HistoryScene.report(&dashboard) }
    let body = dashboard.screen.layout?.body ?? 0..<0
    let lines = dashboard.text()
    // The operations below the table of queues are no rows of the view.
    let regions = ScreenRegions(dashboard)
    let rows = body.filter { !lines[$0].isEmpty && regions.target(row: $0, column: 12) != nil }
    #expect(rows.count > 3)
    for row in [rows[2], rows[0], rows[rows.count - 1], rows[1]] {
      if dashboard.text()[row].hasPrefix("▌") { continue }
      #expect(dashboard.click(row: row, column: 12) == [])
      #expect(dashboard.text()[row].hasPrefix("▌"), "row \(row)")
    }
  }

  @Test("MS-5: A click selects a warning")
  func clickOnWarning() {
    var dashboard = list()
    var update = Scene.update
    update.warnings = (1...4).map { number in
      MonitorWarning(kind: .fanOut, operations: [ID(1100 + number)], count: 20_000 + number)
    }
    dashboard.take(.monitor(.update(update)))
    dashboard.press("!")
    dashboard.click("20,003")
    #expect(dashboard.selectedWarning?.count == 20_003)
  }

  @Test("MS-6: A click on a run of the timeline selects its slot, and then the run")
  func clickOnRun() {
    var dashboard = list()
    for _ in 0..<3 { dashboard.press(.tab) }
    HistoryScene.report(&dashboard)
    dashboard.click("#1042")
    #expect(dashboard.timeline.run?.id == ID(1042))
    #expect(dashboard.detail == nil)
    // Blank rows between the queues are no rows of the timeline.
    let heading = dashboard.text().lastIndex { $0.contains("index") && $0.contains("1/1") } ?? 0
    dashboard.click(row: heading, column: 4)
    #expect(dashboard.timeline.selected == .queue(Scene.index))
    let before = dashboard.timeline
    dashboard.click(row: heading - 1, column: 4)
    #expect(dashboard.timeline == before)
    dashboard.click("#1051")
    #expect(dashboard.timeline.run?.id == ID(1051))
    dashboard.click("#1051")
    #expect(dashboard.detail?.id == ID(1051))
  }

  @Test("MS-5: A click selects a process of the picker")
  func clickInPicker() {
    for (columns, rows) in [(80, 24), (40, 10), (120, 40)] {
      var dashboard = Dashboard(configuration: .withMouse)
      dashboard.take(.resized(Size(columns: columns, rows: rows)))
      dashboard.press("o")
      dashboard.take(.found(PickerScene.choices(3)))
      dashboard.click("service 2")
      #expect(dashboard.picker?.selected.processID == 102)
      dashboard.click("service 1")
      #expect(dashboard.picker?.selected.processID == 101)
      #expect(dashboard.click("service 1") == [.open(.process("/run/1"))])
    }
  }

  // MARK: Headings

  @Test("MS-7: A click on a heading sorts by its column, and the next one reverses the order")
  func clickOnHeading() {
    for (heading, column) in [
      ("STATE", SortOrder.Column.state), ("QUEUE", .queue), ("TIME", .time), ("OPERATION", .name),
      ("DEPS", .dependencies), ("ID", .id),
    ] {
      var dashboard = list(columns: 120, rows: 40)
      // The reversed order of another column does not reverse the order of the clicked one.
      dashboard.list.listing.order = SortOrder(by: column == .id ? .name : .id, isReversed: true)
      dashboard.click(" \(heading)")
      // The text begins at the space before the heading, which can be part of the column.
      if dashboard.list.listing.order.column != column { dashboard.click(heading) }
      #expect(dashboard.list.listing.order.column == column, "\(heading)")
      #expect(!dashboard.list.listing.order.isReversed, "\(heading)")
      dashboard.click(heading)
      #expect(dashboard.list.listing.order.isReversed, "\(heading)")
      #expect(dashboard.list.listing.order.column == column, "\(heading)")
      dashboard.click(heading)
      #expect(!dashboard.list.listing.order.isReversed, "\(heading)")
    }
  }

  @Test("MS-7: A click on the heading of a column without an order sounds the bell")
  func clickOnOtherHeading() {
    var dashboard = ColumnTests.fullDashboard(200, 60)
    dashboard.settings.usesMouse = true
    let order = dashboard.list.listing.order
    for heading in ["KEY", "KIND", "QOS", "PROGRESS, ERROR"] {
      #expect(dashboard.click(heading) == [.bell], "\(heading)")
    }
    #expect(dashboard.list.listing.order == order)
  }
}

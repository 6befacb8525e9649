// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Clicks after an update that the terminal does not show yet") struct SeenFrameTests {
  private typealias ID = OperationReport.ID

  /// Returns the screen row of the first line that contains a text.
  private func row(of text: String, in dashboard: Dashboard) -> Int {
    dashboard.text().firstIndex { $0.contains(text) } ?? 0
  }

  @Test("MS-12: A click selects the operation that the user sees, also if its row has moved")
  func movedRow() {
    var dashboard = Scene.dashboard(configuration: .withMouse)
    let keys = dashboard.visibleKeys.map(\.id)
    dashboard.show()
    let row = row(of: "resample landuse", in: dashboard)
    let above = keys.prefix { $0 != ID(1080) }.last { $0 != dashboard.list.selection.id }
    dashboard.update(removed: above.map { [$0] } ?? [])
    #expect(!dashboard.text()[row].contains("resample landuse"))
    dashboard.click(row: row, column: 20)
    #expect(dashboard.list.selection.id == ID(1080))
    #expect(dashboard.detail == nil)
  }

  @Test("MS-12: A click on a row that has disappeared has no effect")
  func removedRow() {
    var dashboard = Scene.dashboard(configuration: .withMouse)
    dashboard.show()
    let row = row(of: "resample landuse", in: dashboard)
    let selected = dashboard.list.selection.id
    dashboard.update(removed: [ID(1080)])
    #expect(dashboard.click(row: row, column: 20) == [])
    #expect(dashboard.list.selection.id == selected)
    #expect(dashboard.detail == nil)
    // The next frame shows the rows as they are.
    dashboard.show()
    let other = dashboard.visibleKeys.map(\.id)[2]
    dashboard.click(row: self.row(of: "\(other) ", in: dashboard), column: 20)
    #expect(dashboard.list.selection.id == other)
  }

  @Test("MS-12: A click selects the group that the user sees, also if the order has changed")
  func movedGroup() {
    var dashboard = ViewScene.dashboard(configuration: .withMouse)
    dashboard.press("v")
    dashboard.show()
    let row = row(of: "IndexWriter", in: dashboard)
    dashboard.press("I")
    #expect(!dashboard.text()[row].contains("IndexWriter"))
    dashboard.click(row: row, column: 5)
    #expect(dashboard.shownGroups?.selected?.key == .kind("IndexWriter"))
  }

  @Test("MS-12: A click in the setup selects the column that the user sees, also if it has moved")
  func movedColumn() {
    var dashboard = SetupTests.setup(columns: 120, rows: 40, configuration: .withMouse)
    dashboard.press(.tab)
    while dashboard.setup?.selectedColumn != .queue { dashboard.press("j") }
    dashboard.show()
    let row = row(of: "[x] state", in: dashboard)
    dashboard.press("{")
    #expect(dashboard.text()[row].contains("[x] queue"))
    #expect(dashboard.click(row: row, column: 60) == [])
    #expect(dashboard.setup?.selectedColumn == .state)
    #expect(dashboard.setup?.shown.isSuperset(of: [.state, .queue]) == true)
  }

  @Test("MS-12: A click in the setup changes only what the user has seen as selected")
  func changedSelectionInSetup() {
    var dashboard = SetupTests.setup(configuration: .withMouse)
    dashboard.press("j")
    dashboard.show()
    let (sort, bell) = (row(of: "▌ sort", in: dashboard), row(of: "  bell", in: dashboard))
    while dashboard.setup?.selectedKey != .bell { dashboard.press("j") }
    dashboard.click(row: bell, column: 5)
    #expect(dashboard.setup?.selectedKey == .bell)
    // The user has seen this row as selected, but it is no longer selected.
    dashboard.click(row: sort, column: 5)
    #expect(dashboard.setup?.selectedKey == .sort)
    #expect(dashboard.unsavedSettings == [])
    dashboard.click(row: sort, column: 5)
    #expect(dashboard.unsavedSettings == [.sort])
  }

  @Test("MS-12: A click on a run opens it only if the user has seen it as selected")
  func changedRun() {
    var dashboard = ViewScene.dashboard(columns: 120, rows: 40, configuration: .withMouse)
    dashboard.take(.input(.alt("4")))
    HistoryScene.report(&dashboard)
    dashboard.click("#1042")
    dashboard.press("h")
    #expect(dashboard.timeline.run?.id == ID(1034))
    dashboard.show()
    dashboard.press("l")
    #expect(dashboard.timeline.run?.id == ID(1042))
    dashboard.click("#1042")
    #expect(dashboard.detail == nil && dashboard.timeline.run?.id == ID(1042))
    dashboard.show()
    dashboard.click("#1042")
    #expect(dashboard.detail?.id == ID(1042))
  }

  @Test("MS-12: A click does not concern a screen that has opened since the frame")
  func otherScreen() {
    var dashboard = Scene.dashboard(configuration: .withMouse)
    dashboard.show()
    let row = row(of: "resample landuse", in: dashboard)
    dashboard.press("!")
    let before = dashboard.picture()
    #expect(dashboard.click(row: row, column: 20) == [])
    #expect(dashboard.picture() == before)
    dashboard.show()
    #expect(dashboard.click("q Back", lastRow: true) != nil)
    #expect(dashboard.keyContext == .list)
  }

  @Test("MS-12: An answer of a question needs a frame that shows the question")
  func question() {
    var dashboard = Scene.dashboard(configuration: .withMouse)
    dashboard.show()
    dashboard.press("x")
    #expect(dashboard.keyContext == .question)
    #expect(dashboard.click("y Yes") == [])
    #expect(dashboard.keyContext == .question)
    dashboard.show()
    #expect(dashboard.click("y Yes") == [.send(.cancel([ID(1042)]))])
  }

  @Test("MS-12: Without the mouse, the dashboard notes no frame")
  func switchedOff() {
    var dashboard = Scene.dashboard()
    dashboard.show()
    #expect(dashboard.screen.seen == nil)
  }
}

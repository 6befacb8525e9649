// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Footers, questions and the wheel") struct MouseKeysTests {
  private typealias ID = OperationReport.ID

  private func list(columns: Int = 80, rows: Int = 24) -> Dashboard {
    Scene.dashboard(columns: columns, rows: rows, configuration: .withMouse)
  }

  @Test("MS-8: A click on a key of the footer has the effect of the key", arguments: [40, 80, 200])
  func clickOnFooter(columns: Int) {
    let start = list(columns: columns, rows: 30)
    let row = 29
    let regions = ScreenRegions(start)
    var actions: [KeyAction] = []
    for column in 0..<columns {
      guard case .footer(let action) = regions.target(row: row, column: column) else { continue }
      if actions.last != action { actions.append(action) }
      var clicked = start
      var pressed = start
      let binding = KeyTable.bindings.first {
        $0.action == action && $0.contexts.contains(.list)
      }
      let input = binding?.inputs.first ?? .character("?")
      #expect(clicked.click(row: row, column: column) == pressed.take(.input(input)))
      #expect(clicked.picture() == pressed.picture(), "\(action)")
      #expect(clicked.keyContext == pressed.keyContext, "\(action)")
    }
    #expect(actions.last == .program(.close))
    #expect(actions.count > (columns == 40 ? 2 : 6))
  }

  @Test("MS-8: The gaps between the keys of the footer have no effect")
  func gaps() {
    let start = list()
    let regions = ScreenRegions(start)
    let line = Array(start.picture().row(23))
    for column in 0..<79 where line[column].scalar == " " && line[column + 1].scalar == " " {
      #expect(regions.target(row: 23, column: column) == nil, "column \(column)")
    }
  }

  @Test("MS-8: A sentence that covers the footer does not react")
  func coveredFooter() {
    var dashboard = list(columns: 40, rows: 11)
    let layout = dashboard.screen.layout
    #expect(layout?.footer != nil && layout?.footer == layout?.prompt)
    dashboard.show("a sentence about the last action")
    let regions = ScreenRegions(dashboard)
    let row = dashboard.screen.layout?.prompt ?? 9
    #expect(dashboard.text()[row].contains("a sentence"))
    for column in 0..<40 { #expect(regions.target(row: row, column: column) == nil) }
  }

  @Test("MS-8: A click on an answer of a question gives the answer")
  func answers() {
    let id = ID(1042)
    for (answer, effects): (String, [Effect]) in [("n No", []), ("y Yes", [.send(.cancel([id]))])] {
      var dashboard = list()
      dashboard.press("x")
      #expect(dashboard.keyContext == .question)
      // A click elsewhere does not answer.
      #expect(dashboard.click(row: 12, column: 10) == [])
      #expect(dashboard.turnWheel(.wheelDown) == [])
      #expect(dashboard.keyContext == .question)
      #expect(dashboard.click(answer) == effects)
      #expect(dashboard.keyContext == .list)
    }
  }

  @Test("MS-8: A click in the footer of the help, of the picker and of a view closes it")
  func closing() {
    for (keys, context): (String, KeyContext) in [
      ("?", .list), ("o", .list), ("!", .list), ("d", .list), ("t", .list), ("L", .list),
    ] {
      var dashboard = list()
      dashboard.press(keys)
      #expect(dashboard.keyContext != context, "\(keys)")
      #expect(dashboard.click("q Back", lastRow: true) != nil, "\(keys)")
      #expect(dashboard.keyContext == context, "\(keys)")
    }
  }

  @Test(
    "MS-9: While the user types a text or selects from a menu, the mouse has no effect",
    arguments: ["\\sta", "/dem", "s", "12", "X"])
  func prompts(keys: String) {
    var dashboard = list()
    dashboard.press(keys)
    let before = dashboard.picture()
    for row in 0..<24 {
      #expect(dashboard.click(row: row, column: 12) == [])
      #expect(dashboard.turnWheel(.wheelDown, row: row) == [])
    }
    #expect(dashboard.picture() == before)
  }

  @Test("MS-10: The wheel moves the selection by three rows")
  func wheel() {
    for tabs in 0..<5 {
      var wheeled = list()
      for _ in 0..<tabs { wheeled.press(.tab) }
      if tabs >= 3 { HistoryScene.report(&wheeled) }
      var moved = wheeled
      #expect(wheeled.turnWheel(.wheelUp) == [])
      moved.press("kkk")
      #expect(wheeled.picture() == moved.picture(), "view \(tabs)")
      #expect(wheeled.turnWheel(.wheelDown) == [])
      #expect(wheeled.turnWheel(.wheelDown) == [])
      moved.press("jjjjjj")
      #expect(wheeled.picture() == moved.picture(), "view \(tabs)")
    }
  }

  @Test("MS-10: The wheel scrolls the help, the picker and the detail screen")
  func wheelInOverlays() {
    for keys in ["?", "o", "d", "!"] {
      var wheeled = list(columns: 60, rows: 14)
      wheeled.press(keys)
      wheeled.take(.found(PickerScene.choices(30)))
      var moved = wheeled
      wheeled.turnWheel(.wheelDown)
      moved.press("jjj")
      #expect(wheeled.picture() == moved.picture(), "\(keys)")
    }
  }

  @Test("MS-11: A click on the bar with the position in a recording goes to that moment")
  func replayBar() throws {
    var dashboard = Dashboard(configuration: .withMouse)
    dashboard.take(.resized(Size(columns: 120, rows: 40)))
    let status = ReplayStatus(
      time: Scene.now, position: .seconds(40), length: .seconds(100), isPlaying: true)
    dashboard.take(.replay(status))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    let row = try #require(dashboard.screen.layout?.replayBar)
    let bar = ReplayBar(status, columns: 0..<120)
    #expect(dashboard.click(row: row, column: 60).count == 1)
    for column in 0..<120 {
      let expected = bar.time(at: column).map { [Effect.replay(.go(to: $0))] }
      #expect(dashboard.click(row: row, column: column) == expected ?? [], "column \(column)")
    }
  }

  @Test("MS-5: On a screen that is too small, the mouse has no effect")
  func tooSmall() {
    var dashboard = list(columns: 30, rows: 5)
    let before = dashboard.picture()
    for row in 0..<5 { #expect(dashboard.click(row: row, column: 3) == []) }
    #expect(dashboard.turnWheel(.wheelDown) == [])
    #expect(dashboard.picture() == before)
  }

  @Test("WN-1: Names of each script and width do not shift what a click selects")
  func names() {
    let names = [
      "漢字 漢字", "👩‍👩‍👧‍👦 family", "שלום עולם", "e\u{301}\u{302}", "\u{1B}[2J\r\n", "\u{202E}evil", "",
      "กำลัง",
    ]
    var dashboard = list(columns: 120, rows: 40)
    var queues = Scene.queues
    for index in queues.indices { queues[index].name = names[index] }
    var update = Scene.update
    update.queues = queues
    update.changed = Scene.operations.enumerated().map { index, report in
      var report = report
      report.name = names[index % names.count]
      return report
    }
    dashboard.take(.monitor(.update(update)))
    let keys = Array(dashboard.visibleKeys)
    let body = dashboard.screen.layout?.body ?? 0..<0
    for (row, key) in zip(body, keys).dropFirst() {
      dashboard.click(row: row, column: 40)
      #expect(dashboard.list.selection.id == key.id)
    }
    dashboard.click("STATE")
    #expect(dashboard.list.listing.order.column == .state)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The whole name of the selected operation")
struct NameTests {
  private typealias ID = OperationReport.ID

  private static let name =
    "resample every tile between the Baltic and the Black Sea at zoom 15 with the new kernel, "
    + "and write them to /srv/tiles/15/"

  private static func dashboard(
    name: String = Self.name, columns: Int = 80, rows: Int = 24
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: name, className: "Resample", queue: Scene.io, state: .executing,
        started: Scene.seconds(1))
    ])
    dashboard.press("g")
    return dashboard
  }

  private func lines(_ text: String, columns: Int = 10, limit: Int = 4) -> [String] {
    WrappedText(text, columns: columns, lineLimit: limit).lines.map { cells in
      String(String.UnicodeScalarView(cells.lazy.filter { !$0.isContinuation }.map(\.scalar)))
    }
  }

  // MARK: Wrapping

  @Test func aTextIsBrokenAfterSpacesAndWithinLongWords() {
    #expect(lines("short") == ["short"])
    #expect(lines("") == [])
    #expect(lines("one two three four") == ["one two ", "three four"])
    #expect(lines("exactly 10 and more") == ["exactly 10", "and more"])
    #expect(lines("0123456789abcdef") == ["0123456789", "abcdef"])
    #expect(lines("漢字漢字漢字", columns: 5) == ["漢字", "漢字", "漢字"])
  }

  @Test func aNameThatIsTooLongEndsInAnEllipsis() {
    #expect(lines("one two three four five", limit: 2) == ["one two ", "three fou…"])
    #expect(lines(String(repeating: "x", count: 1_000_000), limit: 1) == ["xxxxxxxxx…"])
    let wide = lines(String(repeating: "漢", count: 100), columns: 5, limit: 2)
    #expect(wide == ["漢漢", "漢漢…"])
  }

  @Test("T36: A text of any kind gives no line wider than requested", arguments: 2...20)
  func linesAreNeverTooWide(columns: Int) {
    let texts = [
      "a 漢字 b", "漢", String(repeating: "漢 ", count: 50), String(repeating: " ", count: 99),
      "e\u{301}\u{302} x", "\n\t\u{1B}[2J \u{202E}", String(repeating: "long ", count: 99),
    ]
    for text in texts {
      for limit in 1...5 {
        let wrapped = WrappedText(text, columns: columns, lineLimit: limit)
        #expect(wrapped.lines.count <= limit)
        #expect(
          wrapped.lines.allSatisfy { $0.count <= columns && $0.first?.isContinuation != true })
      }
    }
  }

  // MARK: The window

  @Test func wOpensAWindowBelowTheRowsAndClosesIt() {
    var dashboard = Self.dashboard()
    let before = dashboard.visibleKeys.map(\.id)
    #expect(!dashboard.text().shows("and write them to"))
    #expect(dashboard.press("w") == [])
    let text = dashboard.text()
    #expect(text.shows("─ #7 Resample ─"))
    #expect(text.shows(" resample every tile between the Baltic and the Black Sea at zoom 15"))
    #expect(text.shows("and write them to /srv/tiles/15/"))
    #expect(dashboard.visibleKeys.count < before.count)
    dashboard.press("w")
    #expect(dashboard.visibleKeys.map(\.id) == before)
    #expect(!dashboard.text().shows("and write them to"))
  }

  @Test(
    "Esc and q close the name window first", arguments: [Input.key(.escape), .character("q")])
  func theWindowIsTheTopLayer(input: Input) {
    var dashboard = Self.dashboard()
    dashboard.press("tw")
    #expect(dashboard.take(.input(input)) == [])
    #expect(dashboard.keyContext == .tree && !dashboard.screen.showsName)
    dashboard.press("q")
    #expect(dashboard.press("wq") == [])
    #expect(dashboard.press("q") == [.quit])
  }

  @Test func movementKeysWorkAndTheSelectionStaysVisible() throws {
    var dashboard = Self.dashboard()
    dashboard.press("w")
    for key in ["j", "j", "G", "k", "g", "G"] {
      dashboard.press(key)
      let id = try #require(dashboard.list.selection.id)
      #expect(dashboard.visibleKeys.contains { $0.id == id })
      #expect(dashboard.wholeName?.id == id)
      #expect(dashboard.text().shows("─ \(id) "))
    }
  }

  @Test func theNameWindowWorksInAllViews() {
    var dashboard = HistoryScene.dashboard()
    dashboard.press("w")
    #expect(dashboard.text().shows("─ #1042 "))
    for digit in "2345".unicodeScalars {
      dashboard.take(.input(.alt(digit)))
      HistoryScene.report(&dashboard)
      if digit == "5" { dashboard.press("k") }
      #expect(dashboard.text().shows("w closes") == (digit != "3"))
    }
    // An event contains the name of its operation, even if the operation is no longer kept.
    dashboard.press("g")
    #expect(dashboard.wholeName?.text == "compute tile")
  }

  @Test func theDetailReplacesTheNameWindowAndClosesFirst() {
    var dashboard = Self.dashboard()
    let height = dashboard.pageHeight
    dashboard.press("w")
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .detail)
    #expect(dashboard.wholeName == nil && dashboard.pageHeight == height)
    dashboard.press(.escape)
    #expect(dashboard.keyContext == .list && dashboard.wholeName != nil)
    dashboard.press(.escape)
    #expect(dashboard.wholeName == nil)
  }

  @Test func withoutASelectionTheNameWindowDoesNotOpen() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\zebra")
    dashboard.press(.enter)
    #expect(dashboard.press("w") == [.bell])
  }

  @Test("T28, T31: the name in the window is sanitised")
  func theNameIsSanitised() {
    var dashboard = Self.dashboard(name: "a\u{1B}[2J\r\n\u{202E}b")
    dashboard.press("w")
    #expect(dashboard.text().shows(" a·[2J  ·b"))
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test("T17: a window with any name fits every screen", arguments: [10, 11, 16, 24, 40])
  func theWindowFitsEveryScreen(rows: Int) {
    for length in [1, 200, 5_000] {
      for columns in [40, 79, 80, 120, 140] {
        var dashboard = Self.dashboard(
          name: String(repeating: "漢字 word ", count: length), columns: columns, rows: rows)
        dashboard.press("w")
        #expect(dashboard.pageHeight >= 2)
        GoldenFrame.checkCells(of: dashboard.picture())
        GoldenFrame.checkCells(of: dashboard.picture(isUnicode: false))
      }
    }
  }

  @Test(arguments: [(80, 24), (120, 40), (40, 10)])
  func theWindowLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(columns: columns, rows: rows)
    dashboard.press("w")
    GoldenFrame.check(dashboard.picture(), named: "name-\(columns)x\(rows)")
  }
}

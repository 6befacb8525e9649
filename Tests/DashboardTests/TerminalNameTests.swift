// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Names that look alike or join with adjacent text")
struct TerminalNameTests {
  @Test("T34: a mark at the beginning of a name does not change the space before it")
  func aMarkLeavesTheSpaceBeforeItAlone() {
    let cells = CellText("#7 \u{301}a", columns: 9).cells
    #expect(cells.map(\.scalar) == ["#", "7", " ", "\u{25CC}", "a"])
    #expect(cells.map { $0.mark != nil } == [false, false, false, true, false])
    #expect(CellText(" \u{301}", columns: 1).cells.count == 1)
  }

  @Test("T35: characters that fonts join take as many cells as counted, and are never cut in half")
  func joinedCharactersAreCounted() {
    let samples: [(text: String, width: Int)] = [
      ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", 8), ("\u{1F1E9}\u{1F1EA}", 2),
      ("\u{263A}\u{FE0F}", 1), ("\u{263A}\u{FE0E}", 1), ("\u{1112}\u{1161}\u{11AB}", 2),
      ("\u{E01}\u{E34}\u{E19}", 2), ("\u{645}\u{631}\u{62D}\u{628}\u{627}", 5),
      ("\u{1F3FD}", 2), ("\u{1F44D}\u{1F3FD}", 4),
    ]
    for (text, width) in samples {
      #expect(CellText(text, columns: 20).cells.count == width, "\(text)")
      for columns in 0...width + 1 {
        var canvas = Canvas(size: Size(columns: columns + 1, rows: 1), capabilities: Capabilities())
        canvas.write("\(text)|", row: 0, columns: 0..<columns)
        GoldenFrame.checkCells(of: canvas.grid)
        #expect(canvas.grid.cells[columns].scalar == " ", "\(text) in \(columns)")
      }
    }
  }

  @Test(
    "T37: names that look alike are distinguished by their ids, in the list and in the question")
  func similarNamesAreDistinguished() {
    var dashboard = Scene.dashboard()
    let names = ["pay\u{1B}out", "pay\u{7F}out", "pay\u{202E}out"]
    dashboard.update(
      changed: names.enumerated().map { index, name in
        OperationReport(
          id: .init(2_001 + index), name: name, className: "Block", queue: Scene.io,
          state: .executing, started: Scene.seconds(1))
      })
    dashboard.press("\\pay")
    dashboard.press(.enter)
    let rows = dashboard.text().filter { $0.contains("pay·out") }
    for id in ["#2001", "#2002", "#2003"] {
      #expect(rows.count { $0.contains("\(id) ") } >= 1, "\(rows)")
    }
    dashboard.press("gjx")
    #expect(dashboard.text().shows("Cancel #2002 pay·out?"))
  }
}

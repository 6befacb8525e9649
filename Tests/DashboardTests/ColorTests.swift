// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the weight of the parts of the screen.
@Suite("Colors and weight")
struct ColorTests {
  private static func row(of id: String, in grid: Grid) -> Int? {
    grid.text.firstIndex { $0.contains("\(id) ") }
  }

  @Test(
    "The selected row is one solid bar in every view",
    arguments: ["", "t", "3", "5", "!"], [(40, 12), (80, 24), (120, 40)])
  func theSelectedRowIsSolid(keys: String, size: (Int, Int)) {
    var dashboard = Scene.dashboard(columns: size.0, rows: size.1)
    var update = Scene.update
    update.warnings = [MonitorWarning(kind: .readyButNotStarted, queue: Scene.cpu, count: 3)]
    dashboard.take(.monitor(.update(update)))
    dashboard.press(" ")
    for key in keys.unicodeScalars {
      dashboard.take(.input(("0"..."9").contains(key) ? .alt(key) : .character(key)))
    }
    if keys == "5" {
      HistoryScene.report(&dashboard)
      dashboard.press("k")
    }
    let grid = dashboard.picture()
    let selected = (0..<size.1).filter { grid[row: $0, column: 0].style.isSelected }
    #expect(selected.count == 1)
    let end = dashboard.screen.layout?.table.upperBound ?? 0
    let isWhole = keys == "!"
    for row in selected {
      let cells = grid.row(row).prefix(isWhole ? size.0 : end)
      #expect(cells.allSatisfy { $0.style == .selected }, "\(grid.text[row])")
    }
    // No other cell has the style of the selection.
    let count = grid.cells.count { $0.style.isSelected }
    #expect(count == (isWhole ? size.0 : end))
  }

  @Test func onlyBannersAndActiveCancelKeysAreReversedBesideTheSelection() {
    var dashboard = Scene.dashboard()
    #expect(!dashboard.picture().cells.contains { $0.style.isReversed })
    dashboard.press("X")
    #expect(dashboard.picture().cells.contains { $0.style.isReversed })
  }

  @Test("Executing operations are the most visible rows", arguments: [true, false])
  func executingRowsWinTheEye(isUnicode: Bool) throws {
    var dashboard = Scene.dashboard(columns: 80, rows: 60)
    dashboard.press("1200")
    dashboard.press(.enter)
    let grid = dashboard.picture(isUnicode: isUnicode)
    for (id, state) in [("#1042", "executing"), ("#1103", "ready"), ("#1122", "waiting")] {
      let row = try #require(Self.row(of: id, in: grid))
      let cells = grid.row(row)
      let isExecuting = state == "executing"
      #expect(cells.contains { $0.style.role == .executing } == isExecuting, "\(id)")
      #expect(cells.contains { $0.style.isBold } == isExecuting, "\(id)")
    }
  }

  @Test("The part of finished operations in the bar is lighter than the part of executing ones")
  func theFinishedPartIsQuiet() {
    #expect(Glyphs(isUnicode: true).share(of: .finished) == "░")
    #expect(Glyphs(isUnicode: true).share(of: .executing) == "█")
    #expect(Glyphs(isUnicode: false).share(of: .finished) == "-")
    #expect(Glyphs(isUnicode: false).share(of: .executing) == "#")
  }

  @Test("The timeline distinguishes a finished run from idle time", arguments: [true, false])
  func finishedRunsAreNotIdleTime(isUnicode: Bool) {
    let glyphs = Glyphs(isUnicode: isUnicode)
    let runs = [OperationState.finished, .cancelled, .executing].map { glyphs.run($0) }
    #expect(Set(runs + [glyphs.idleTime]).count == 4)
  }

  @Test func theSizeOfACutListIsNotAWarning() throws {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    var update = Scene.update
    update.matchCount = 881_119
    dashboard.take(.monitor(.update(update)))
    let grid = dashboard.picture()
    let row = try #require(grid.text.firstIndex { $0.contains("of 881,119") })
    #expect(!grid.row(row).contains { $0.style.role == .warning })
  }
}

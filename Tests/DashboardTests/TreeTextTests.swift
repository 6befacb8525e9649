// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The texts in the tree and beside the pane")
struct TreeTextTests {
  private typealias ID = OperationReport.ID

  /// Returns a dashboard that shows the tree of the dependencies of an operation.
  private func treeDashboard(of id: Int = 1200, columns: Int, rows: Int = 40) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("\(id)")
    dashboard.press(.enter)
    dashboard.press("d")
    return dashboard
  }

  @Test("A row of several operations has at most one ellipsis after the first name")
  func aGroupHasNoTwoEllipsesTogether() {
    for columns in 40...160 {
      var dashboard = treeDashboard(columns: columns)
      for key in ["", "X"] {
        dashboard.press(key)
        let text = dashboard.text()
        #expect(!text.shows("… …") && !text.shows("……"), "\(columns) columns")
      }
    }
  }

  @Test("If the last name of several operations does not fit, the row ends after the first name")
  func aGroupLeavesOutItsLastName() {
    var dashboard = treeDashboard(columns: 80, rows: 24)
    dashboard.press("X")
    #expect(dashboard.text().contains { $0.hasSuffix("+ 3 finished: fetch catalogue …") })
  }

  @Test("Text of the rows does not touch the border of the pane", arguments: ["", "t", "1200\rd"])
  func textDoesNotTouchThePane(keys: String) {
    for columns in [120, 121, 140, 200] {
      var dashboard = Scene.dashboard(columns: columns, rows: 40)
      let name = String(repeating: "long name ", count: 20)
      dashboard.update(
        changed: [
          OperationReport(
            id: ID(7), name: name, className: "Block", queue: Scene.io, state: .executing,
            started: Scene.seconds(1))
        ])
      for key in keys {
        if key == "\r" { dashboard.press(.enter) } else { dashboard.press("\(key)") }
      }
      for key in ["", "X"] {
        dashboard.press(key)
        let border = (dashboard.screen.layout?.pane?.lowerBound ?? 0) - 1
        let grid = dashboard.picture()
        for row in dashboard.screen.layout?.body ?? 0..<0 {
          #expect(grid[row: row, column: border].scalar == "│")
          #expect(grid[row: row, column: border - 1].scalar == " ", "row \(row)")
        }
      }
    }
  }

  @Test("Text of the left tree on the detail screen does not touch the border between the trees")
  func textDoesNotTouchTheMiddleOfTheDetailScreen() {
    for columns in [64, 72, 80, 81, 100] {
      var dashboard = Scene.dashboard(columns: columns, rows: 60)
      dashboard.press("1200")
      dashboard.press(.enter)
      dashboard.press(.enter)
      let border = columns / 2 - 1
      let grid = dashboard.picture()
      let rows = (0..<60).filter { grid[row: $0, column: border].scalar == "│" }
      #expect(rows.count > 10)
      for row in rows { #expect(grid[row: row, column: border - 1].scalar == " ", "row \(row)") }
    }
  }

  // MARK: The ghost cursor

  private func ghostDashboard(columns: Int, rows: Int) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("tgjj")
    dashboard.update(removed: [ID(1080)])
    return dashboard
  }

  private func column(of text: String, in dashboard: Dashboard) -> Int? {
    let lines = dashboard.text().filter { $0.contains(text) && !$0.contains(" \(text) has ") }
    return lines.first?.firstRange(of: text).flatMap { range in
      lines.first?.distance(from: lines[0].startIndex, to: range.lowerBound)
    }
  }

  @Test("The sentence of the ghost cursor begins at the column of the names")
  func theGhostIsAtTheNames() throws {
    let dashboard = ghostDashboard(columns: 80, rows: 24)
    let names = try #require(column(of: "#1095 (IndexWriter)", in: dashboard))
    #expect(column(of: "#1080 selected row: finished · g: first row", in: dashboard) == names)
  }

  @Test("Without room at the column of the names, the ghost's sentence begins at the left")
  func theGhostIsAtTheLeftOnANarrowScreen() {
    let dashboard = ghostDashboard(columns: 40, rows: 10)
    #expect(dashboard.text().shows("▌ selected row: finished · g: first row"))
  }
}

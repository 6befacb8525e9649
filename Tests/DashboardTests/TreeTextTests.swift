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

  // MARK: The number of operations below

  /// Returns the words of the row of each operation in the tree of an operation: the state is preceded by the
  /// number of operations below.
  private func below(
    _ operations: [OperationReport], root: Int, key: String = "d"
  ) -> [ID: String] {
    var dashboard = Dashboard(configuration: .init(title: "jobs"))
    dashboard.take(.resized(Size(columns: 120, rows: 60)))
    dashboard.take(.tick(Scene.now))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.monitor(.update(Scene.update(of: operations))))
    dashboard.press("\(root)")
    dashboard.press(.enter)
    dashboard.press(key)
    var found: [ID: String] = [:]
    for row in dashboard.text() {
      let words = row.split(separator: " ")
      guard let state = words.firstIndex(of: "waiting"), state > 2,
        let id = words[state...].lazy.compactMap({ word in
          word.hasPrefix("#") ? Int(word.dropFirst()) : nil
        }).first
      else { continue }
      found[ID(id)] = String(words[state - 1])
    }
    return found
  }

  private func job(_ id: Int, _ dependencies: [Int], unmet: Int? = nil) -> OperationReport {
    OperationReport(
      id: ID(id), name: "job", className: "Class\(id)", queue: Scene.cpu, state: .waiting,
      dependencies: dependencies.map { ID($0) },
      unmetDependencyCount: unmet ?? dependencies.count, added: Scene.seconds(1))
  }

  @Test("The number of operations below has a + if details of dependencies are missing")
  func aLowerBoundIsMarked() {
    // Operation 4 depends on 1,500 operations without details. 1,200 of them have not finished.
    let found = below(
      [
        job(1, [2, 5]), job(2, [3, 4]), job(3, []), job(4, Array(1_000..<2_500), unmet: 1_200),
        job(5, [6]), job(6, []),
      ], root: 1)
    #expect(found[ID(4)] == "1.2k+")
    #expect(found[ID(2)] == "1.2k+")
    #expect(found[ID(1)] == "1.2k+")
    #expect(found[ID(5)] == "1")
  }

  @Test("Dependencies without details that have all finished do not change the number")
  func finishedDependenciesAreNotMissing() {
    let found = below([job(1, [2, 7]), job(2, [3, 8, 9], unmet: 1), job(3, [])], root: 1)
    #expect(found[ID(2)] == "1")
    #expect(found[ID(1)] == "3+")
  }

  @Test("The number of dependents below has a + if details of dependents are missing")
  func missingDependentsAreMarked() {
    var first = job(1, [])
    first.dependentCount = 3
    var second = job(2, [1])
    second.dependentCount = 1
    var store = OperationStore()
    store.apply(changed: [first, second, job(3, [2])], removed: [])
    let counts = DescendantCounts(
      below: [ID(1)], .blocks, in: OperationGraph(store), limit: 1_000)
    #expect(counts.text(ID(1), cells: 5) == "2+")
    #expect(counts.text(ID(2), cells: 5) == "1")
  }

  @Test("The number of operations below has a + if not all of them are counted")
  func aCutCountIsMarked() {
    let count = TreeState.rowLimit + 500
    var operations = (1...count).map { job($0, $0 == count ? [] : [$0 + 1]) }
    #expect(below(operations, root: 1)[ID(1)] == "1.9k+")
    operations = (1...count).map { job($0, $0 == 1 ? [] : [$0 - 1]) }
    #expect(below(operations, root: 1, key: "D")[ID(1)] == "1.9k+")
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

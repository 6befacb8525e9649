// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Golden frames")
struct GoldenFrameTests {
  @Test(arguments: [(80, 24), (120, 40), (40, 10), (60, 16), (200, 60)])
  func theListLooksAsStored(columns: Int, rows: Int) {
    let dashboard = Scene.dashboard(columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "list-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (120, 40), (200, 60), (40, 10)])
  func theQueuesLookAsStored(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press(.tab)
    dashboard.press(.tab)
    // The queues report their orders and their times from this update on.
    dashboard.take(.monitor(.update(ViewScene.fullUpdate)))
    GoldenFrame.check(dashboard.picture(), named: "queues-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (120, 40), (200, 60), (40, 10)])
  func theTreeLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("d")
    GoldenFrame.check(dashboard.picture(), named: "tree-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (120, 40), (200, 60), (40, 10)])
  func theDetailLooksAsStored(columns: Int, rows: Int) {
    for id in ["1077", "1200"] {
      var dashboard = Scene.dashboard(columns: columns, rows: rows)
      dashboard.press(id)
      dashboard.press(.enter)
      dashboard.press(.enter)
      GoldenFrame.check(dashboard.picture(), named: "detail-\(id)-\(columns)x\(rows)")
    }
  }

  @Test func theTreeOfDependentsLooksAsStored() {
    var dashboard = Scene.dashboard()
    dashboard.press("D")
    GoldenFrame.check(dashboard.picture(), named: "blocks-80x24")
  }

  @Test(arguments: [(80, 24), (120, 40), (200, 60)])
  func theHelpLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("?")
    GoldenFrame.check(dashboard.picture(), named: "help-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (40, 10)])
  func theQuestionLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("1077")
    dashboard.press(.enter)
    dashboard.press("x")
    GoldenFrame.check(dashboard.picture(), named: "question-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (40, 10)])
  func activeCancelKeysLookAsStored(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("X")
    GoldenFrame.check(dashboard.picture(), named: "cancel-keys-\(columns)x\(rows)")
    dashboard.press(.escape)
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("dX")
    GoldenFrame.check(dashboard.picture(), named: "cancel-keys-tree-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (40, 10)])
  func theGhostCursorLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("j")
    dashboard.update(removed: [OperationReport.ID(1051)])
    GoldenFrame.check(dashboard.picture(), named: "ghost-\(columns)x\(rows)")
  }

  @Test(arguments: [(80, 24), (40, 10)])
  func theGhostCursorOfTheTreeLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("tgjj")
    dashboard.update(removed: [OperationReport.ID(1080)])
    GoldenFrame.check(dashboard.picture(), named: "ghost-tree-\(columns)x\(rows)")
  }

  @Test func asciiLooksAsStored() {
    var dashboard = Scene.dashboard()
    GoldenFrame.check(dashboard.picture(isUnicode: false), named: "list-ascii-80x24")
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("d")
    GoldenFrame.check(dashboard.picture(isUnicode: false), named: "tree-ascii-80x24")
  }

  @Test func aSmallScreenShowsTheRequiredSize() {
    let dashboard = Scene.dashboard(columns: 39, rows: 9)
    GoldenFrame.check(dashboard.picture(), named: "too-small-39x9")
  }

  @Test func anEndedProcessLooksAsStored() {
    var dashboard = Scene.dashboard()
    dashboard.take(.monitor(.ended(reason: "the process exited")))
    GoldenFrame.check(dashboard.picture(), named: "ended-80x24")
  }

  @Test func aMissingFirstUpdateIsShown() {
    var dashboard = Dashboard(configuration: .init(title: "tiles"))
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    GoldenFrame.check(dashboard.picture(), named: "silent-80x24")
  }

  @Test("T17: the pane is drawn with any number of rows", arguments: [20, 21, 22, 23, 24, 32])
  func theLowPaneIsDrawn(rows: Int) {
    for id in ["1042", "1101", "1180"] {
      var dashboard = Scene.dashboard(columns: 120, rows: rows)
      dashboard.press(id)
      dashboard.press(.enter)
      for key in ["", "w", "t"] {
        dashboard.press(key)
        for banners in 0...3 {
          var update = Scene.update
          update.warnings = Array(
            repeating: MonitorWarning(
              kind: .cycle, operations: [], queue: Scene.cpu, count: 3, since: Scene.now),
            count: banners)
          dashboard.take(.monitor(.update(update)))
          GoldenFrame.checkCells(of: dashboard.picture())
        }
      }
    }
  }

  @Test("T17: every small size is drawn without a trap and with complete characters")
  func everySmallSizeIsDrawn() {
    var dashboard = Scene.dashboard()
    for keys in ["", "t", "?"] {
      dashboard.press(keys)
      for columns in 0...82 {
        for rows in [0, 1, 2, 9, 10, 11, 12, 16, 23, 24] {
          let size = Size(columns: columns, rows: rows)
          let grid = dashboard.view(size: size, capabilities: Capabilities())
          #expect(grid.size == size)
        }
      }
    }
    for columns in [1, 39, 40, 41, 79, 80, 81] {
      let grid = dashboard.view(
        size: Size(columns: columns, rows: 11), capabilities: Capabilities())
      GoldenFrame.checkCells(of: grid)
    }
  }
}

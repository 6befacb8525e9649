// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Quitting while tagged work would end with the program")
struct QuitTests {
  private typealias ID = OperationReport.ID

  private static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    Scene.dashboard(
      columns: columns, rows: rows, configuration: .init(title: "tiles"))
  }

  private func finish(_ ids: [Int], in dashboard: inout Dashboard) {
    dashboard.update(
      changed: ids.map {
        OperationReport(
          id: ID($0), name: "download", className: "Block", queue: Scene.io, state: .finished)
      })
  }

  @Test func qAsksFirstAndOnlyYQuits() {
    var dashboard = Self.dashboard(columns: 120)
    dashboard.press("  ")
    #expect(dashboard.press("q") == [])
    #expect(dashboard.text().shows("Quit without waiting for 2 operations: #1042 download"))
    #expect(!dashboard.text().shows("Also"))
    #expect(dashboard.press("a") == [.bell])
    #expect(dashboard.press("j") == [.bell])
    #expect(dashboard.press("y") == [.quit])
  }

  @Test("Every other key means no", arguments: ["n", "q"])
  func noIsTheDefault(key: String) {
    var dashboard = Self.dashboard()
    dashboard.press(" q")
    #expect(dashboard.press(key) == [])
    #expect(dashboard.keyContext == .list)
    for key in [Key.enter, .escape] {
      dashboard.press("q")
      #expect(dashboard.press(key) == [])
      #expect(dashboard.keyContext == .list)
    }
    #expect(dashboard.tags.ids == [ID(1042)])
  }

  @Test(arguments: [Input.character("Q"), .function(10), .control("c")])
  func quittingAtOnceDoesNotAsk(input: Input) {
    for keys in [" ", " q"] {
      var dashboard = Self.dashboard()
      dashboard.press(keys)
      let effects = dashboard.take(.input(input))
      #expect(effects == [input == .control("c") ? .interrupt : .quit])
    }
  }

  @Test func quittingAsksOnlyIfTaggedOperationsWouldEnd() {
    var untagged = Self.dashboard()
    #expect(untagged.press("q") == [.quit])

    var elsewhere = Scene.dashboard(configuration: .init(source: .process("1")))
    #expect(elsewhere.press(" q") == [.quit])

    var ended = Self.dashboard()
    ended.press(" ")
    ended.take(.monitor(.ended(reason: "the demo has finished")))
    #expect(ended.press("q") == [.quit])

    var finished = Self.dashboard()
    finished.press(" p")
    finish([1042], in: &finished)
    #expect(finished.press("q") == [.quit])
  }

  @Test func theQuestionClosesWhenItsOperationsHaveFinished() {
    var dashboard = Self.dashboard()
    dashboard.press("  q")
    finish([1042], in: &dashboard)
    #expect(dashboard.keyContext == .question)
    finish([1051], in: &dashboard)
    #expect(dashboard.keyContext == .list)
    #expect(dashboard.text().shows("finished; press q to quit"))
    #expect(dashboard.press("q") == [.quit])
  }

  @Test func aReadOnlyDashboardAsksToo() {
    var dashboard = Scene.dashboard(
      configuration: .init(title: "tiles", isReadOnly: true))
    #expect(dashboard.press(" q") == [])
    #expect(dashboard.press("y") == [.quit])
  }

  @Test(arguments: [(80, 24), (40, 10)])
  func theQuestionLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(columns: columns, rows: rows)
    dashboard.press(" q")
    GoldenFrame.check(dashboard.picture(), named: "quit-\(columns)x\(rows)")
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Tags")
struct TagTests {
  private typealias ID = OperationReport.ID

  private func goTo(_ number: String, _ dashboard: inout Dashboard) {
    dashboard.press(number)
    dashboard.press(.enter)
  }

  @Test func spaceAddsATagMovesDownAndRemovesATag() {
    var dashboard = Scene.dashboard()
    dashboard.press("  ")
    #expect(dashboard.tags.ids == [ID(1042), ID(1051)])
    #expect(dashboard.list.selection.id == ID(1080))
    #expect(dashboard.text().shows("2 tagged"))
    dashboard.press("k ")
    #expect(dashboard.tags.ids == [ID(1042)])
    dashboard.press("U")
    #expect(dashboard.tags.ids.isEmpty)
    #expect(dashboard.press("U") == [.bell])
  }

  @Test func aTagStaysWithItsOperationWhenTheOrderChanges() {
    var dashboard = Scene.dashboard(rows: 60)
    dashboard.press(" ")
    dashboard.press("snI")
    #expect(dashboard.tags.ids == [ID(1042)])
    let row = dashboard.text().first { $0.contains("#1042 ") }
    #expect(row?.contains("*") == true)
  }

  @Test func cancellingActsOnTaggedOperations() {
    var dashboard = Scene.dashboard(columns: 120)
    dashboard.press("  G")
    #expect(dashboard.press("x") == [])
    #expect(dashboard.prompts.question?.ids == [ID(1042), ID(1051)])
    #expect(dashboard.text().shows("Cancel 2 operations: #1042 download"))
    #expect(dashboard.press("y") == [.send(.cancel([ID(1042), ID(1051)]))])
    #expect(dashboard.tags.ids.isEmpty)
  }

  @Test func cTagsAnOperationAndItsDependents() {
    var dashboard = Scene.dashboard()
    goTo("1180", &dashboard)
    dashboard.press("c")
    #expect(dashboard.tags.ids == [ID(1180), ID(1181), ID(1200)])
    #expect(dashboard.text().shows("tagged #1180 and 2 dependents"))
  }

  @Test func aTagIsRemovedWhenItsOperationFinishes() {
    var dashboard = Scene.dashboard()
    dashboard.press(" ")
    dashboard.update(changed: [
      OperationReport(
        id: ID(1042), name: "download", className: "Block", queue: Scene.io, state: .finished)
    ])
    #expect(dashboard.tags.ids.isEmpty)
  }

  @Test func aFinishedOperationCannotBeTagged() {
    var dashboard = Scene.dashboard()
    goTo("1099", &dashboard)
    #expect(dashboard.press(" ") == [.bell])
    #expect(dashboard.press("c") == [.bell])
    #expect(dashboard.tags.ids.isEmpty)
  }

  @Test func theMonitorIsAskedForTaggedOperations() {
    var dashboard = Scene.dashboard()
    dashboard.press(" jj ")
    #expect(dashboard.connection.interest.operations.isSuperset(of: dashboard.tags.ids))
  }

  @Test("F7, F8 and braces change the priority of tagged operations, otherwise of the selected one")
  func priorities() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.press("}") == [.send(.changePriority([ID(1042)], by: 1))])
    dashboard.press("j ")
    #expect(
      dashboard.take(.input(.function(7))) == [.send(.changePriority([ID(1051)], by: -1))])
    dashboard.take(
      .monitor(
        .commandResult(
          CommandResult(
            command: .changePriority([ID(1051)], by: -1), outcomes: [.requested]))))
    #expect(dashboard.text().shows("#1051: normal → low"))
    #expect(dashboard.text(isUnicode: false).shows("#1051: normal -> low"))
  }

  @Test("Each result of a changed priority has the old and the new value, also if keys are faster")
  func resultsOfPriorities() {
    var dashboard = Scene.dashboard()
    func answer() {
      let command = MonitorCommand.changePriority([ID(1042)], by: 1)
      dashboard.take(
        .monitor(.commandResult(CommandResult(command: command, outcomes: [.requested]))))
    }
    dashboard.press("}}")
    answer()
    #expect(dashboard.text().shows("#1042: high → very high"))
    answer()
    #expect(dashboard.text().shows("#1042 already has priority very high"))
    #expect(dashboard.list.priorityChanges.isEmpty)
  }
}

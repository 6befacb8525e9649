// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The column of cancel keys, and the prompts for cancelling")
struct CancelKeyTests {
  private typealias ID = OperationReport.ID

  /// Returns the columns between the mark of the selection and the operation's id, in the row of an operation.
  private func key(of id: Int, in dashboard: Dashboard) -> String? {
    let line = dashboard.text().first { $0.contains("#\(id) ") && !$0.hasPrefix(" #") }
    return line.map { String($0.dropFirst(2).prefix { $0 != "#" }) }
  }

  private func headings(of dashboard: Dashboard) -> String? {
    dashboard.text().first { $0.contains(" ID ") && $0.contains("STATE") }
  }

  @Test("A process that has ended has no cancel keys", arguments: [(80, 24), (120, 40), (40, 10)])
  func anEndedProcessHasNoCancelKeys(columns: Int, rows: Int) {
    let readOnly = Scene.dashboard(
      columns: columns, rows: rows, configuration: .init(isReadOnly: true))
    var dashboards = [
      Scene.dashboard(columns: columns, rows: rows),
      PickerScene.attached(columns: columns, rows: rows),
    ]
    for index in dashboards.indices {
      dashboards[index].take(.monitor(.ended(reason: "the process has exited")))
      #expect(headings(of: dashboards[index]) == headings(of: readOnly))
      #expect(key(of: 1051, in: dashboards[index]) == key(of: 1051, in: readOnly))
    }
  }

  @Test("Without a connection, the cancel keys are hidden, and the other columns stay")
  func aLostConnectionHidesTheCancelKeys() {
    var dashboard = PickerScene.attached()
    let before = headings(of: dashboard)
    #expect(key(of: 1051, in: dashboard) == " s ")
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    #expect(headings(of: dashboard) == before?.replacing("KEY", with: "   "))
    #expect(key(of: 1051, in: dashboard) == "   ")
  }

  @Test func theCancelKeysReturnWithTheConnection() {
    var dashboard = PickerScene.attached()
    let before = headings(of: dashboard)
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    dashboard.take(.monitor(.hello(PickerScene.hello)))
    #expect(headings(of: dashboard) == before)
    #expect(key(of: 1051, in: dashboard) == " s ")
  }

  @Test("A new view gives single letters to its rows", arguments: [["t"], ["1200", "\r", "d"]])
  func aNewViewHasSingleLetters(keys: [String]) {
    var dashboard = Scene.dashboard()
    for key in keys {
      if key == "\r" { dashboard.press(.enter) } else { dashboard.press(key) }
    }
    dashboard.press("X")
    let nodes = dashboard.visibleTreeRows.compactMap { row -> String? in
      if case .node(let id) = row.id { dashboard.list.cancelKeys.key(of: id) } else { nil }
    }
    #expect(nodes.count > 5)
    #expect(nodes == Array(CancelKeys.keys.prefix(nodes.count)))
    dashboard.press(.escape)
    dashboard.press("q")
    let rows = dashboard.visibleKeys.filter { !$0.isOver }.map(\.id)
    #expect(dashboard.screen.view == .operations && rows.count > 5)
    #expect(
      rows.map { dashboard.list.cancelKeys.key(of: $0) }
        == Array(CancelKeys.keys.prefix(rows.count)))
  }

  // MARK: Prompts on narrow screens

  @Test("The prompt for cancel keys is complete at every width", arguments: [40, 60, 66, 67, 80])
  func theKeyPromptIsComplete(columns: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: 40)
    dashboard.press("X")
    let row = dashboard.screen.layout?.prompt ?? 0
    #expect(dashboard.text()[row].hasSuffix("Esc close"))
    #expect(dashboard.press("z") == [])
    #expect(dashboard.text()[row].contains(" z_") && dashboard.text()[row].hasSuffix("Esc close"))
  }

  @Test("On a narrow screen, the question about cancelling has words for its answers")
  func aNarrowQuestionHasWords() {
    var dashboard = Scene.dashboard(columns: 40, rows: 10)
    dashboard.press("1077")
    dashboard.press(.enter)
    dashboard.press("x")
    #expect(dashboard.text().last == " Cancel #1077?  n No  y Yes  a All 24")
  }

  @Test("On a narrow screen, the question about several operations has their number")
  func aNarrowQuestionAboutSeveralHasANumber() {
    var dashboard = Scene.dashboard(columns: 40, rows: 10)
    let ids = [ID(1077), ID(1042)]
    dashboard.prompts.question = Question(.cancel, about: ids)
    dashboard.prompts.question?.dependents = Dependents(
      subjects: Set(ids), ids: (1...1_234).map { ID($0) }, isCut: true)
    #expect(dashboard.text().last == " Cancel 2?  n No  y Yes  a All 1,236+")
  }

  @Test("If an id is too long for a narrow screen, the question has only the keys of its answers")
  func aNarrowQuestionAboutALongIDHasKeys() {
    var dashboard = Scene.dashboard(columns: 40, rows: 10)
    let id = ID(UInt64.max)
    dashboard.prompts.question = Question(.cancel, about: [id])
    dashboard.prompts.question?.dependents = Dependents(subjects: [id], ids: [ID(1)])
    #expect(dashboard.text().last?.hasSuffix("…  n  y  a +1") == true)
  }
}

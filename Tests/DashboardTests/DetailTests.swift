// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The detail of one operation")
struct DetailTests {
  private typealias ID = OperationReport.ID

  private func dashboard(
    of id: Int, columns: Int = 120, rows: Int = 40
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("\(id)")
    dashboard.press(.enter)
    dashboard.press(.enter)
    return dashboard
  }

  @Test func enterOpensTheDetailFromTheListAndEscapeClosesIt() {
    var dashboard = dashboard(of: 1077)
    #expect(dashboard.detail?.id == ID(1077))
    #expect(dashboard.connection.interest.detail == ID(1077))
    #expect(dashboard.text().shows("cancelling"))
    dashboard.press(.escape)
    #expect(dashboard.detail == nil)
    // The operation is still selected in the list, and the key `b` needs its detail.
    #expect(dashboard.connection.interest.detail == ID(1077))
    #expect(dashboard.screen.view == .operations && dashboard.list.selection.id == ID(1077))
  }

  @Test func enterOpensTheDetailFromTheTree() {
    var dashboard = Scene.dashboard()
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("dj")
    dashboard.press(.enter)
    #expect(dashboard.detail?.id == ID(1181))
    dashboard.press("q")
    #expect(dashboard.screen.view == .tree && dashboard.tree?.tree.root == ID(1200))
  }

  @Test("It lists every reason why the operation does not run, and no reasons of another operation")
  func reasons() {
    var dashboard = dashboard(of: 1200)
    #expect(dashboard.text().shows("why the operation is not running"))
    #expect(dashboard.text().shows("1  2 of 2 dependencies have not finished: it waits for #1181"))
    // The user selects another operation. Until the monitor answers, the screen shows no reasons
    // why this operation does not run.
    _ = dashboard.reduce(.input(.character("b")))
    #expect(dashboard.detail?.id == ID(1190))
    #expect(!dashboard.text().shows("why the operation is not running"))
    dashboard.update()
    #expect(dashboard.text().shows("1  21 of 31 dependencies"))
  }

  @Test("The detail of a finished operation has the quality of service that the list shows")
  func qualityOfAFinishedOperation() throws {
    var dashboard = Scene.dashboard(columns: 200, rows: 60)
    var update = Scene.update
    let index = try #require(update.changed.firstIndex { $0.state == .finished })
    let id = update.changed[index].id
    update.changed[index].qualityOfService = .background
    dashboard.take(.monitor(.update(update)))
    dashboard.press("\(id.rawValue)")
    dashboard.press(.enter)
    #expect(dashboard.text().contains { $0.contains("\(id) ") && $0.contains(" back ") })
    dashboard.press(.enter)
    #expect(dashboard.detail?.id == id && dashboard.shown.detail == nil)
    #expect(dashboard.text().shows("qos        background"))
  }

  @Test func anExecutingOperationHasNoReasons() {
    #expect(!dashboard(of: 1042).text().shows("why the operation is not running"))
  }

  @Test func nShowsTheNextRowAndCapitalNThePreviousRow() {
    var dashboard = dashboard(of: 1077)
    let ids = dashboard.list.rows.keys.map(\.id)
    let index = ids.firstIndex(of: ID(1077)) ?? 0
    dashboard.press("n")
    #expect(dashboard.detail?.id == ids[index + 1] && dashboard.list.selection.id == ids[index + 1])
    dashboard.press("N")
    #expect(dashboard.detail?.id == ID(1077))
  }

  @Test func openingTheDetailSelectsItsRow() throws {
    var dashboard = Scene.dashboard()
    dashboard.press(.enter)
    let first = try #require(dashboard.detail?.id)
    var report = try #require(dashboard.live.operations[first])
    report.state = .finished
    report.finished = Scene.now
    dashboard.update(changed: [report])
    dashboard.press(.escape)
    #expect(dashboard.list.selection.id == first)
  }

  @Test func aFailedMoveKeepsTheSelectedRow() {
    var dashboard = Scene.dashboard()
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("d")
    for _ in 0..<60 { dashboard.press("j") }
    dashboard.press("k")
    while dashboard.selectedOperation == nil { dashboard.press("k") }
    let cursor = dashboard.tree?.cursor
    dashboard.press(.enter)
    guard dashboard.detail != nil else { return }
    while dashboard.press("n") != [.bell] {}
    let shown = dashboard.detail?.id
    let last = dashboard.tree?.cursor
    dashboard.press("n")
    #expect(dashboard.tree?.cursor == last && dashboard.detail?.id == shown)
    #expect(cursor != nil)
  }

  @Test func theFirstRowHasNoPreviousRow() {
    var dashboard = Scene.dashboard()
    dashboard.press("g")
    dashboard.press(.enter)
    let first = dashboard.detail?.id
    #expect(dashboard.press("N") == [.bell])
    #expect(dashboard.detail?.id == first)
  }

  @Test("x asks about the shown operation, even if others are tagged")
  func cancelling() {
    var dashboard = Scene.dashboard()
    dashboard.press("1042")
    dashboard.press(.enter)
    dashboard.press(" ")
    dashboard.press("1077")
    dashboard.press(.enter)
    dashboard.press(.enter)
    dashboard.press("x")
    #expect(dashboard.prompts.question?.ids == [ID(1077)])
    #expect(dashboard.press("y") == [.send(.cancel([ID(1077)]))])
    #expect(dashboard.tags.ids == [ID(1042)])
  }

  @Test func theTreeOpensAtTheOperationThatIsShown() {
    var dashboard = dashboard(of: 1180)
    dashboard.press("t")
    #expect(dashboard.detail == nil && dashboard.screen.view == .tree)
    #expect(dashboard.tree?.cursor == .node(ID(1180)))
  }

  @Test func scrollingEndsAtTheLastRow() {
    var dashboard = dashboard(of: 1200, columns: 80, rows: 16)
    let count = DetailRows(
      of: ID(1200), in: dashboard, columns: 80, glyphs: Glyphs(isUnicode: true)
    ).rows.count
    #expect(dashboard.text().shows("1-\(dashboard.detailHeight) of \(count)"))
    dashboard.press("G")
    #expect(dashboard.detail?.top == count - dashboard.detailHeight)
    dashboard.press("jj")
    #expect(dashboard.detail?.top == count - dashboard.detailHeight)
    dashboard.press("g")
    #expect(dashboard.detail?.top == 0)
  }

  @Test func aRemovedOperationIsShownAsNoLongerKept() {
    var dashboard = dashboard(of: 1042)
    dashboard.update(removed: [ID(1042)])
    #expect(dashboard.text().shows("no longer stored"))
    dashboard.press(.escape)
    #expect(dashboard.detail == nil)
  }

  @Test("Only the letters of a name reach the terminal")
  func hostileName() {
    var dashboard = dashboard(of: 1042)
    var report = dashboard.live.operations[ID(1042)]
    report?.name = "\u{1B}[2J\u{202E}x\n" + String(repeating: "long ", count: 400)
    dashboard.update(changed: [report].compactMap { $0 })
    #expect(!dashboard.text().contains { $0.unicodeScalars.contains { $0.value < 0x20 } })
  }

  @Test(
    "The states of a tree are next to its widest row", arguments: [(200, 60), (120, 40), (80, 24)])
  func theStatesAreNextToTheNames(columns: Int, rows: Int) throws {
    let lines = dashboard(of: 1200, columns: columns, rows: rows).text()
    let line = try #require(lines.first { $0.contains("#1042 download t") })
    #expect(line.contains(#/#1042 download t(iles z=14 eu |…) executing/#))
    // All states begin in the same column.
    let starts = try ["#1181 write", "#1077 resampl", "#1042 download t"].map { name in
      let line = try #require(lines.last { $0.contains(name) && !$0.contains("waits for") })
      let state = try #require(line.firstMatch(of: #/waiting|cancelling|executing/#))
      return line.distance(from: line.startIndex, to: state.range.lowerBound)
    }
    #expect(Set(starts).count == 1)
  }

  @Test func everySizeIsDrawn() {
    for columns in stride(from: 40, through: 130, by: 9) {
      for rows in [10, 14, 24, 41] {
        let dashboard = dashboard(of: 1200, columns: columns, rows: rows)
        #expect(dashboard.text().count == rows)
      }
    }
  }
}

@Suite("The phases of an operation's life")
struct DetailLifeTests {
  private func report(
    _ state: OperationState, ready: Double? = nil, started: Double? = nil,
    cancelled: Double? = nil, finished: Double? = nil
  ) -> OperationReport {
    OperationReport(
      id: .init(1), name: "", className: "", queue: .init(1), state: state,
      added: Scene.seconds(0), becameReady: ready.map(Scene.seconds),
      started: started.map(Scene.seconds), cancelRequested: cancelled.map(Scene.seconds),
      finished: finished.map(Scene.seconds))
  }

  private func phases(_ report: OperationReport) -> [String] {
    DetailLife(report: report, now: Scene.seconds(10)).phases.map {
      "\($0.label) \(TimeText.duration($0.end - $0.start))"
    }
  }

  @Test func eachPhaseBeginsAtTheEndOfThePreviousPhase() {
    #expect(phases(report(.waiting)) == ["waiting 10.0s"])
    #expect(phases(report(.ready, ready: 4)) == ["waiting 4.00s", "ready 6.00s"])
    #expect(
      phases(report(.cancelling, ready: 4, started: 5, cancelled: 7))
        == ["waiting 4.00s", "ready 1.00s", "executing 5.00s", "cancelling 3.00s"])
    #expect(
      phases(report(.finished, ready: 4, started: 5, finished: 6))
        == ["waiting 4.00s", "ready 1.00s", "executing 1.00s"])
    #expect(
      phases(report(.cancelled, ready: 2, cancelled: 2, finished: 3))
        == ["waiting 2.00s", "ready 1.00s"])
  }

  @Test func withoutAddedTimeNoPhasesAreShown() {
    let report = OperationReport(
      id: .init(1), name: "", className: "", queue: .init(1), state: .executing,
      started: Scene.seconds(1))
    #expect(DetailLife(report: report, now: Scene.seconds(2)).phases.isEmpty)
  }

  @Test func everyBarHasACellAndFits() {
    let life = DetailLife(
      report: report(.finished, ready: 9.999, started: 9.9999, finished: 10), now: Scene.seconds(10)
    )
    for columns in [30, 78, 198] {
      for row in life.rows(columns: columns, glyphs: Glyphs(isUnicode: true)) {
        #expect(row[2].text.count >= 1)
        let width = row.reduce(0) { $0 + $1.text.count }
        #expect(width <= columns + 6, "\(row.map(\.text))")
      }
    }
  }
}

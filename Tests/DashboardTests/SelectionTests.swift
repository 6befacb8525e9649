// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import Dashboard

@Suite("Selection")
struct SelectionTests {
  private typealias ID = OperationReport.ID

  private static func report(
    _ id: Int, _ state: OperationState, at time: Int = 0
  ) -> OperationReport {
    let moment = MonitorTime(nanoseconds: Int64(time) * 1_000_000)
    return OperationReport(
      id: ID(id), name: "operation \(id)", className: "Block", queue: Scene.cpu, state: state,
      added: moment, becameReady: moment, started: moment, cancelRequested: moment,
      finished: state.isOver ? moment : nil)
  }

  private static func dashboard(_ reports: [OperationReport]) -> Dashboard {
    var dashboard = Dashboard(configuration: .init())
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    dashboard.update(changed: reports)
    return dashboard
  }

  @Test(
    "A selection stays when other operations are added, removed or moved",
    arguments: 0..<Effort.scaled(80))
  func selectionIsAnOperation(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var dashboard = Self.dashboard((1...60).map { Self.report($0, .waiting, at: $0) })
    for _ in 0..<Int.random(in: 1...50, using: &random) { dashboard.press("j") }
    let chosen = try #require(dashboard.list.selection.id)
    var next = 100
    for _ in 0..<40 {
      var changed: [OperationReport] = []
      for _ in 0..<Int.random(in: 0...10, using: &random) {
        let id = Int.random(in: 1...next, using: &random)
        guard let state = OperationState.allCases.randomElement(using: &random) else { continue }
        changed.append(Self.report(id, state, at: Int.random(in: 0...1_000, using: &random)))
      }
      changed.append(Self.report(next, .executing, at: next))
      next += 1
      let kept = dashboard.list.rows.keys.map(\.id).filter { $0 != chosen }
      let removed = kept.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
      dashboard.update(changed: changed, removed: Array(removed))
      #expect(dashboard.list.selection.id == chosen, "seed \(seed)")
      let keys = dashboard.list.rows.keys
      #expect(keys == keys.sorted(), "seed \(seed)")
      #expect(Set(keys.map(\.id)).count == dashboard.live.operations.count, "seed \(seed)")
    }
  }

  @Test func theFirstOperationOfTheFirstFrameStaysSelected() {
    var dashboard = Self.dashboard([Self.report(1, .waiting)])
    #expect(dashboard.list.selection.id == ID(1))
    dashboard.update(changed: [Self.report(2, .executing)])
    #expect(dashboard.list.selection.id == ID(1))
    dashboard.press("g")
    #expect(dashboard.list.selection.id == ID(2))
    dashboard.update(changed: [Self.report(3, .executing, at: -1)])
    #expect(dashboard.list.selection.id == ID(2))
  }

  @Test("Before the first key, a ghost cursor replaces the selected operation after its end")
  func theSelectionIsAnOperationBeforeTheFirstKey() {
    var dashboard = Self.dashboard((1...30).map { Self.report($0, .executing, at: $0) })
    dashboard.update(changed: [Self.report(1, .finished, at: 99)])
    #expect(dashboard.list.selection.id == ID(1))
    #expect(dashboard.text().shows("#1 selected row: finished · g: first row"))
    dashboard.update(removed: [ID(1)])
    #expect(dashboard.list.selection.id == ID(1))
    // The first key acts on no other operation.
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.prompts.question == nil)
    dashboard.press("j")
    #expect(dashboard.list.selection.id == ID(2))
  }

  @Test("The queue of the key S stays the same while other operations become the first row")
  func theQueueOfTheSelectionStays() {
    var dashboard = Scene.dashboard()
    dashboard.press("Sn")
    #expect(dashboard.selectedQueue?.id == Scene.io)
    var other = Self.report(1, .executing)
    other.queue = Scene.cpu
    dashboard.update(changed: [other])
    #expect(dashboard.selectedQueue?.id == Scene.io)
    var selected = Self.report(1042, .finished, at: 100)
    selected.queue = Scene.io
    dashboard.update(changed: [selected])
    #expect(dashboard.selectedQueue?.id == Scene.io)
  }

  // MARK: Ghost cursor

  /// Returns the line of the cursor in the list, counted from the first line; `nil` without a cursor.
  private static func cursorLine(_ dashboard: Dashboard) -> Int? {
    let first = dashboard.screen.layout?.body.lowerBound ?? 0
    return dashboard.text().firstIndex { $0.hasPrefix("▌") }.map { $0 - first }
  }

  @Test func aGhostCursorStaysOnTheLineOfARemovedOperation() {
    var dashboard = Self.dashboard((1...5).map { Self.report($0, .waiting, at: $0) })
    dashboard.press("jj")
    dashboard.update(removed: [ID(3)])
    #expect(dashboard.list.selection.id == ID(3))
    #expect(Self.cursorLine(dashboard) == 2)
    #expect(dashboard.text().shows("▌       #3 selected row: finished · g: first row"))
    #expect(dashboard.text().shows("#3 has finished; its details are no longer stored"))
    #expect(dashboard.visibleKeys.map(\.id) == [ID(1), ID(2), ID(4), ID(5)])
    // The rows of the other operations move, but the cursor stays in its line.
    dashboard.update(changed: [Self.report(6, .executing)])
    #expect(dashboard.list.selection.id == ID(3) && Self.cursorLine(dashboard) == 2)
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.prompts.question == nil)
  }

  @Test(
    "The keys j and k continue from the ghost cursor",
    arguments: [("j", 4), ("k", 2), ("jj", 5), ("kk", 1), ("kj", 4), ("g", 1), ("G", 5)])
  func keysContinueFromTheGhost(keys: String, expected: Int) {
    var dashboard = Self.dashboard((1...5).map { Self.report($0, .waiting, at: $0) })
    dashboard.press("jj")
    dashboard.update(removed: [ID(3)])
    dashboard.press(keys)
    #expect(dashboard.list.selection.id == ID(expected))
    #expect(!dashboard.text().shows("selected row: finished"))
  }

  @Test func aGhostCursorStaysInAnEmptyList() {
    var dashboard = Self.dashboard([Self.report(1, .waiting)])
    dashboard.press("g")
    dashboard.update(removed: [ID(1)])
    #expect(
      dashboard.text().shows("selected row: finished") && dashboard.text().shows("no operations"))
    // The selection stays on the removed operation. The new operation is not selected, because no
    // key has selected it.
    dashboard.update(changed: [Self.report(2, .executing)])
    #expect(dashboard.list.selection.id == ID(1))
    #expect(Self.cursorLine(dashboard) == 0)
    dashboard.press("j")
    #expect(dashboard.list.selection.id == ID(2))
  }

  @Test("The screen stays at the top if the first selected operation moves down or finishes")
  func theScreenStaysAtTheTop() {
    var dashboard = Self.dashboard([Self.report(1, .waiting)])
    dashboard.press("g")
    dashboard.update(changed: (2...60).map { Self.report($0, .executing, at: $0) })
    #expect(dashboard.visibleKeys.first?.id == ID(2))
    #expect(Self.cursorLine(dashboard) == 0)
    #expect(dashboard.text().shows("#1 selected row: off screen · g: first row"))
    dashboard.press("j")
    #expect(dashboard.list.selection.id == ID(2))
    dashboard.update(changed: [Self.report(2, .finished, at: 99)])
    #expect(dashboard.visibleKeys.first?.id == ID(3))
    #expect(dashboard.text().shows("#2 selected row: finished · g: first row"))
  }

  @Test func theGhostCursorHasRoomOnTheSmallestScreen() {
    var dashboard = Self.dashboard((1...60).map { Self.report($0, .executing, at: $0) })
    dashboard.press("g")
    dashboard.take(.resized(Layout.minimum))
    dashboard.update(changed: [Self.report(1, .finished, at: 99)])
    #expect(dashboard.text().shows("▌ selected row: finished · g: first row"))
    let ascii = dashboard.text(isUnicode: false)
    #expect(ascii.shows("selected row: finished | g: first row"))
  }

  @Test("An operation that no longer matches the filter leaves a ghost cursor")
  func theFilterLeavesAGhost() {
    var dashboard = Self.dashboard((1...5).map { Self.report($0, .executing, at: $0) })
    dashboard.press("\\state:exec")
    dashboard.press(.enter)
    dashboard.press("j")
    dashboard.update(changed: [Self.report(2, .cancelling, at: 2)])
    #expect(dashboard.list.selection.id == ID(2))
    #expect(dashboard.text().shows("#2 selected row: not listed · g: first row"))
  }

  @Test func aNewFilterSelectsTheNeighbourOfAHiddenOperation() {
    var dashboard = Self.dashboard(
      (1...3).map { Self.report($0, .executing, at: $0) }
        + (4...6).map { Self.report($0, .waiting, at: $0) })
    dashboard.press("jj\\state:wait")
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == ID(4))
    dashboard.press("\\")
    dashboard.take(.input(.control("u")))
    dashboard.press("#9999")
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == nil)
    #expect(dashboard.text().shows("no operation matches the filter"))
  }

  @Test func aNewOrderSelectsTheFirstRowUntilTheUserHasMovedTheSelection() {
    var dashboard = Self.dashboard((1...60).map { Self.report($0, .executing, at: $0) })
    dashboard.press("I")
    #expect(dashboard.list.selection.id == ID(60))
    // An update brings a new first row in the order that the user has chosen. The selection moves
    // to this row.
    dashboard.update(changed: [Self.report(70, .executing, at: 70)])
    #expect(dashboard.list.selection.id == ID(70))
    // After any key, or after some time, the selection no longer moves to a new first row.
    dashboard.press("]")
    dashboard.update(changed: [Self.report(80, .executing, at: 80)])
    #expect(dashboard.list.selection.id == ID(70))
    dashboard.press("gI")
    dashboard.take(.tick(dashboard.now + .seconds(1)))
    dashboard.update(changed: [Self.report(90, .executing, at: -1)])
    #expect(dashboard.list.selection.id == ID(1))
    dashboard.press("jI")
    #expect(dashboard.list.selection.id == ID(2))
  }

  @Test("Each frame of the list has one cursor", arguments: 0..<Effort.scaled(60))
  func theCursorNeverDisappears(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var dashboard = Self.dashboard((1...30).map { Self.report($0, .waiting, at: $0) })
    for step in 0..<60 {
      let known = dashboard.live.operations.all.map(\.id).sorted()
      var changed: [OperationReport] = []
      for _ in 0..<Int.random(in: 0...10, using: &random) {
        guard let state = OperationState.allCases.randomElement(using: &random) else { continue }
        let id = Int.random(in: 1...60, using: &random)
        changed.append(Self.report(id, state, at: Int.random(in: 0...1_000, using: &random)))
      }
      let removed = known.shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random))
      dashboard.update(changed: changed, removed: Array(removed))
      if step % 3 == 0,
        let key = ["j", "k", "g", "G", "H", "F", "w", "I"].randomElement(using: &random)
      {
        dashboard.press(key)
      }
      if step % 7 == 0 {
        let rows = Int.random(in: 10...40, using: &random)
        dashboard.take(.resized(Size(columns: 80, rows: rows)))
      }
      guard dashboard.list.selection.id != nil else { continue }
      let cursors = dashboard.text().filter { $0.hasPrefix("▌") }
      #expect(cursors.count == 1, "seed \(seed), step \(step)")
    }
  }

  @Test func theScreenStaysWhenTheSelectionFinishesAndLeavesIt() {
    var dashboard = Self.dashboard(
      (1...60).map { Self.report($0, .executing, at: $0) } + [Self.report(99, .finished)])
    dashboard.press("jj")
    dashboard.update(changed: [Self.report(3, .finished, at: 100)])
    #expect(dashboard.list.selection.id == ID(3))
    #expect(dashboard.visibleKeys.first?.id == ID(1))
    #expect(dashboard.text().shows("#3 finished"))
    #expect(Self.cursorLine(dashboard) == 2)
    #expect(dashboard.visibleKeys.prefix(3).map(\.id) == [ID(1), ID(2), ID(4)])
    // The ghost cursor marks the previous line of the finished operation. The next key `j` selects
    // the operation in the next row.
    dashboard.press("j")
    #expect(dashboard.list.selection.id == ID(4))
  }

  @Test func theScreenFollowsAMovedSelection() throws {
    var dashboard = Self.dashboard((1...60).map { Self.report($0, .waiting, at: $0) })
    dashboard.press("G")
    #expect(dashboard.visibleKeys.contains { $0.id == ID(60) })
    dashboard.update(changed: [Self.report(60, .executing)])
    #expect(dashboard.visibleKeys.first?.id == ID(60))
    dashboard.update(changed: (100...130).map { Self.report($0, .executing, at: -1) })
    #expect(dashboard.visibleKeys.contains { $0.id == ID(60) })
  }

  @Test func resizingKeepsTheSelectionOnScreen() {
    var dashboard = Self.dashboard((1...60).map { Self.report($0, .waiting, at: $0) })
    for _ in 0..<15 { dashboard.press("j") }
    for rows in [60, 10, 24, 12] {
      dashboard.take(.resized(Size(columns: 80, rows: rows)))
      #expect(dashboard.list.selection.id == ID(16))
      #expect(dashboard.visibleKeys.contains { $0.id == ID(16) })
    }
  }

  @Test func rowKeysStayWithTheirOperations() throws {
    var dashboard = Self.dashboard((1...5).map { Self.report($0, .executing, at: $0) })
    let before = (1...5).map { dashboard.list.cancelKeys.key(of: ID($0)) }
    #expect(before == ["a", "s", "d", "f", "g"])
    dashboard.update(changed: [
      Self.report(1, .waiting, at: 1), Self.report(6, .executing, at: -5),
    ])
    #expect((1...5).map { dashboard.list.cancelKeys.key(of: ID($0)) } == before)
    #expect(dashboard.list.cancelKeys.key(of: ID(6)) == "h")
  }

  @Test func aRowKeyIsReusedAfterTwoSeconds() {
    var dashboard = Self.dashboard((1...2).map { Self.report($0, .executing, at: $0) })
    dashboard.update(changed: [Self.report(1, .finished, at: 3), Self.report(3, .executing, at: 3)])
    #expect(dashboard.list.cancelKeys.key(of: ID(1)) == nil)
    #expect(dashboard.list.cancelKeys.key(of: ID(3)) == "d")
    dashboard.take(.tick(dashboard.now + .milliseconds(1_999)))
    dashboard.update(changed: [Self.report(4, .executing, at: 4)])
    #expect(dashboard.list.cancelKeys.key(of: ID(4)) == "f")
    dashboard.take(.tick(dashboard.now + .milliseconds(1)))
    dashboard.update(changed: [Self.report(5, .executing, at: 5)])
    #expect(dashboard.list.cancelKeys.key(of: ID(5)) == "a")
  }

  @Test func noRowKeyIsAPrefixOfAnother() {
    for key in CancelKeys.keys {
      #expect(CancelKeys.keys.filter { $0.hasPrefix(key) } == [key])
      #expect(!key.contains { "qxny".contains($0) })
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
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
    "A selection stays when other operations are added, removed or moved", arguments: 0..<20)
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

  @Test func theSelectionMovesToTheNeighbourOfARemovedOperation() {
    var dashboard = Self.dashboard((1...5).map { Self.report($0, .waiting, at: $0) })
    dashboard.press("jj")
    #expect(dashboard.list.selection.id == ID(3))
    dashboard.update(removed: [ID(3)])
    #expect(dashboard.list.selection.id == ID(4))
    dashboard.update(removed: [ID(5), ID(4)])
    #expect(dashboard.list.selection.id == ID(2))
    dashboard.update(removed: [ID(1), ID(2)])
    #expect(dashboard.list.selection.id == nil)
    #expect(dashboard.text().shows("no operations"))
  }

  @Test func theTopRowIsSelectedByDefault() {
    var dashboard = Self.dashboard([Self.report(1, .waiting)])
    #expect(dashboard.list.selection.id == ID(1))
    dashboard.update(changed: [Self.report(2, .executing)])
    #expect(dashboard.list.selection.id == ID(2))
    dashboard.press("jk")
    dashboard.update(changed: [Self.report(2, .waiting, at: 9), Self.report(3, .executing)])
    #expect(dashboard.list.selection.id == ID(2))
    dashboard.press("g")
    dashboard.update(changed: [Self.report(4, .executing, at: -1)])
    #expect(dashboard.list.selection.id == ID(4))
  }

  @Test func theScreenStaysWhenTheSelectionFinishesAndLeavesIt() {
    var dashboard = Self.dashboard(
      (1...60).map { Self.report($0, .executing, at: $0) } + [Self.report(99, .finished)])
    dashboard.press("jj")
    dashboard.update(changed: [Self.report(3, .finished, at: 100)])
    #expect(dashboard.list.selection.id == ID(3))
    #expect(dashboard.visibleKeys.first?.id == ID(1))
    #expect(dashboard.text().shows("#3 finished"))
    // If the selected operation leaves the list, the next key `j` continues from the place where
    // the operation was.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the positions of operations in the run orders of their queues.
@Suite("Positions in the run order")
struct PositionTests {
  private typealias ID = OperationReport.ID

  private static func state(_ orders: [RunOrder]) -> MonitoredState {
    var state = MonitoredState()
    state.apply(.hello(Scene.hello))
    var update = Scene.update
    update.runOrders = orders
    state.apply(.update(update))
    return state
  }

  @Test("The next operation of each queue has the position 1")
  func positionsCountFromOne() {
    let state = Self.state(ViewScene.runOrders)
    #expect(state.position(of: ID(1103))?.number == 1)
    #expect(state.position(of: ID(1104))?.number == 2)
    #expect(state.position(of: ID(1110))?.queue == Scene.net)
    #expect(state.position(of: ID(1110))?.number == 1)
  }

  @Test("Executing and unknown operations have no position")
  func executingOperationsHaveNone() {
    let state = Self.state(ViewScene.runOrders)
    #expect(state.position(of: ID(1080)) == nil)
    #expect(state.position(of: ID(999_999)) == nil)
    #expect(state.runOrders[Scene.cpu]?.executing == [ID(1080), ID(1077)])
  }

  @Test("An estimated order has estimated positions")
  func estimatesAreMarked() {
    var order = ViewScene.runOrders[0]
    order.isEstimated = true
    #expect(Self.state([order]).position(of: ID(1103))?.isEstimated == true)
  }

  @Test("An update without run orders removes the positions")
  func thePositionsEndWithTheRequest() {
    var state = Self.state(ViewScene.runOrders)
    state.apply(.update(Scene.update))
    #expect(state.runOrders.isEmpty)
    #expect(state.position(of: ID(1103)) == nil)
  }

  private static func row(_ id: Int, in dashboard: Dashboard) -> String {
    dashboard.text().first { $0.contains("#\(id) ") } ?? ""
  }

  /// Returns a dashboard with the list sorted by position.
  private static func sortedDashboard(
    _ orders: [RunOrder] = ViewScene.runOrders, columns: Int = 80, rows: Int = 24
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows)
    dashboard.press("so")
    var update = ViewScene.update
    update.runOrders = orders
    dashboard.take(.monitor(.update(update)))
    return dashboard
  }

  @Test(
    "The list sorted by position looks as stored", arguments: [(80, 24), (120, 40), (200, 60)])
  func theSortedListLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Self.sortedDashboard(columns: columns, rows: rows)
    dashboard.press("1104")
    dashboard.press(.enter)
    GoldenFrame.check(dashboard.picture(), named: "list-position-\(columns)x\(rows)")
  }

  @Test("PO-1: The column POS shows the position of each ready operation, and nothing for others")
  func theColumnShowsThePosition() throws {
    let dashboard = Self.sortedDashboard()
    let heading = try #require(dashboard.text().first { $0.contains(" POS▲ ") })
    let end = heading.distance(
      from: heading.startIndex, to: try #require(heading.firstRange(of: "POS▲")).upperBound)
    func cell(_ id: Int) -> String {
      String(Self.row(id, in: dashboard).prefix(end).suffix(4))
    }
    #expect(cell(1103) == "   1" && cell(1104) == "   2" && cell(1110) == "   1")
    #expect(cell(1042) == "    " && cell(1101) == "    ")
  }

  @Test("PO-2: In the order by position, the next operation of each queue comes first")
  func theListIsSortedByPosition() {
    var dashboard = Self.sortedDashboard()
    let order = dashboard.list.rows.keys.map(\.id.rawValue).filter { 1103...1111 ~= $0 }
    #expect(order == [1103, 1110, 1104, 1111])
    #expect(dashboard.connection.interest.order.column == .position)
    dashboard.press("I")
    #expect(dashboard.list.rows.keys.map(\.id.rawValue).filter { 1103...1111 ~= $0 }.first == 1111)
  }

  @Test("PO-3: The sentence and the pane about a ready operation contain its position")
  func theSentenceHasThePosition() {
    var dashboard = Self.sortedDashboard(columns: 120, rows: 40)
    dashboard.press("1104")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("#1104 ready, 2nd in cpu; all slots are in use (2/2)"))
    #expect(dashboard.text().shows("│ position 2nd in cpu"))
    dashboard.press("1110")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("#1110 held: 1st in net, which is suspended; press S"))
  }

  @Test("PO-3: A sentence without room leaves out its end instead of a part of a word")
  func aSentenceWithoutRoomIsShorter() {
    var dashboard = Self.sortedDashboard()
    dashboard.press("1110")
    dashboard.press(.enter)
    let sentence = "#1110 held: 1st in net, which is suspended"
    #expect(dashboard.text().shows("\(sentence); press S to resume it"))
    dashboard.press("\\queue:net")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("\(sentence); press S  "))
    #expect(dashboard.text().shows("  filter: queue:net"))
  }

  @Test("PO-3: Ordinal numbers have their English endings")
  func ordinalsHaveEndings() {
    let numbers = [1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111, 112, 500]
    #expect(
      numbers.map { PositionText.ordinal($0) } == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "103rd", "111th",
        "112th", "500th",
      ])
  }

  @Test("PO-4: Behind the reported part of an order, the position is the number of its operations")
  func aCutOrderIsMarked() {
    let ready = [ID(1103)] + (0..<499).map { ID(5_000 + $0) }
    var dashboard = Self.sortedDashboard([RunOrder(queue: Scene.cpu, ready: ready, isCut: true)])
    #expect(Self.row(1104, in: dashboard).contains(" 500+ "))
    dashboard.press("1104")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("#1104 ready, after the 500th in cpu"))
  }

  @Test("PO-5: An estimated position has the mark ~")
  func anEstimateIsMarked() {
    var order = ViewScene.runOrders[0]
    order.isEstimated = true
    var dashboard = Self.sortedDashboard([order])
    #expect(Self.row(1104, in: dashboard).contains(" ~2 "))
    dashboard.press("1104")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("#1104 ready, ~2nd in cpu"))
  }

  @Test("PO-6: Run orders are requested only for what the screen shows")
  func ordersAreRequestedIfShown() {
    var dashboard = ViewScene.dashboard()
    #expect(dashboard.connection.interest.runOrder == nil)
    dashboard.press("1104")
    dashboard.press(.enter)
    #expect(dashboard.connection.interest.runOrder?.queues == [Scene.cpu])
    dashboard.press("so")
    #expect(dashboard.connection.interest.runOrder?.queues == [])
    dashboard.press("ss1042")
    dashboard.press(.enter)
    #expect(dashboard.connection.interest.runOrder == nil)
    let wide = ViewScene.dashboard(columns: 200, rows: 60)
    #expect(wide.connection.interest.runOrder?.queues == [])
  }

  @Test("The groups are those of the last update")
  func theGroupsAreThoseOfTheLastUpdate() {
    var state = Self.state([])
    #expect(state.groups == nil)
    state.apply(.update(ViewScene.update))
    #expect(state.groups?.groups.count == 3)
  }
}

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
    #expect(wide.connection.interest.runOrder?.queues == Set(Scene.queues.map(\.id)))
  }

  /// Returns an update with 100 queues, each with operations that are ready.
  private static func manyQueues(at time: MonitorTime) -> Update {
    let ids = 1...100
    var update = Update(
      time: time,
      queues: ids.map {
        QueueReport(
          id: .init(UInt64($0)), name: "q\($0)", counts: StateCounts(ready: 4, total: 4), width: 1
        )
      },
      changed: ids.flatMap { queue in
        (0..<4).map { index in
          OperationReport(
            id: ID(UInt64(10_000 + queue * 10 + index)), name: "work", className: "BlockOperation",
            queue: .init(UInt64(queue)), state: .ready, added: Scene.seconds(2),
            becameReady: Scene.seconds(3))
        }
      })
    (update.matchCount, update.keptCount) = (400, 400)
    return update
  }

  /// Sends the update with 100 queues and the run orders that the dashboard has requested.
  private static func reportManyQueues(to dashboard: inout Dashboard, after time: Duration) {
    var update = manyQueues(at: dashboard.now + time)
    let queues = dashboard.connection.interest.runOrder?.queues ?? []
    update.runOrders = queues.sorted().map { queue in
      RunOrder(
        queue: queue, ready: (0..<4).map { ID(10_000 + queue.rawValue * 10 + UInt64($0)) })
    }
    dashboard.take(.monitor(.update(update)))
  }

  @Test(
    "PO-6: A list requests the orders of the queues of its rows by name",
    arguments: [(200, 60), (240, 50)])
  func visibleQueuesAreRequested(columns: Int, rows: Int) throws {
    var dashboard = Dashboard(configuration: .init(title: "many"))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.tick(Scene.now))
    Self.reportManyQueues(to: &dashboard, after: .zero)
    Self.reportManyQueues(to: &dashboard, after: .zero)
    #expect(dashboard.connection.interest.runOrder?.queues.isEmpty == false)
    // The operations of the queue 90 are far below the first rows.
    dashboard.press("10903")
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == ID(10_903))
    for _ in 0..<3 { Self.reportManyQueues(to: &dashboard, after: .seconds(1)) }
    let queues = try #require(dashboard.connection.interest.runOrder?.queues)
    #expect(queues.contains(.init(90)) && !queues.contains(.init(1)) && queues.count <= 64)
    #expect(dashboard.text().shows("#10903 ready, 4th in q90"))
    for key in dashboard.visibleKeys {
      let position = dashboard.shown.position(of: key.id)?.number
      #expect(position == Int(key.id.rawValue % 10) + 1)
    }
  }

  @Test("PO-6: The requested queues change only with the rows on the screen, once a second")
  func theRequestIsSteady() throws {
    var dashboard = Dashboard(configuration: .init(title: "many"))
    dashboard.take(.resized(Size(columns: 200, rows: 60)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    dashboard.take(.tick(Scene.now))
    Self.reportManyQueues(to: &dashboard, after: .zero)
    let first = dashboard.wantedInterest
    for _ in 0..<20 {
      Self.reportManyQueues(to: &dashboard, after: .milliseconds(100))
      #expect(dashboard.wantedInterest == first)
    }
    #expect(dashboard.nextPositionRequest == nil)
    // The queue of the selected operation is requested at once, and those of the other rows later.
    var requests: [[QueueReport.ID]] = []
    func note() {
      let queues = dashboard.positionRequest.queues
      if requests.last != queues { requests.append(queues) }
    }
    note()
    for _ in 0..<8 {
      dashboard.press(.pageDown)
      Self.reportManyQueues(to: &dashboard, after: .milliseconds(100))
      note()
    }
    #expect(requests.count == 2)
    let last = try #require(dashboard.nextPositionRequest)
    #expect(try #require(dashboard.nextTick(after: dashboard.now)) <= last)
    dashboard.take(.tick(last))
    #expect(dashboard.nextPositionRequest == nil)
    let seen = Set(dashboard.visibleKeys.compactMap { dashboard.shown.operations[$0.id]?.queue })
    #expect(dashboard.connection.interest.runOrder?.queues == seen)
  }

  @Test("The groups are those of the last update")
  func theGroupsAreThoseOfTheLastUpdate() {
    var state = Self.state([])
    #expect(state.groups == nil)
    state.apply(.update(ViewScene.update))
    #expect(state.groups?.groups.count == 3)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The screen of one queue")
struct QueueScreenTests {
  private typealias ID = OperationReport.ID

  /// Returns the ids of the lines on the screen, from the top.
  private static func ids(_ dashboard: Dashboard) -> [Int] {
    dashboard.text().dropFirst(2).compactMap { line in
      guard let start = line.firstIndex(of: "#"), line.contains("s ") else { return nil }
      let before = line[..<start].split(separator: " ")
      guard before.allSatisfy({ $0 == "▌" || $0 == "*" || Int($0) != nil }) else { return nil }
      let number = line[line.index(after: start)...].prefix { $0.isNumber }
      return Int(number)
    }
  }

  // MARK: The lines

  @Test(
    "QV-7: Executing operations come first, the longest run first, then the ready ones in order")
  func order() {
    var dashboard = QueueScene.dashboard()
    #expect(dashboard.keyContext == .queue)
    #expect(Self.ids(dashboard).prefix(4) == [1077, 1080, 1103, 1104])
    QueueScene.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(Self.ids(dashboard).prefix(4) == [1077, 1080, 1104, 1103])
    let text = dashboard.text()
    #expect(text.shows("1 #1104 ready") && text.shows("2 #1103 ready"))
  }

  @Test(
    "QV-7: The screen shows the counts, the rate, the use, the waits and the slots",
    arguments: [80, 120, 200])
  func facts(columns: Int) {
    let text = QueueScene.dashboard(columns: columns, rows: columns == 80 ? 24 : 40).text()
    for words in [
      "executing 2", "ready 20", "waiting 311", "finished 98", "failed 0", "cancelled 4", "0.4/s",
      "use 100%", "p50 240ms", "p99 4.12s", "██ 2/2", "─ cpu ─",
    ] {
      #expect(text.shows(words), "\(words)")
    }
  }

  @Test("QV-7: A screen without room for the words of the counts has short words or letters")
  func shortWords() {
    #expect(
      QueueScene.dashboard(columns: 70).text().shows(" exec 2   ready 20   wait 311   fin 98 "))
    #expect(QueueScene.dashboard(columns: 40).text().shows(" e2 r20 w311 f98 !0 c4"))
  }

  @Test("QV-13: The number of ready operations that are not shown stands below the others")
  func cutOrder() {
    var dashboard = QueueScene.dashboard()
    #expect(dashboard.text().shows("and 18 more, whose order is not known"))
    QueueScene.report(to: &dashboard) { update in
      update.queues[0].counts.ready = 2
      update.runOrders[0].isCut = true
    }
    #expect(dashboard.text().shows("and more, whose order is not known"))
    QueueScene.report(to: &dashboard) { $0.queues[0].counts.ready = 2 }
    #expect(!dashboard.text().shows("more"))
  }

  @Test("QV-13: An estimated order and an unknown order say so")
  func estimatedOrder() {
    var dashboard = QueueScene.dashboard()
    QueueScene.report(to: &dashboard) { $0.runOrders[0].isEstimated = true }
    #expect(dashboard.text().shows("ready 20, next first, estimated order"))
    QueueScene.report(to: &dashboard) { $0.runOrders = [] }
    #expect(dashboard.text().shows("the order of the ready operations is not known"))
    #expect(dashboard.text().shows("20 ready operations wait for a free slot"))
    #expect(Self.ids(dashboard).prefix(2) == [1077, 1080])
  }

  @Test("An operation without details has a line")
  func unknownOperation() {
    var dashboard = QueueScene.dashboard()
    QueueScene.report(to: &dashboard) { $0.runOrders[0].ready.insert(ID(4_000), at: 1) }
    #expect(dashboard.text().shows("2 #4000 "))
    #expect(dashboard.text().shows("details are not known"))
  }

  // MARK: Other queues

  @Test("QV-10: n and N go to the next and the previous queue")
  func neighbours() {
    var dashboard = QueueScene.dashboard()
    for name in ["io", "net", "index", "cpu"] {
      #expect(dashboard.press("n") == [])
      #expect(dashboard.text().shows("─ \(name) ─"))
    }
    dashboard.press("N")
    #expect(dashboard.text().shows("─ index ─") && dashboard.queues.id == Scene.index)
    dashboard.press("q")
    #expect(dashboard.text().shows("▌ index"))
  }

  @Test("QV-10: The screen of a queue that no longer exists stays and says so")
  func aQueueDisappears() {
    var dashboard = QueueScene.dashboard("j")
    QueueScene.report(to: &dashboard) { $0.queues.removeAll { $0.id == Scene.io } }
    #expect(dashboard.keyContext == .queue)
    #expect(
      dashboard.text().shows("─ io ─") && dashboard.text().shows("the queue no longer exists"))
    for key in ["S", "+", "-", "r"] {
      #expect(dashboard.press(key) == [.bell])
      #expect(dashboard.text().shows("queue io no longer exists"))
    }
    GoldenFrame.checkCells(of: dashboard.picture())
    dashboard.press("n")
    #expect(dashboard.text().shows("─ net ─"))
  }

  @Test("QV-10: Without another queue, n and N ring the bell")
  func onlyOneQueue() {
    var dashboard = QueueScene.dashboard()
    QueueScene.report(to: &dashboard) { $0.queues = [$0.queues[0]] }
    #expect(dashboard.press("n") == [.bell] && dashboard.press("N") == [.bell])
    #expect(dashboard.text().shows("there is no other queue"))
  }

  @Test("Another view or another selected queue closes the queue screen")
  func closing() {
    var dashboard = QueueScene.dashboard()
    dashboard.press("t")
    #expect(dashboard.keyContext == .tree && dashboard.queueScreen == nil)
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.keyContext == .queues)
  }

  @Test("Commands on the queue screen concern its queue")
  func commands() {
    var dashboard = QueueScene.dashboard()
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.cpu, 3))])
    #expect(dashboard.text().shows("2/2→3"))
    #expect(dashboard.press("S") == [])
    #expect(dashboard.text().shows("Suspend queue cpu?"))
  }

  // MARK: Requested data

  @Test("QV-14: The screen requests the order of its queue, with more operations than it shows")
  func interest() {
    var dashboard = QueueScene.dashboard()
    let request = dashboard.wantedInterest.runOrder
    #expect(request?.queues == [Scene.cpu])
    #expect((50...200).contains(request?.limit ?? 0))
    #expect(dashboard.wantedInterest.queueTimes)
    QueueScene.report(to: &dashboard) { $0.runOrders[0].ready = (2_000..<2_500).map { ID($0) } }
    dashboard.press("G")
    #expect(dashboard.wantedInterest.runOrder?.limit == WireLimits.mostRunOrderOperations)
    dashboard.take(.input(.alt("1")))
    #expect(dashboard.wantedInterest.runOrder == nil && !dashboard.wantedInterest.queueTimes)
  }

  @Test("QV-14: The operations on the screen are requested at most once a second")
  func requests() {
    var dashboard = QueueScene.dashboard()
    var watches = 0
    let start = dashboard.now
    for step in 1...40 {
      var update = ViewScene.update
      update.time = start + .milliseconds(step * 100)
      // Each update has other ready operations.
      update.runOrders[0].ready = (0..<9).map { ID(3_000 + step * 10 + $0) }
      let effects = dashboard.reduce(.monitor(.update(update)))
      watches += effects.count { if case .watch = $0 { true } else { false } }
    }
    #expect((3...6).contains(watches))
    #expect(dashboard.wantedInterest.operations.contains { $0.rawValue >= 3_300 })
    #expect((dashboard.wantedInterest.detail?.rawValue ?? 0) >= 3_300)
  }

  @Test("QV-14: If the number of executing operations changes constantly, the request does not")
  func steadyLimit() {
    var dashboard = QueueScene.dashboard()
    var limits: [Int?] = []
    let start = dashboard.now
    for step in 1...40 {
      QueueScene.report(to: &dashboard, at: start + .milliseconds(step * 100)) { update in
        let count = 30 + step % 2 * 10
        update.queues[0].counts.executing = count
        update.runOrders[0].executing = (0..<count).map { ID(2_000 + UInt64($0)) }
        if step % 4 == 0 { update.runOrders[0].ready = [] }
      }
      let limit = dashboard.wantedInterest.runOrder?.limit
      if limits.last != limit { limits.append(limit) }
    }
    #expect(limits.count == 1)
    // While an operation is selected, its place changes with the number of executing operations.
    dashboard.press("G")
    limits = []
    for step in 41...80 {
      QueueScene.report(to: &dashboard, at: start + .milliseconds(step * 100)) { update in
        let count = 30 + step % 2 * 10
        update.queues[0].counts.executing = count
        update.runOrders[0].executing = (0..<count).map { ID(2_000 + UInt64($0)) }
      }
      let limit = dashboard.wantedInterest.runOrder?.limit
      if limits.last != limit { limits.append(limit) }
    }
    #expect(limits.count <= 8)
  }

  @Test("QV-14: The operation that starts next is requested after a second without further updates")
  func requestsWithoutUpdates() throws {
    var dashboard = QueueScene.dashboard()
    #expect(dashboard.wantedInterest.detail == ID(1103))
    #expect(dashboard.nextQueueRequest == nil)
    QueueScene.report(to: &dashboard, at: dashboard.now + .milliseconds(200)) { update in
      update.runOrders[0].ready.reverse()
    }
    #expect(dashboard.wantedInterest.detail == ID(1103))
    let next = try #require(dashboard.nextQueueRequest)
    #expect(try #require(dashboard.nextTick(after: dashboard.now)) <= next)
    let effects = dashboard.reduce(.tick(next))
    #expect(effects.contains { if case .watch = $0 { true } else { false } })
    #expect(dashboard.wantedInterest.detail == ID(1104) && dashboard.nextQueueRequest == nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The screen of one queue")
struct QueueScreenTests {
  private typealias ID = OperationReport.ID

  private static func dashboard(
    _ keys: String = "", columns: Int = 80, rows: Int = 24,
    configuration: Dashboard.Configuration = .init(source: .process("other"), title: "tiles")
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows, configuration: configuration)
    dashboard.take(.input(.alt("3")))
    dashboard.press(keys)
    dashboard.press(.enter)
    return dashboard
  }

  /// Sends the update of the scene after a change.
  private static func report(
    to dashboard: inout Dashboard, at time: MonitorTime? = nil, _ change: (inout Update) -> Void
  ) {
    var update = ViewScene.update
    update.time = time ?? dashboard.now
    change(&update)
    dashboard.take(.monitor(.update(update)))
  }

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
    var dashboard = Self.dashboard()
    #expect(dashboard.keyContext == .queue)
    #expect(Self.ids(dashboard).prefix(4) == [1077, 1080, 1103, 1104])
    Self.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(Self.ids(dashboard).prefix(4) == [1077, 1080, 1104, 1103])
    let text = dashboard.text()
    #expect(text.shows("1 #1104 ready") && text.shows("2 #1103 ready"))
  }

  @Test(
    "QV-7: The screen shows the counts, the rate, the use, the waits and the slots",
    arguments: [80, 120, 200])
  func facts(columns: Int) {
    let text = Self.dashboard(columns: columns, rows: columns == 80 ? 24 : 40).text()
    for words in [
      "exec 2", "ready 20", "wait 311", "fin 98", "failed 0", "canc 4", "0.4/s", "100%",
      "p50 240ms", "p99 4.12s", "██ 2/2", "─ cpu ─",
    ] {
      #expect(text.shows(words), "\(words)")
    }
  }

  @Test("QV-13: The number of ready operations that are not shown stands below the others")
  func cutOrder() {
    var dashboard = Self.dashboard()
    #expect(dashboard.text().shows("and 18 more, in an order that is not shown"))
    Self.report(to: &dashboard) { update in
      update.queues[0].counts.ready = 2
      update.runOrders[0].isCut = true
    }
    #expect(dashboard.text().shows("and more, in an order that is not shown"))
    Self.report(to: &dashboard) { $0.queues[0].counts.ready = 2 }
    #expect(!dashboard.text().shows("more"))
  }

  @Test("QV-13: An estimated order and an unknown order say so")
  func estimatedOrder() {
    var dashboard = Self.dashboard()
    Self.report(to: &dashboard) { $0.runOrders[0].isEstimated = true }
    #expect(dashboard.text().shows("ready 20, next first, estimated order"))
    Self.report(to: &dashboard) { $0.runOrders = [] }
    #expect(dashboard.text().shows("the order of the ready operations is not known"))
    #expect(dashboard.text().shows("20 ready operations wait for a free slot"))
    #expect(Self.ids(dashboard).prefix(2) == [1077, 1080])
  }

  @Test("An operation without details has a line")
  func unknownOperation() {
    var dashboard = Self.dashboard()
    Self.report(to: &dashboard) { $0.runOrders[0].ready.insert(ID(4_000), at: 1) }
    #expect(dashboard.text().shows("2 #4000 "))
    #expect(dashboard.text().shows("details are not known"))
  }

  // MARK: What the next operation waits for

  @Test("QV-8: A sentence says what the next operation waits for")
  func next() {
    func sentence(_ change: (inout QueueReport) -> Void) -> String {
      var dashboard = Self.dashboard()
      Self.report(to: &dashboard) { change(&$0.queues[0]) }
      return dashboard.text().first { $0.hasPrefix(" next: ") || $0.contains("no operation") } ?? ""
    }
    let start = " next: #1103 merge shard 5"
    #expect(sentence { _ in } == "\(start) waits for a free slot; all are in use (2/2)")
    #expect(sentence { $0.isSuspended = true } == "\(start) starts after the queue is resumed (S)")
    #expect(
      sentence { $0.width = 0 } == "\(start) cannot start, because the width of the queue is 0")
    let limited = sentence {
      $0.width = 3
      $0.startLimit = .init(count: 5, periodSeconds: 1)
    }
    #expect(limited == "\(start) waits for the limit of starts, 5/s")
  }

  @Test("QV-8: The next operation can start now only if the process reports no reason")
  func nextWithoutReason() {
    var dashboard = Self.dashboard()
    func sentence(detail: OperationDetail?, width: Int?) -> String {
      Self.report(to: &dashboard) { update in
        update.queues[0].width = width
        update.detail = detail
      }
      return dashboard.text().first { $0.hasPrefix(" next: ") } ?? ""
    }
    let start = " next: #1103 merge shard 5"
    let detail = OperationDetail(id: ID(1103), qualityOfService: .utility)
    for width in [nil, 3] {
      #expect(sentence(detail: detail, width: width) == "\(start) can start now")
      // The process sends the details of another operation.
      let other = OperationDetail(id: ID(1104), qualityOfService: .utility)
      #expect(sentence(detail: other, width: width) == start)
      #expect(sentence(detail: nil, width: width) == start)
    }
  }

  @Test("QV-8: A sentence says that no operation is ready")
  func noneIsReady() {
    var dashboard = Self.dashboard()
    Self.report(to: &dashboard) { update in
      update.queues[0].counts.ready = 0
      update.runOrders[0].ready = []
    }
    #expect(dashboard.text().shows("no operation is ready; 311 are waiting"))
    #expect(dashboard.text().shows("─ ready: none ─"))
  }

  @Test("QV-8: A barrier that the process has reported is the reason")
  func barrier() {
    var dashboard = Self.dashboard()
    Self.report(to: &dashboard) { update in
      update.detail = OperationDetail(id: ID(1103), qualityOfService: .utility)
      update.detail?.reasons = [
        .init(kind: .barrierAhead, sentence: "it waits", operations: [ID(1080)])
      ]
    }
    #expect(dashboard.text().shows("merge shard 5 waits until the barrier #1080 has finished"))
  }

  // MARK: The selection

  @Test("QV-9: The next operation is selected until a key selects an operation")
  func selection() {
    var dashboard = Self.dashboard()
    #expect(dashboard.selected == ID(1103))
    Self.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(dashboard.selected == ID(1104))
    dashboard.press("k")
    #expect(dashboard.selected == ID(1080))
    Self.report(to: &dashboard) { _ in }
    #expect(dashboard.selected == ID(1080))
    dashboard.press("G")
    #expect(dashboard.selected == ID(1104))
    dashboard.press("g")
    #expect(dashboard.selected == ID(1077))
  }

  @Test("QV-9: A key that acts on the selected operation keeps it selected")
  func actingHoldsTheSelection() {
    var dashboard = Self.dashboard()
    dashboard.press("x")
    #expect(dashboard.text().shows("Cancel #1103 merge shard 5?"))
    dashboard.press("n")
    Self.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(dashboard.selected == ID(1103))
  }

  @Test("QV-9: A command for the queue does not keep the next operation selected")
  func commandsForTheQueueDoNotHold() {
    var dashboard = Self.dashboard()
    for key in ["+", "-", "S", "r"] {
      dashboard.press(key)
      if key == "S" { dashboard.press("n") }
      if key == "r" { dashboard.press(.escape) }
      #expect(dashboard.followsNextOperation, "\(key)")
    }
    Self.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(dashboard.selected == ID(1104))
  }

  @Test("QV-9: If the selected operation leaves the queue, a ghost cursor replaces its row")
  func ghost() {
    var dashboard = Self.dashboard()
    dashboard.press("k")
    Self.report(to: &dashboard) { update in
      update.runOrders[0].executing = [ID(1077)]
      update.changed = update.changed.map { report in
        var report = report
        if report.id == ID(1080) { (report.state, report.finished) = (.finished, Scene.now) }
        return report
      }
    }
    #expect(dashboard.selected == ID(1080))
    #expect(dashboard.text().shows("▌ selected row: #1080 finished · g: first row"))
    #expect(dashboard.press("x") == [.bell])
    dashboard.press("j")
    #expect(dashboard.selected == ID(1103))
    #expect(!dashboard.text().shows("selected row:"))
  }

  @Test(
    "QV-9: The selected line is always on the screen", arguments: [(40, 10), (80, 24), (120, 40)])
  func scrolling(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(columns: columns, rows: rows)
    let ready = (2_000..<2_100).map { ID($0) }
    Self.report(to: &dashboard) { $0.runOrders[0].ready = ready }
    func isOnScreen() -> Bool {
      dashboard.text().contains { $0.hasPrefix("▌") && $0.contains(" \(dashboard.selected!)") }
    }
    for key in ["j", "j", "G", "k", "g", "j"] {
      dashboard.press(key)
      #expect(isOnScreen(), "\(key)")
    }
    for _ in 0..<60 {
      dashboard.press(.pageDown)
      #expect(isOnScreen())
    }
    #expect(dashboard.selected == ready.last)
    dashboard.take(.resized(Size(columns: 80, rows: 12)))
    #expect(isOnScreen())
  }

  @Test("QV-9: A tag is shown beside its operation, and the details open and close")
  func tagsAndDetails() {
    var dashboard = Self.dashboard()
    dashboard.press(" ")
    #expect(dashboard.text().contains { $0.contains("*") && $0.contains("#1103") })
    #expect(dashboard.selected == ID(1104))
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .detail)
    dashboard.press("N")
    #expect(dashboard.detail?.id == ID(1103))
    dashboard.press("q")
    #expect(dashboard.keyContext == .queue && dashboard.selected == ID(1103))
    dashboard.press(.escape)
    #expect(dashboard.keyContext == .queues)
  }

  @Test("QV-9: The key b selects the operation that holds up the selected one")
  func blocker() {
    var dashboard = Self.dashboard()
    dashboard.press("b")
    #expect(dashboard.keyContext == .queue && dashboard.selected == ID(1077))
  }

  // MARK: Other queues

  @Test("QV-10: n and N go to the next and the previous queue")
  func neighbours() {
    var dashboard = Self.dashboard()
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
    var dashboard = Self.dashboard("j")
    Self.report(to: &dashboard) { $0.queues.removeAll { $0.id == Scene.io } }
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
    var dashboard = Self.dashboard()
    Self.report(to: &dashboard) { $0.queues = [$0.queues[0]] }
    #expect(dashboard.press("n") == [.bell] && dashboard.press("N") == [.bell])
    #expect(dashboard.text().shows("there is no other queue"))
  }

  @Test("Another view or another selected queue closes the queue screen")
  func closing() {
    var dashboard = Self.dashboard()
    dashboard.press("t")
    #expect(dashboard.keyContext == .tree && dashboard.queueScreen == nil)
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.keyContext == .queues)
  }

  @Test("Commands on the queue screen concern its queue")
  func commands() {
    var dashboard = Self.dashboard()
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.cpu, 3))])
    #expect(dashboard.text().shows("2/2→3"))
    #expect(dashboard.press("S") == [])
    #expect(dashboard.text().shows("Suspend queue cpu?"))
  }

  // MARK: Requested data

  @Test("QV-14: The screen requests the order of its queue, with more operations than it shows")
  func interest() {
    var dashboard = Self.dashboard()
    let request = dashboard.wantedInterest.runOrder
    #expect(request?.queues == [Scene.cpu])
    #expect((50...200).contains(request?.limit ?? 0))
    #expect(dashboard.wantedInterest.queueTimes)
    Self.report(to: &dashboard) { $0.runOrders[0].ready = (2_000..<2_500).map { ID($0) } }
    dashboard.press("G")
    #expect(dashboard.wantedInterest.runOrder?.limit == WireLimits.mostRunOrderOperations)
    dashboard.take(.input(.alt("1")))
    #expect(dashboard.wantedInterest.runOrder == nil && !dashboard.wantedInterest.queueTimes)
  }

  @Test("QV-14: The operations on the screen are requested at most once a second")
  func requests() {
    var dashboard = Self.dashboard()
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

  @Test("QV-14: The operation that starts next is requested after a second without further updates")
  func requestsWithoutUpdates() throws {
    var dashboard = Self.dashboard()
    #expect(dashboard.wantedInterest.detail == ID(1103))
    #expect(dashboard.nextQueueRequest == nil)
    Self.report(to: &dashboard, at: dashboard.now + .milliseconds(200)) { update in
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

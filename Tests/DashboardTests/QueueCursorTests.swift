// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The selection on the screen of a queue")
struct QueueCursorTests {
  private typealias ID = OperationReport.ID

  @Test("QV-9: The next operation is selected until a key selects an operation")
  func selection() {
    var dashboard = QueueScene.dashboard()
    #expect(dashboard.selected == ID(1103))
    QueueScene.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(dashboard.selected == ID(1104))
    dashboard.press("k")
    #expect(dashboard.selected == ID(1080))
    QueueScene.report(to: &dashboard) { _ in }
    #expect(dashboard.selected == ID(1080))
    dashboard.press("G")
    #expect(dashboard.selected == ID(1104))
    dashboard.press("g")
    #expect(dashboard.selected == ID(1077))
  }

  @Test("QV-9: A key that acts on the selected operation keeps it selected")
  func actingHoldsTheSelection() {
    var dashboard = QueueScene.dashboard()
    dashboard.press("x")
    #expect(dashboard.text().shows("Cancel #1103 merge shard 5?"))
    dashboard.press("n")
    QueueScene.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(dashboard.selected == ID(1103))
  }

  @Test("QV-9: A command for the queue does not keep the next operation selected")
  func commandsForTheQueueDoNotHold() {
    var dashboard = QueueScene.dashboard()
    for key in ["+", "-", "S", "r"] {
      dashboard.press(key)
      if key == "S" { dashboard.press("n") }
      if key == "r" { dashboard.press(.escape) }
      #expect(dashboard.followsNextOperation, "\(key)")
    }
    QueueScene.report(to: &dashboard) { $0.runOrders[0].ready.reverse() }
    #expect(dashboard.selected == ID(1104))
  }

  @Test("QV-9: If the selected operation leaves the queue, a ghost cursor replaces its row")
  func ghost() {
    var dashboard = QueueScene.dashboard()
    dashboard.press("k")
    QueueScene.report(to: &dashboard) { update in
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
    var dashboard = QueueScene.dashboard(columns: columns, rows: rows)
    let ready = (2_000..<2_100).map { ID($0) }
    QueueScene.report(to: &dashboard) { $0.runOrders[0].ready = ready }
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
    var dashboard = QueueScene.dashboard()
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
    var dashboard = QueueScene.dashboard()
    dashboard.press("b")
    #expect(dashboard.keyContext == .queue && dashboard.selected == ID(1077))
  }

  @Test("QV-9: The key b first requests the details of an operation that is not the next one")
  func blockerAfterDetails() {
    func dashboard(_ keys: String) -> Dashboard {
      var dashboard = QueueScene.dashboard()
      dashboard.press("j")
      for key in keys.unicodeScalars { _ = dashboard.reduce(.input(.character(key))) }
      return dashboard
    }
    func answer(_ dashboard: inout Dashboard) {
      QueueScene.report(to: &dashboard) { update in
        update.detail = OperationDetail(id: ID(1104), qualityOfService: .utility)
        update.detail?.reasons = [
          .init(kind: .barrierAhead, sentence: "it waits", operations: [ID(1080)])
        ]
      }
    }
    var asked = dashboard("b")
    #expect(asked.wantedInterest.detail == ID(1104) && asked.selected == ID(1104))
    answer(&asked)
    #expect(asked.wantedInterest.detail == ID(1103) && asked.selected == ID(1080))
    // Another key before the answer takes the key back.
    asked = dashboard("bk")
    #expect(asked.wantedInterest.detail == ID(1103))
    answer(&asked)
    #expect(asked.selected == ID(1103))
  }

  @Test("QV-9: The key b needs no details of an operation that has ended, and none during a pause")
  func blockerWithoutDetails() {
    var dashboard = QueueScene.dashboard()
    dashboard.press("k")
    _ = dashboard.reduce(.input(.character("b")))
    QueueScene.report(to: &dashboard) { update in
      for index in update.changed.indices where update.changed[index].id == ID(1080) {
        (update.changed[index].state, update.changed[index].finished) = (.finished, Scene.now)
      }
    }
    #expect(dashboard.text().shows("#1080 has finished; nothing holds it up"))
    dashboard.press("Gp")
    _ = dashboard.reduce(.input(.character("b")))
    #expect(dashboard.selected == ID(1077))
  }

  @Test("QV-9: The key b waits for no details of an operation that has started in a recording")
  func blockerInReplay() {
    var dashboard = QueueScene.dashboard()
    dashboard.take(.replay(ReplayStatus(time: Scene.now, length: .seconds(200))))
    dashboard.press("k")
    #expect(dashboard.selected == ID(1080))
    #expect(dashboard.reduce(.input(.character("b"))).contains(.bell))
    #expect(dashboard.queueScreen?.awaited == nil && dashboard.screen.notice != nil)
  }

  @Test("QV-9: If nothing holds up the operation, the late answer to the key b sounds the bell")
  func lateBell() {
    var dashboard = QueueScene.dashboard()
    dashboard.press("j")
    _ = dashboard.reduce(.input(.character("b")))
    #expect(dashboard.queueScreen?.awaited == ID(1104))
    var update = ViewScene.update
    update.time = dashboard.now
    for index in update.changed.indices where update.changed[index].id == ID(1104) {
      (update.changed[index].state, update.changed[index].finished) = (.finished, Scene.now)
    }
    #expect(dashboard.reduce(.monitor(.update(update))).contains(.bell))
  }

  @Test(
    "QV-9: Many executing operations leave room for the next one, which is selected",
    arguments: [(40, 10), (40, 24), (80, 24), (120, 40), (200, 60)])
  func manyExecuting(columns: Int, rows: Int) throws {
    var dashboard = QueueScene.dashboard(columns: columns, rows: rows)
    func report() {
      QueueScene.report(to: &dashboard) { update in
        update.queues[0].width = 64
        update.queues[0].counts.executing = 64
        update.runOrders[0].executing = (2_000..<2_064).map { ID($0) }
        update.runOrders[0].ready = [1103, 1104].map { ID($0) } + (3_000..<3_018).map { ID($0) }
      }
    }
    func selectedLine() -> String? { dashboard.text().first { $0.hasPrefix("▌") } }
    report()
    #expect(selectedLine()?.contains("1 #1103") == true)
    #expect(dashboard.text().shows("─ ready 20, next first ─"))
    if rows >= 24 {
      let longest = dashboard.text().count { $0.contains(" #20") }
      #expect(longest >= 3 && longest <= rows / 2)
      #expect(
        dashboard.text().shows("executing 64; the \(longest) longest runs ─"))
    }
    GoldenFrame.checkCells(of: dashboard.picture())
    // All executing operations can be selected.
    dashboard.press("k")
    #expect(selectedLine()?.contains("#2063") == true)
    for id in (2_000..<2_063).reversed() {
      dashboard.press("k")
      if id % 7 == 0 { report() }
      #expect(selectedLine()?.contains("#\(id)") == true)
    }
    dashboard.press("G")
    #expect(selectedLine()?.contains("20 #3017") == true)
  }

  @Test("QV-9: If all executing operations and the ready ones have room, all of them have lines")
  func fewExecuting() {
    var dashboard = QueueScene.dashboard()
    QueueScene.report(to: &dashboard) { update in
      update.queues[0].counts.executing = 9
      update.queues[0].counts.ready = 2
      update.runOrders[0].executing = (2_000..<2_009).map { ID($0) }
    }
    #expect(dashboard.text().shows("executing 9, longest first ─"))
    #expect(dashboard.text().count { $0.contains(" #200") } == 9)
    #expect(dashboard.text().shows("2 #1104"))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("What holds an operation up")
struct ObstacleTests {
  private typealias ID = OperationReport.ID

  /// Returns a dashboard that has received the warnings, and that has selected an operation. If `detail` is not
  /// `nil`, the monitor has also reported this detail of the operation.
  private static func dashboard(
    selecting id: Int, _ warnings: [MonitorWarning] = [], detail: OperationDetail? = nil,
    columns: Int = 80, rows: Int = 60
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("\(id)")
    dashboard.press(.enter)
    report(warnings, detail, to: &dashboard)
    return dashboard
  }

  private static func report(
    _ warnings: [MonitorWarning], _ detail: OperationDetail?, to dashboard: inout Dashboard
  ) {
    var update = Scene.update
    update.warnings = warnings
    update.detail = detail
    _ = dashboard.reduce(.monitor(.update(update)))
  }

  private static let slotDeadlock = MonitorWarning(
    kind: .slotDeadlock, operations: [ID(1042), ID(1051)], awaited: [ID(1103), ID(1104)],
    queue: Scene.io)

  @Test("b goes from a member of a slot deadlock to what this member waits for")
  func bGoesToWhatAMemberOfASlotDeadlockWaitsFor() {
    var first = Self.dashboard(selecting: 1042, [Self.slotDeadlock])
    first.press("b")
    #expect(first.selected == ID(1103))
    var second = Self.dashboard(selecting: 1051, [Self.slotDeadlock])
    second.press("b")
    #expect(second.selected == ID(1104))
  }

  @Test("b goes from an executing operation to the operation that its code waits for")
  func bGoesToWhatTheCodeWaitsFor() {
    let detail = OperationDetail(id: ID(1080), awaitedOperations: [ID(1181)])
    var dashboard = Self.dashboard(selecting: 1080, detail: detail)
    dashboard.press("b")
    #expect(dashboard.selected == ID(1181))
  }

  @Test("b goes from a member of a cycle to the next member")
  func bFollowsACycle() {
    let cycle = MonitorWarning(kind: .cycle, operations: [ID(1180), ID(1200), ID(1181)])
    var dashboard = Self.dashboard(selecting: 1180, [cycle])
    for next in [1200, 1181, 1180] {
      dashboard.press("b")
      #expect(dashboard.selected == ID(next))
      Self.report([cycle], nil, to: &dashboard)
    }
  }

  @Test("b goes from a ready operation to the operation that holds the slot")
  func bGoesToTheOperationThatHoldsTheSlot() {
    let reason = OperationDetail.Reason(
      kind: .noFreeSlot, sentence: "it is ready", operations: [ID(1077), ID(1080)])
    var detailed = Self.dashboard(
      selecting: 1103, detail: OperationDetail(id: ID(1103), reasons: [reason]))
    detailed.press("b")
    #expect(detailed.selected == ID(1077))
    // Without a detail, the operations that execute in the queue are the holders. The longest run is the first.
    var known = Self.dashboard(selecting: 1103)
    known.press("b")
    #expect(known.selected == ID(1077))
  }

  @Test("b goes to the barrier, and to the holder of an exclusion")
  func bGoesToBarriersAndExclusions() {
    var behind = Self.dashboard(
      selecting: 1104,
      detail: OperationDetail(
        id: ID(1104),
        reasons: [.init(kind: .barrierAhead, sentence: "it waits", operations: [ID(1101)])]))
    behind.press("b")
    #expect(behind.selected == ID(1101))
    var excluded = Self.dashboard(selecting: 1080)
    var report = Scene.operations.first { $0.id == ID(1104) }
    report?.state = .waiting
    report?.isExcluded = true
    var update = Scene.update
    update.changed = report.map { [$0] } ?? []
    _ = excluded.reduce(.monitor(.update(update)))
    excluded.press("1104")
    excluded.press(.enter)
    update.changed = []
    update.detail = OperationDetail(
      id: ID(1104), reasons: [.init(kind: .excluded, sentence: "it", operations: [ID(1095)])])
    _ = excluded.reduce(.monitor(.update(update)))
    excluded.press("b")
    #expect(excluded.selected == ID(1095))
  }

  @Test("b goes from a held operation to its suspended queue")
  func bGoesToTheSuspendedQueue() {
    var dashboard = Self.dashboard(selecting: 1110)
    dashboard.press("b")
    #expect(dashboard.screen.view == .queues && dashboard.selectedQueue?.id == Scene.net)
    #expect(dashboard.text().shows("#1110 waits for queue net, which is suspended"))
  }

  @Test(
    "Of several unmet dependencies, b chooses the one in a deadlock, with and without the detail",
    arguments: [true, false])
  func bPrefersADeadlock(hasDetail: Bool) {
    let detail = OperationDetail(
      id: ID(1180),
      reasons: [
        .init(kind: .unmetDependencies, sentence: "it", operations: [ID(1101), ID(1042)])
      ])
    var dashboard = Self.dashboard(selecting: 1180, detail: hasDetail ? detail : nil)
    dashboard.press("b")
    #expect(dashboard.selected == ID(1101))
    var deadlocked = Self.dashboard(
      selecting: 1180, [Self.slotDeadlock], detail: hasDetail ? detail : nil)
    deadlocked.press("b")
    #expect(deadlocked.selected == ID(1042))
  }

  @Test(
    "b says that a dependency is not in a queue only if the detail says so",
    arguments: [(true, "which is not in a queue"), (false, "whose details have not arrived yet")])
  func bNamesAnUnknownDependency(isNeverAdded: Bool, clause: String) {
    var detail = OperationDetail(
      id: ID(1181),
      reasons: [.init(kind: .unmetDependencies, sentence: "it", operations: [ID(7)])])
    if isNeverAdded {
      detail.reasons.append(
        .init(kind: .dependenciesNeverAdded, sentence: "it", operations: [ID(7)]))
    }
    var dashboard = Self.dashboard(selecting: 1181, detail: detail)
    #expect(dashboard.press("b") == [.bell])
    #expect(dashboard.text().shows("#1181 waits for #7, \(clause)"))
    #expect(dashboard.selected == ID(1181))
  }

  @Test("b says that nothing holds an operation up")
  func bWithoutAnObstacle() {
    var dashboard = Self.dashboard(selecting: 1080)
    #expect(dashboard.press("b") == [.bell])
    #expect(dashboard.text().shows("#1080 executes; nothing is known to hold it up"))
  }

  @Test("b says that an operation waits for an exclusion, also if the holder is not known")
  func bNamesTheExclusion() {
    var dashboard = Self.dashboard(selecting: 1104)
    var report = Scene.operations.first { $0.id == ID(1104) }
    report?.state = .waiting
    report?.isExcluded = true
    var update = Scene.update
    update.changed = report.map { [$0] } ?? []
    _ = dashboard.reduce(.monitor(.update(update)))
    #expect(dashboard.press("b") == [.bell])
    #expect(
      dashboard.text().shows("#1104 is waiting for an exclusion that another operation holds"))
    #expect(!dashboard.text().shows("isReady"))
  }

  @Test("b uses the word for the state of a cancelled and of a held operation")
  func bNamesTheState() {
    var cancelled = Self.dashboard(selecting: 1033)
    #expect(cancelled.press("b") == [.bell])
    #expect(cancelled.text().shows("#1033 was cancelled; nothing holds it up"))
    // The dashboard does not know the queue of the held operation, so the key `b` cannot go to this queue.
    var held = Self.dashboard(selecting: 1110)
    var report = Scene.operations.first { $0.id == ID(1110) }
    report?.queue = .init(77)
    var update = Scene.update
    update.changed = report.map { [$0] } ?? []
    _ = held.reduce(.monitor(.update(update)))
    #expect(held.press("b") == [.bell])
    #expect(held.text().shows("#1110 is held in a suspended queue"))
  }

  @Test("The pane names the operations that b goes to, and so does the detail screen")
  func thePaneAgreesWithTheDetailScreen() {
    let detail = OperationDetail(id: ID(1042), awaitedOperations: [ID(1103)])
    var dashboard = Self.dashboard(
      selecting: 1042, [Self.slotDeadlock], detail: detail, columns: 120, rows: 40)
    let pane = dashboard.text().drop { !$0.contains("ITS CODE WAITS FOR") }
    #expect(pane.dropFirst().first?.contains("#1103 merge shard 5") == true)
    #expect(pane.dropFirst().first?.hasSuffix("ready") == true)
    dashboard.press(.enter)
    Self.report([Self.slotDeadlock], detail, to: &dashboard)
    let screen = dashboard.text().drop { !$0.contains("what the operation's code waits for") }
    #expect(screen.dropFirst().first?.contains("#1103 merge shard 5") == true)
    dashboard.press("b")
    #expect(dashboard.detail?.id == ID(1103))
  }

  @Test("The detail of the selected operation is requested until the operation has finished")
  func theDetailOfTheSelectionIsRequested() {
    #expect(Self.dashboard(selecting: 1103).connection.interest.detail == ID(1103))
    #expect(Self.dashboard(selecting: 1035).connection.interest.detail == nil)
  }
}

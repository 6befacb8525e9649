// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The list of warnings")
struct WarningListTests {
  private typealias ID = OperationReport.ID

  static func dashboard(
    _ warnings: [MonitorWarning], columns: Int = 80, rows: Int = 24
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    report(warnings, to: &dashboard)
    return dashboard
  }

  private static func report(_ warnings: [MonitorWarning], to dashboard: inout Dashboard) {
    var update = Scene.update
    update.warnings = warnings
    dashboard.take(.monitor(.update(update)))
  }

  /// The warnings of these tests: one about several operations, one about a queue, one about the
  /// process, and a deadlock.
  private static let warnings = [
    MonitorWarning(kind: .cycle, operations: [ID(1180), ID(1181), ID(1200)], count: 12),
    MonitorWarning(
      kind: .slow, operations: [ID(1042), ID(1051)], count: 2, since: Scene.seconds(89.6),
      usual: .seconds(1)),
    MonitorWarning(
      kind: .suspendedWithReady, queue: Scene.net, count: 12, since: Scene.seconds(90)),
    MonitorWarning(kind: .threadLimit, count: 3, limit: 512),
  ]

  private func rows(of dashboard: Dashboard) -> [String] {
    Array(dashboard.text().drop { !$0.contains("WARNING") }.dropFirst().prefix { !$0.isEmpty })
  }

  @Test("The selection stays on its warning when the rows change")
  func theSelectionIsAWarning() {
    func kind(_ dashboard: Dashboard) -> MonitorWarning.Kind? { dashboard.selectedWarning?.kind }
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!j")
    #expect(kind(dashboard) == .slow)
    // The same warning is now another row.
    Self.report(Array(Self.warnings.reversed()), to: &dashboard)
    #expect(kind(dashboard) == .slow)
    dashboard.press("k")
    #expect(kind(dashboard) == .suspendedWithReady)
    dashboard.press("j")
    // The first operation of the warning has finished, and the warning has lost its row.
    var other = Self.warnings[1]
    other.operations = [ID(1051)]
    Self.report([Self.warnings[3], Self.warnings[0], other], to: &dashboard)
    #expect(dashboard.selectedWarning == other)
    // A ghost cursor replaces the row of a warning that has ended, until the warning returns.
    Self.report([Self.warnings[3], Self.warnings[0]], to: &dashboard)
    #expect(dashboard.selectedWarning == nil)
    Self.report([Self.warnings[3], Self.warnings[0], other], to: &dashboard)
    #expect(dashboard.selectedWarning == other)
  }

  private static let twoDeadlocks = [
    MonitorWarning(
      kind: .slotDeadlock, operations: [ID(1042)], awaited: [ID(1103)], queue: Scene.io),
    MonitorWarning(
      kind: .slotDeadlock, operations: [ID(1080)], awaited: [ID(1104)], queue: Scene.cpu),
  ]

  @Test("After the selected warning has ended, its keys do nothing until a key selects a warning")
  func theNextWarningIsNotChanged() {
    var dashboard = Self.dashboard(Self.twoDeadlocks)
    dashboard.press("!")
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.io, 5))])
    Self.report([Self.twoDeadlocks[1]], to: &dashboard)
    #expect(dashboard.text().shows("▌ the selected warning no longer exists"))
    for key in ["+", "-", "S", "x"] {
      #expect(dashboard.press(key) == [.bell])
      #expect(dashboard.prompts.question == nil)
      #expect(dashboard.text().shows("the selected warning no longer exists; press j, k or g"))
    }
    #expect(dashboard.press(.enter) == [.bell])
    dashboard.press("j")
    #expect(dashboard.selectedWarning == Self.twoDeadlocks[1])
    #expect(!dashboard.text().shows("no longer exists"))
    #expect(dashboard.press("+") == [.send(.setWidth(Scene.cpu, 3))])
  }

  @Test(
    "The keys j and k continue from the row of a warning that has ended",
    arguments: [("j", 3), ("k", 1), ("g", 0), ("G", 3)])
  func movementContinuesFromTheGhost(key: String, index: Int) {
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!jj")
    var others = Self.warnings
    others.remove(at: 2)
    Self.report(others, to: &dashboard)
    #expect(rows(of: dashboard)[2].hasPrefix("▌"))
    dashboard.press(key)
    #expect(dashboard.selectedWarning == Self.warnings[index])
    #expect(rows(of: dashboard).prefix { !$0.isEmpty }.count >= 3)
  }

  @Test("Another warning of the same kind about other operations is not selected")
  func anotherCycleIsNotSelected() {
    let cycles = [
      MonitorWarning(kind: .cycle, operations: [ID(1180), ID(1181)]),
      MonitorWarning(kind: .cycle, operations: [ID(1190), ID(1200)]),
    ]
    var dashboard = Self.dashboard(cycles)
    dashboard.press("!")
    Self.report([cycles[1]], to: &dashboard)
    #expect(dashboard.selectedWarning == nil)
    for key in ["x", "+", "S"] { #expect(dashboard.press(key) == [.bell]) }
    #expect(dashboard.prompts.question == nil)
  }

  @Test("A key for queues does nothing at a warning that is not about a queue")
  func onlyTheQueueOfTheWarningIsChanged() {
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!j")
    for key in ["+", "-", "S"] {
      #expect(dashboard.press(key) == [.bell])
      #expect(dashboard.text().shows("this warning is not about a queue"))
    }
  }

  @Test("Equal warnings of two processes are two rows")
  func warningsOfTwoProcesses() {
    var second = Self.warnings[3]
    second.process = 2
    var first = second
    first.process = 1
    var dashboard = Self.dashboard([first, second])
    dashboard.press("!j")
    #expect(dashboard.selectedWarning == second)
    Self.report([Self.warnings[0], first, second], to: &dashboard)
    #expect(dashboard.selectedWarning == second)
  }

  @Test(
    "The header counts the rows of the list", arguments: [(40, 10), (80, 24), (120, 40), (200, 60)])
  func oneCountIsOneRow(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(Self.warnings, columns: columns, rows: rows)
    #expect(dashboard.text()[0].contains("! 4"))
    dashboard.press("!")
    #expect(dashboard.text()[0].contains("! 4"))
    let list = self.rows(of: dashboard)
    #expect(list.prefix(4).count == 4)
    for (row, words) in zip(
      list, ["DEADLOCK ", "#1042", "net has been suspended", "all 512 threads"])
    {
      #expect(row.contains(words), "\(row)")
    }
    #expect(list.count == 4 || !list[4].hasPrefix("  "))
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test(arguments: [(80, 24), (120, 40)])
  func theListLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(Self.warnings, columns: columns, rows: rows)
    dashboard.press("!j")
    GoldenFrame.check(dashboard.picture(), named: "warnings-\(columns)x\(rows)")
  }

  @Test func theSelectedWarningShowsItsFix() {
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!")
    #expect(dashboard.text().shows("cycle → cancel one operation (x)"))
    dashboard.press("jj")
    #expect(dashboard.text().shows("suspended-with-ready → resume the queue (S)"))
    // The warning shows the keys that fix its cause. These keys act on the operation or the queue
    // of the selected warning.
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.net, false))])
    dashboard.press("kx")
    #expect(dashboard.press("y") == [.send(.cancel([ID(1042)]))])
  }

  @Test func aCutNameEndsInAnEllipsis() {
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!")
    #expect(dashboard.text().shows("#1042 download tiles z=14… and 1 more have run"))
  }

  @Test func aSlotDeadlockNamesItsKeyInTheList() {
    var dashboard = Self.dashboard([
      MonitorWarning(
        kind: .slotDeadlock, operations: [ID(1042)], awaited: [ID(1103)], queue: Scene.io)
    ])
    dashboard.press("!")
    #expect(dashboard.text().shows("slot-deadlock → widen the queue (+)"))
  }

  @Test func aKeyOfTheListActsOnTheWarningAndNotOnTheDetailBelow() {
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press(.enter)
    dashboard.press("!x")
    #expect(dashboard.press("y") == [.send(.cancel([ID(1180)]))])
  }

  @Test func theSelectionStaysOnItsWarning() {
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!jj")
    Self.report(Array(Self.warnings.dropFirst()), to: &dashboard)
    #expect(dashboard.selectedWarning?.kind == .suspendedWithReady)
    Self.report([Self.warnings[0], Self.warnings[3]], to: &dashboard)
    #expect(dashboard.selectedWarning == nil)
    dashboard.press("j")
    #expect(dashboard.selectedWarning?.kind == .threadLimit)
    Self.report([], to: &dashboard)
    #expect(dashboard.selectedWarning == nil)
    #expect(dashboard.text().shows("no warnings"))
    for key in ["x", "S", "+"] { #expect(dashboard.press(key) == [.bell]) }
    #expect(dashboard.press(.enter) == [.bell])
  }

  @Test func enterGoesToTheOperationOrTheQueue() {
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!j")
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .list && dashboard.selected == ID(1042))
    dashboard.press("!jj")
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .queues && dashboard.queues.id == Scene.net)
    dashboard.press("!jjj")
    #expect(dashboard.press(.enter) == [.bell])
    #expect(dashboard.text().shows("this warning is about the whole process"))
    // If the list hides the operation of the selected warning, the key Enter shows the details of
    // this operation.
    dashboard.press("q")
    dashboard.press("q")
    dashboard.press("\\upload")
    dashboard.press(.enter)
    dashboard.press("!j")
    dashboard.press(.enter)
    #expect(dashboard.detail?.id == ID(1042))
  }

  @Test func theListOpensFromEachViewAndReturnsToIt() {
    for view: Unicode.Scalar in ["1", "2", "3", "4", "5"] {
      var dashboard = Self.dashboard(Self.warnings)
      dashboard.take(.input(.alt(view)))
      let context = dashboard.keyContext
      dashboard.press("!")
      #expect(dashboard.keyContext == .warnings)
      dashboard.press(.escape)
      #expect(dashboard.keyContext == context)
    }
    var dashboard = Self.dashboard(Self.warnings)
    dashboard.press("!")
    dashboard.press(.tab)
    #expect(dashboard.keyContext == .tree)
  }

  @Test func theAgesOfWarningsAreCurrent() {
    var dashboard = Self.dashboard([Self.warnings[2]])
    dashboard.press("!")
    #expect(dashboard.text().shows("net has been suspended for 12.0s"))
    #expect(dashboard.nextTick(after: Scene.now) != nil)
    dashboard.take(.tick(Scene.seconds(110)))
    #expect(dashboard.text().shows("net has been suspended for 20.0s"))
  }
}

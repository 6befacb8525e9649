// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The bell at a deadlock") struct DeadlockBellTests {
  private typealias ID = OperationReport.ID

  private static let cycle = MonitorWarning(kind: .cycle, operations: [ID(1101), ID(1180)])
  private static let slots = MonitorWarning(
    kind: .slotDeadlock, operations: [ID(1080), ID(1077)], awaited: [ID(1103), ID(1104)],
    queue: Scene.cpu, count: 3)

  private static func dashboard(
    rings: Bool = true, source: Source = .demo, _ first: [MonitorWarning] = []
  ) -> Dashboard {
    var configuration = Dashboard.Configuration(source: source, title: "tiles")
    configuration.settings.ringsBell = rings
    var dashboard = Dashboard(configuration: configuration)
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    dashboard.take(.tick(Scene.now))
    _ = dashboard.reduce(.monitor(.hello(Scene.hello)))
    _ = report(first, to: &dashboard)
    return dashboard
  }

  /// Sends an update with warnings. Returns whether the bell sounds.
  private static func report(
    _ warnings: [MonitorWarning], to dashboard: inout Dashboard
  ) -> Bool {
    var update = Scene.update
    update.warnings = warnings
    let effects = dashboard.take(.monitor(.update(update)))
    #expect(effects.count { $0 == .bell } <= 1)
    return effects.contains(.bell)
  }

  @Test("CP-7: The bell sounds once for each new deadlock")
  func newDeadlocks() {
    var dashboard = Self.dashboard()
    #expect(!Self.report([], to: &dashboard))
    #expect(Self.report([Self.cycle], to: &dashboard))
    for _ in 0..<3 { #expect(!Self.report([Self.cycle], to: &dashboard)) }
    #expect(Self.report([Self.slots, Self.cycle], to: &dashboard))
    #expect(!Self.report([Self.slots], to: &dashboard))
    // A deadlock that has ended and begins again is a new one.
    #expect(!Self.report([], to: &dashboard))
    #expect(Self.report([Self.slots, Self.cycle], to: &dashboard))
  }

  @Test("CP-7: The bell does not sound again if operations join or leave a deadlock")
  func growingDeadlock() {
    var dashboard = Self.dashboard()
    #expect(Self.report([Self.cycle], to: &dashboard))
    var larger = Self.cycle
    larger.operations = [ID(1042)] + larger.operations
    larger.count = 12
    #expect(!Self.report([larger], to: &dashboard))
    larger.operations = [ID(1042), ID(1051)]
    #expect(!Self.report([larger], to: &dashboard))
    let other = MonitorWarning(kind: .cycle, operations: [ID(1110), ID(1111)])
    #expect(Self.report([larger, other], to: &dashboard))
  }

  @Test("CP-7: Without the setting, and for other warnings, no bell sounds")
  func noBell() {
    var silent = Self.dashboard(rings: false)
    #expect(!Self.report([Self.cycle], to: &silent))
    var dashboard = Self.dashboard()
    let others = MonitorWarning.Kind.allCases.filter { !$0.isDeadlock }
    let warnings = others.map { MonitorWarning(kind: $0, operations: [ID(1042)], queue: Scene.io) }
    #expect(!Self.report(warnings, to: &dashboard))
  }

  @Test("CP-8: A deadlock of the first update sounds no bell, also after a new connection")
  func existingDeadlock() {
    var dashboard = Self.dashboard(source: .process("/run/1"), [Self.cycle])
    #expect(!Self.report([Self.cycle], to: &dashboard))
    _ = dashboard.reduce(.monitor(.disconnected(reason: "reset")))
    _ = dashboard.reduce(.monitor(.hello(Scene.hello)))
    #expect(!Self.report([Self.cycle], to: &dashboard))
    #expect(Self.report([Self.cycle, Self.slots], to: &dashboard))
    // Another process begins with its own deadlocks.
    var hello = Scene.hello
    hello.processID = 9_999
    _ = dashboard.reduce(.monitor(.hello(hello)))
    #expect(!Self.report([Self.slots], to: &dashboard))
    #expect(Self.report([Self.slots, Self.cycle], to: &dashboard))
  }

  @Test("CP-8: A recording sounds no bell")
  func recording() {
    var dashboard = Self.dashboard(source: .recording("/run.opq"))
    dashboard.take(.replay(ReplayStatus(time: Scene.now, length: .seconds(100))))
    #expect(!Self.report([Self.cycle], to: &dashboard))
  }
}

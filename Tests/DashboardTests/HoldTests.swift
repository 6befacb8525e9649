// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Operations that a viewer holds and releases") struct HoldTests {
  private typealias ID = OperationReport.ID

  private static let ready = ID(1)
  private static let held = ID(2)
  private static let executing = ID(3)
  private static let over = ID(4)

  private static func report(_ id: ID, _ state: OperationState, status: String? = nil)
    -> OperationReport
  {
    var report = OperationReport(
      id: id, name: "job \(id.rawValue)", className: "job", queue: Scene.cpu, state: state,
      added: Scene.seconds(0), becameReady: Scene.seconds(0),
      started: state == .executing || state.isOver ? Scene.seconds(1) : nil,
      finished: state.isOver ? Scene.seconds(2) : nil)
    report.statusText = status
    return report
  }

  /// Returns a dashboard with jobs, in which an operation is selected.
  private func dashboard(
    canHold: Bool = true, isReadOnly: Bool = false, selecting id: ID = ready
  ) -> Dashboard {
    var dashboard = Dashboard(
      configuration: .init(source: .process("slurm"), isReadOnly: isReadOnly))
    dashboard.take(.resized(Size(columns: 120, rows: 40)))
    dashboard.take(.tick(Scene.now))
    var hello = Scene.hello
    hello.canHold = canHold
    dashboard.take(.monitor(.hello(hello)))
    dashboard.take(
      .monitor(
        .update(
          Scene.update(of: [
            Self.report(Self.ready, .ready, status: "pending: Priority; others are first"),
            Self.report(Self.held, .held, status: "pending: JobHeldUser"),
            Self.report(Self.executing, .executing), Self.report(Self.over, .finished),
          ]))))
    dashboard.press("\(id.rawValue)")
    dashboard.press(.enter)
    return dashboard
  }

  @Test("SV-8: W holds the selected operation, and V releases it")
  func keys() {
    var dashboard = dashboard()
    #expect(dashboard.press("W") == [.send(.setHeld([Self.ready], true))])
    #expect(dashboard.press("V") == [.send(.setHeld([Self.ready], false))])
    dashboard = self.dashboard(selecting: Self.held)
    #expect(dashboard.press("V") == [.send(.setHeld([Self.held], false))])
  }

  @Test("SV-8: The keys apply to the tagged operations that have not started")
  func tagged() {
    var dashboard = dashboard()
    dashboard.press(" ")
    dashboard.press("2")
    dashboard.press(.enter)
    dashboard.press(" ")
    #expect(dashboard.press("W") == [.send(.setHeld([Self.ready, Self.held], true))])
  }

  @Test("SV-8: An operation that has started or ended is not held", arguments: ["W", "V"])
  func started(key: String) {
    var dashboard = dashboard(selecting: Self.executing)
    #expect(dashboard.press(key) == [.bell])
    #expect(dashboard.text().shows("#3 job 3 has started"))
    dashboard = self.dashboard(selecting: Self.over)
    #expect(dashboard.press(key) == [.bell])
    #expect(dashboard.text().shows("#4 job 4 has ended"))
  }

  @Test("SV-8: The keys are not offered for a process, and show the reason", arguments: ["W", "V"])
  func process(key: String) {
    var dashboard = dashboard(canHold: false)
    #expect(dashboard.press(key) == [.bell])
    let words =
      "only jobs in \"opq-top attach slurm\" can be held and released"
    #expect(dashboard.text().shows(words))
    #expect(!dashboard.text().shows("Hold") && !dashboard.text().shows("Release"))
    dashboard.press("?")
    #expect(!dashboard.text().shows("hold: prevent the start"))
  }

  @Test("SV-8: The help and the footer have the keys if the source can hold operations")
  func offered() {
    var dashboard = dashboard()
    #expect(dashboard.text().shows("Hold") && dashboard.text().shows("Release"))
    let bindings = KeyTable.footer(in: .list).filter { dashboard.offers($0) }.map(\.action)
    #expect(bindings.contains(.command(.hold)) && bindings.contains(.command(.release)))
    dashboard.press("?")
    #expect(dashboard.text().shows("hold: prevent the start"))
  }

  @Test("SV-8: A read-only dashboard sends no command", arguments: ["W", "V"])
  func readOnly(key: String) {
    var dashboard = dashboard(isReadOnly: true)
    #expect(dashboard.press(key) == [.bell])
    #expect(dashboard.text().shows("read-only: nothing can be changed"))
  }

  @Test("SV-8: A refusal is shown with the words of the source")
  func refusal() {
    var dashboard = dashboard()
    for (command, words) in [
      (MonitorCommand.setHeld([Self.ready], true), "not held"),
      (.setHeld([Self.ready], false), "not released"), (.cancel([Self.ready]), "not cancelled"),
    ] {
      let result = CommandResult(refused: command, "Slurm says “Invalid user id”")
      dashboard.take(.monitor(.commandResult(result)))
      #expect(dashboard.text().shows("#1 job 1 \(words): Slurm says “Invalid user id”"))
    }
    let width = CommandResult(refused: .setWidth(Scene.cpu, 3), "partitions are not changed")
    dashboard.take(.monitor(.commandResult(width)))
    #expect(dashboard.text().shows("partitions are not changed"))
  }

  @Test("SV-8: The result of a command is a sentence")
  func results() {
    var dashboard = dashboard()
    for (isHeld, words) in [(true, "held: #1 job 1"), (false, "released: #1 job 1")] {
      let command = MonitorCommand.setHeld([Self.ready], isHeld)
      dashboard.take(
        .monitor(.commandResult(CommandResult(command: command, outcomes: [.requested]))))
      #expect(dashboard.text().shows(words))
    }
  }

  @Test("SV-7: The sentence about a pending job is its status, even if it is held")
  func sentences() {
    #expect(dashboard().text().shows("pending: Priority; others are first"))
    var held = dashboard(selecting: Self.held)
    #expect(held.text().shows("pending: JobHeldUser"))
    #expect(!held.text().shows("cpu is suspended"))
    #expect(held.press("b") == [.bell])
    #expect(held.text().shows("#2 is held"))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Rows of cancelled operations")
struct CancelledRowTests {
  private typealias ID = OperationReport.ID

  private func report(
    _ id: Int, _ state: OperationState, since seconds: Double, isCancelled: Bool = false
  ) -> OperationReport {
    let moment = Scene.seconds(seconds)
    return OperationReport(
      id: ID(id), name: "operation \(id)", className: "Block", queue: Scene.cpu, state: state,
      added: moment, becameReady: moment, started: moment,
      cancelRequested: isCancelled ? moment : nil, finished: state.isOver ? moment : nil)
  }

  /// Returns a dashboard with five executing operations after the command to cancel the second one.
  private func dashboardAfterCancel(keys: String = "jxy") -> Dashboard {
    var dashboard = Dashboard(configuration: .init(source: .demo))
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    dashboard.update(changed: (1...5).map { report($0, .executing, since: Double($0)) })
    #expect(dashboard.press(keys) == [.send(.cancel([ID(2)]))])
    return dashboard
  }

  private func order(of dashboard: Dashboard) -> [Int] {
    dashboard.visibleKeys.map { Int($0.id.rawValue) }
  }

  @Test("A cancelled row stays at its place with a mark for 2 s", arguments: ["jxy", "Xs"])
  func aCancelledRowStaysForTwoSeconds(keys: String) {
    var dashboard = dashboardAfterCancel(keys: keys)
    dashboard.take(.tick(dashboard.now + .seconds(30)))
    let start = dashboard.now
    dashboard.update(changed: [report(2, .cancelled, since: 10, isCancelled: true)])
    #expect(order(of: dashboard) == [1, 2, 3, 4, 5])
    #expect(
      dashboard.text().contains { $0.dropFirst().hasPrefix("x") && $0.contains("#2 cancelled") })
    #expect(dashboard.list.cancelKeys.key(of: ID(2)) == nil)
    #expect(dashboard.connection.interest.operations.contains(ID(2)))
    #expect(dashboard.nextTick(after: start).map { $0 <= start + .seconds(2) } == true)
    dashboard.take(.tick(start + .milliseconds(1_999)))
    #expect(order(of: dashboard) == [1, 2, 3, 4, 5])
    dashboard.take(.tick(start + .seconds(2)))
    #expect(order(of: dashboard).filter { $0 != 2 } == [1, 3, 4, 5])
    #expect(order(of: dashboard).dropFirst().first != 2)
    #expect(!dashboard.text().contains { $0.dropFirst().hasPrefix("x") })
  }

  @Test func aCancelledRowStaysInAListThatHidesFinishedOperations() {
    var dashboard = dashboardAfterCancel(keys: "Hjxy")
    dashboard.update(changed: [report(2, .cancelled, since: 10, isCancelled: true)])
    #expect(order(of: dashboard) == [1, 2, 3, 4, 5])
    dashboard.take(.tick(dashboard.now + .seconds(2)))
    #expect(order(of: dashboard) == [1, 3, 4, 5])
    #expect(dashboard.text().shows("#2 selected row: cancelled · g: first row"))
  }

  @Test func aCancellingRowStaysAgainWhenItIsCancelled() {
    var dashboard = dashboardAfterCancel()
    dashboard.update(changed: [report(2, .cancelling, since: 2, isCancelled: true)])
    #expect(order(of: dashboard) == [1, 2, 3, 4, 5])
    dashboard.take(.tick(dashboard.now + .seconds(2)))
    #expect(order(of: dashboard) == [1, 3, 4, 5, 2])
    dashboard.update(changed: [
      report(2, .cancelled, since: 10, isCancelled: true), report(6, .waiting, since: 9),
    ])
    #expect(order(of: dashboard) == [1, 3, 4, 5, 2, 6])
    dashboard.take(.tick(dashboard.now + .seconds(2)))
    #expect(order(of: dashboard).filter { $0 != 2 } == [1, 3, 4, 5, 6])
    #expect(order(of: dashboard).dropLast().last != 2)
  }

  @Test func aRowThatFinishesInsteadMovesAtOnce() {
    var dashboard = dashboardAfterCancel(keys: "Hjxy")
    dashboard.update(changed: [report(2, .finished, since: 10)])
    #expect(order(of: dashboard) == [1, 3, 4, 5])
  }

  @Test func aNewOrderMovesCancelledRows() {
    var dashboard = dashboardAfterCancel()
    dashboard.update(changed: [report(2, .cancelled, since: 10, isCancelled: true)])
    dashboard.press("gI")
    #expect(order(of: dashboard) == [2, 5, 4, 3, 1])
  }

  @Test("A cancelled row moves only after a pause of the display", arguments: [1, 5])
  func aCancelledRowStaysDuringAPause(seconds: Int) {
    var dashboard = dashboardAfterCancel(keys: "Hjxy")
    dashboard.update(changed: [report(2, .cancelled, since: 10, isCancelled: true)])
    let start = dashboard.now
    dashboard.press("p")
    dashboard.take(.tick(start + .seconds(seconds)))
    #expect(order(of: dashboard) == [1, 2, 3, 4, 5])
    let now = dashboard.now
    #expect(dashboard.nextTick(after: now).map { $0 > max(now, start + .seconds(2)) } != false)
    dashboard.press("p")
    dashboard.take(.tick(start + .seconds(seconds)))
    #expect(order(of: dashboard) == (seconds < 2 ? [1, 2, 3, 4, 5] : [1, 3, 4, 5]))
    dashboard.take(.tick(start + .seconds(6)))
    #expect(order(of: dashboard) == [1, 3, 4, 5])
  }
}

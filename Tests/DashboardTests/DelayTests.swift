// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The state of ``Scene``, and one more operation, which waits for its delay.
private enum DelayScene {
  static let id = OperationReport.ID(1_300)

  static func report(
    end: Double? = 105.5, unmet: Int = 0, state: OperationState = .waiting, status: String? = nil,
    name: String = "nightly mail"
  ) -> OperationReport {
    var report = OperationReport(
      id: id, name: name, className: "BlockOperation", queue: Scene.index, state: state,
      dependencies: (0..<unmet).map { _ in .init(1042) }, unmetDependencyCount: unmet,
      added: Scene.seconds(100))
    report.delayEnd = end.map(Scene.seconds)
    report.statusText = status
    return report
  }

  static func dashboard(
    columns: Int = 110, rows: Int = 40, _ report: OperationReport = report()
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.update(changed: [report])
    dashboard.press("1300")
    dashboard.press(.enter)
    return dashboard
  }

  /// The row of the operation in the list.
  static func row(of dashboard: Dashboard) -> String {
    dashboard.text().first { $0.contains("#1300 \(OperationState.waiting.rawValue) ") } ?? ""
  }
}

@Suite("Delays on the screen") struct DelayTests {
  private typealias Scene = DelayScene

  @Test("The list looks as stored", arguments: [(80, 24), (120, 40)])
  func list(columns: Int, rows: Int) {
    GoldenFrame.check(Scene.dashboard(columns: columns, rows: rows), named: "delay-list")
  }

  @Test(
    "The row has the time left, rounded up",
    arguments: [
      (105.5, "delay: 4s left"), (106, "delay: 4s left"), (102.001, "delay: 1s left"),
      (102, "delay: 0s left"), (50, "delay: 0s left"), (161.5, "delay: 1m00s left"),
      (162, "delay: 1m00s left"), (3_702, "delay: 1h00m left"),
    ])
  func timeLeft(end: Double, words: String) {
    let row = Scene.row(of: Scene.dashboard(Scene.report(end: end)))
    #expect(row.hasSuffix("nightly mail  \(words)"), "\(row)")
  }

  @Test("The time left decreases without an update, and the dashboard is drawn again each second")
  func countDown() throws {
    var dashboard = Scene.dashboard()
    for (second, words) in [(102.0, "4s"), (103, "3s"), (104, "2s"), (105, "1s"), (106, "0s")] {
      let time = DashboardTests.Scene.seconds(second)
      dashboard.take(.tick(time))
      #expect(Scene.row(of: dashboard).hasSuffix("delay: \(words) left"), "\(second)")
      #expect(try #require(dashboard.nextTick(after: time)) <= time + .seconds(1))
    }
  }

  @Test("The row of an operation with unmet dependencies has the time left too")
  func dependencies() {
    let row = Scene.row(of: Scene.dashboard(Scene.report(unmet: 1)))
    #expect(row.contains(" 0/1 ") && row.hasSuffix("delay: 4s left"), "\(row)")
  }

  @Test("The status of the operation follows the time left")
  func status() {
    let row = Scene.row(of: Scene.dashboard(Scene.report(status: "planned")))
    #expect(row.hasSuffix("nightly mail  delay: 4s left  planned"), "\(row)")
  }

  @Test(
    "With less room, the row has fewer words or none",
    arguments: [
      (8, "  delay: 4s left"), (9, "  4s left"), (15, "  4s left"), (16, ""),
    ])
  func lessRoom(length: Int, words: String) {
    let name = String(repeating: "x", count: length)
    let row = Scene.row(of: Scene.dashboard(columns: 80, rows: 24, Scene.report(name: name)))
    #expect(row.hasSuffix(name + words), "\(row)")
  }

  @Test(
    "An operation that does not wait has no delay",
    arguments: [OperationState.ready, .cancelling, .executing, .finished, .cancelled])
  func otherStates(state: OperationState) {
    #expect(!Scene.dashboard(Scene.report(state: state)).text().shows("delay"))
  }

  @Test("The sentence names the delay if it is all that the operation waits for")
  func sentence() {
    func sentence(_ report: OperationReport) -> String {
      Explanation(
        monitored: Scene.dashboard(report).shown, now: DashboardTests.Scene.now, isReadOnly: false,
        glyphs: Glyphs(isUnicode: true)
      ).sentence(about: report)
    }
    #expect(sentence(Scene.report()) == "waits for its delay: 4s left")
    #expect(sentence(Scene.report(unmet: 1)).hasPrefix("waits for 1 of 1 dependencies"))
    #expect(sentence(Scene.report(end: nil)) == "waiting: its own isReady is false")
  }

  @Test("The pane has the time left")
  func pane() {
    let text = Scene.dashboard(columns: 200, rows: 50).text()
    #expect(text.contains { $0.contains("delay    4s left") }, "\(text)")
  }

  @Test("The detail has the time left once, also without the reasons of the process")
  func detail() {
    var dashboard = Scene.dashboard()
    dashboard.press(.enter)
    #expect(dashboard.text().shows("-  delay: 4s left"))
    var update = DashboardTests.Scene.update(of: [Scene.report()])
    let sentence = "it waits for its delay: 3.5 s are left"
    update.detail = OperationDetail(
      id: Scene.id, qualityOfService: .default,
      reasons: [.init(kind: .delayed, sentence: sentence)])
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows(sentence) && !dashboard.text().shows("-  delay: "))
  }

  @Test("A replay shows the time left at its moment")
  func replay() {
    var dashboard = Dashboard(configuration: .init(source: .recording("a.opqrec")))
    dashboard.take(.resized(Size(columns: 110, rows: 40)))
    // The time of the local clock differs from the times in the recording.
    dashboard.take(.tick(DashboardTests.Scene.seconds(9_000)))
    func show(_ second: Double) {
      dashboard.take(
        .replay(
          ReplayStatus(
            time: DashboardTests.Scene.seconds(second), position: .seconds(41),
            length: .seconds(102), speed: 0, isPlaying: true)))
    }
    show(102)
    dashboard.take(.monitor(.hello(DashboardTests.Scene.hello)))
    dashboard.take(
      .monitor(
        .update(DashboardTests.Scene.update(of: DashboardTests.Scene.operations + [Scene.report()]))
      ))
    dashboard.press("1300")
    dashboard.press(.enter)
    #expect(Scene.row(of: dashboard).hasSuffix("delay: 4s left"))
    show(104)
    #expect(Scene.row(of: dashboard).hasSuffix("delay: 2s left"))
    dashboard.press(.enter)
    #expect(dashboard.text().shows("-  delay: 2s left"))
  }
}

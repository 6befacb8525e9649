// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The state of ``Scene``, in which some operations have reported progress.
private enum ProgressScene {
  static let operation = OperationReport.ID(1042)

  static func report(
    _ progress: OperationProgress?, status: String? = nil, state: OperationState = .executing
  ) -> OperationReport {
    var report = Scene.operations.first { $0.id == operation } ?? Scene.operations[0]
    report.progress = progress
    report.statusText = status
    report.state = state
    if state.isOver { report.finished = Scene.seconds(101) }
    return report
  }

  static func progress(_ completed: Int, of total: Int?) -> OperationProgress {
    OperationProgress(completed: completed, total: total, base: 0, since: Scene.seconds(92))
  }

  static func dashboard(
    columns: Int = 80, rows: Int = 24,
    _ report: OperationReport = report(
      progress(450, of: 1_000), status: "parsing page 451")
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.update(changed: [report])
    dashboard.press("1042")
    dashboard.press(.enter)
    return dashboard
  }

  /// The row of the operation in the list.
  static func row(_ report: OperationReport, columns: Int = 120) -> String {
    dashboard(columns: columns, rows: 40, report).text().first {
      $0.contains(" #1042 executing") || $0.contains(" #1042 finished")
    } ?? ""
  }
}

@Suite("Progress on the screen") struct ProgressTests {
  private typealias Scene = ProgressScene

  private static let sizes = [(80, 24), (120, 40)]

  @Test("The list looks as stored", arguments: sizes)
  func list(columns: Int, rows: Int) {
    GoldenFrame.check(Scene.dashboard(columns: columns, rows: rows), named: "progress-list")
  }

  @Test("The detail looks as stored", arguments: sizes)
  func detail(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press(.enter)
    GoldenFrame.check(dashboard, named: "progress-detail")
  }

  @Test("The tree looks as stored", arguments: sizes)
  func tree(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("d")
    GoldenFrame.check(dashboard, named: "progress-tree")
  }

  @Test(
    "The row has a bar and the completed part, rounded down",
    arguments: [
      (0, "░░░░░░░░░░   0%"), (450, "▓▓▓▓░░░░░░  45%"), (999, "▓▓▓▓▓▓▓▓▓░  99%"),
      (1_000, "▓▓▓▓▓▓▓▓▓▓ 100%"),
    ])
  func bars(completed: Int, bar: String) {
    let row = Scene.row(Scene.report(Scene.progress(completed, of: 1_000)), columns: 200)
    #expect(row.contains(bar), "\(row)")
  }

  @Test("Without a total, the row has the number of completed units and no bar")
  func unknownTotal() {
    let row = Scene.row(Scene.report(Scene.progress(1_234, of: nil)))
    #expect(row.contains("1,234") && !row.contains("░") && !row.contains("%"), "\(row)")
  }

  @Test("The row of an operation that has ended has no bar and no status")
  func ended() {
    let row = Scene.row(
      Scene.report(Scene.progress(450, of: 1_000), status: "parsing", state: .finished))
    #expect(!row.contains("%") && !row.contains("parsing"), "\(row)")
  }

  @Test("The status is sanitised and cut")
  func status() {
    let text = "page \u{1B}[2J\u{7} " + String(repeating: "x", count: 1_000)
    let dashboard = Scene.dashboard(
      columns: 120, rows: 40, Scene.report(nil, status: text))
    let lines = dashboard.text()
    #expect(!lines.joined().unicodeScalars.contains { $0.properties.generalCategory == .control })
    let row = lines.firstIndex { $0.contains("page \u{B7}[2J\u{B7} xxx") }
    #expect(row.map { lines[$0].hasSuffix("…") } == true, "\(lines)")
  }

  @Test("The detail has the numbers, the rate and the time left")
  func details() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    dashboard.press(.enter)
    let line = dashboard.text().first { $0.contains("progress") } ?? ""
    #expect(line.contains("45%  450 of 1,000  "), "\(line)")
    #expect(line.contains("/s  ") && line.hasSuffix("left"), "\(line)")
    #expect(dashboard.text().contains { $0.contains("status: parsing page 451") })
  }

  @Test("The pane has the time left while the operation executes, and not after its end")
  func pane() {
    func line(_ state: OperationState) -> String {
      let report = Scene.report(Scene.progress(450, of: 1_000), state: state)
      return Scene.dashboard(columns: 200, rows: 50, report).text().first {
        $0.contains("progress ")
      } ?? ""
    }
    #expect(line(.executing).contains("45%, ") && line(.executing).contains(" left"))
    for state in [OperationState.finished, .failed, .cancelled] {
      #expect(line(state).contains("45%") && !line(state).contains(" left"), "\(line(state))")
    }
  }

  @Test("In a tree, a waiting operation has the progress of its dependencies")
  func dependencies() {
    func counts(unmet: Int, _ state: OperationState = .waiting) -> String? {
      let report = OperationReport(
        id: Scene.operation, name: "publish", className: "Block", queue: .init(1), state: state,
        dependencies: (1...87).map { .init($0) }, unmetDependencyCount: unmet)
      return ProgressText(
        report, in: DashboardTests.Scene.dashboard().shown, at: DashboardTests.Scene.seconds(100),
        includesDependencies: true)?.counts
    }
    #expect(counts(unmet: 22) == "65 of 87 dependencies finished")
    // Before the first dependency has finished, and after the start, there is no such progress.
    #expect(counts(unmet: 87) == nil)
    #expect(counts(unmet: 0, .executing) == nil)
  }

  @Test("A group has the progress of its members")
  func members() {
    var report = Scene.report(nil)
    report.memberQueue = DashboardTests.Scene.queues[0].id
    let counts = DashboardTests.Scene.queues[0].counts
    let row = Scene.row(report)
    #expect(row.contains("\(counts.finished + counts.cancelled)/"), "\(row)")
  }
}

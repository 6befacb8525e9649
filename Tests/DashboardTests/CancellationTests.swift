// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The state of ``Scene``, in which the causes of cancellations are known.
private enum CancellationScene {
  static let failed = OperationReport.ID(1078)
  static let through = OperationReport.ID(1039)
  static let cancelled = OperationReport.ID(1033)
  static let cancelling = OperationReport.ID(1077)

  static let operations = Scene.operations.map { report in
    var report = report
    switch report.id {
    case failed:
      report.state = .failed
      report.errorText = "cannot write slope.tif: No space left on device"
    case through:
      report.state = .cancelled
      report.cancellationCause = .dependency(failed)
    case cancelled:
      report.dependencies = [through]
      report.cancellationCause = .dependency(through)
    case cancelling:
      report.cancellationCause = .viewer(CommandOrigin(processID: 123, userID: 1_000))
    default: break
    }
    return report
  }

  static func dashboard(
    columns: Int = 80, rows: Int = 24, selecting id: OperationReport.ID
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.take(.monitor(.update(Scene.update(of: operations))))
    dashboard.press("\(id.rawValue)")
    dashboard.press(.enter)
    return dashboard
  }

  static let origin =
    "because #1078 “resample slope” failed: cannot write slope.tif: No space left on device"
}

@Suite("Causes of cancellations on the screen") struct CancellationTests {
  private typealias Scene = CancellationScene

  private static let sizes = [(80, 24), (120, 40)]

  private func sentence(
    about id: OperationReport.ID, in dashboard: Dashboard
  ) throws -> String {
    let report = try #require(dashboard.shown.operations[id])
    return Explanation(
      monitored: dashboard.shown, now: dashboard.shownTime, isReadOnly: false,
      glyphs: Glyphs(isUnicode: true)
    ).sentence(about: report)
  }

  @Test("The list and its pane look as stored", arguments: sizes)
  func list(columns: Int, rows: Int) {
    let dashboard = Scene.dashboard(columns: columns, rows: rows, selecting: Scene.cancelled)
    GoldenFrame.check(dashboard, named: "cancelled-list")
  }

  @Test("The detail looks as stored", arguments: sizes)
  func detail(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows, selecting: Scene.cancelled)
    dashboard.press(.enter)
    GoldenFrame.check(dashboard, named: "cancelled-detail")
  }

  @Test("The sentence about a cancelled operation begins with the cause")
  func sentences() throws {
    let dashboard = Scene.dashboard(selecting: Scene.cancelled)
    #expect(
      try sentence(about: Scene.cancelled, in: dashboard)
        == "cancelled \(Scene.origin), through #1039; at 12:03:49, never started")
    #expect(
      try sentence(about: Scene.through, in: dashboard)
        == "cancelled \(Scene.origin); at 12:03:40, ran 2.75s")
    #expect(
      try sentence(about: Scene.cancelling, in: dashboard)
        == "cancelled by a viewer (process 123, user 1000); requested 4.20s ago, still running")
  }

  @Test("The sentence about an operation that has not started says that its queue is suspended")
  func heldSentences() throws {
    var dashboard = Scene.dashboard(selecting: Scene.cancelled)
    var report = try #require(dashboard.shown.operations[OperationReport.ID(1110)])
    report.state = .cancelling
    report.cancellationCause = .code(reason: "no longer needed")
    dashboard.update(changed: [report])
    #expect(
      try sentence(about: report.id, in: dashboard)
        == "cancelled by code: no longer needed; it has not started; finishes when net is resumed (S)"
    )
  }

  @Test("b says why the selected operation was cancelled")
  func blocker() {
    var cancelled = Scene.dashboard(columns: 200, selecting: Scene.cancelled)
    cancelled.press("b")
    let origin = Scene.origin
    #expect(
      cancelled.screen.notice?.text
        == "#1033 was cancelled \(origin), through #1039; nothing holds it up")
    var cancelling = Scene.dashboard(selecting: Scene.cancelling)
    cancelling.press("b")
    #expect(
      cancelling.screen.notice?.text
        == """
        #1077 was cancelled by a viewer (process 123, user 1000); nothing is known to hold it up
        """)
    // Without Unicode, the quotation marks are plain.
    #expect(cancelled.text(isUnicode: false).contains { $0.contains("\"resample slope\"") })
  }

  @Test("The detail says once that a viewer cancelled the operation")
  func viewers() throws {
    var dashboard = Scene.dashboard(selecting: Scene.cancelling)
    dashboard.press(.enter)
    func lines() -> [String] {
      // The sentence about the selected operation is below the detail.
      dashboard.text().dropLast(3).filter { $0.contains("viewer") || $0.contains("by pid") }
    }
    #expect(
      lines().count == 1 && lines()[0].contains("cancelled by a viewer (process 123, user 1000)"))
    var report = try #require(dashboard.shown.operations[Scene.cancelling])
    report.cancelRequester = CommandOrigin(processID: 123, userID: 1_000)
    dashboard.update(changed: [report])
    #expect(lines().count == 1 && lines()[0].contains("by pid 123 uid 1000"))
    report.cancelRequester = CommandOrigin(processID: 124, userID: 1_000)
    dashboard.update(changed: [report])
    #expect(lines().count == 2)
  }

  @Test("An operation on the path that is not known is called so")
  func unknownOrigins() throws {
    var dashboard = Scene.dashboard(selecting: Scene.cancelled)
    dashboard.update(removed: [Scene.failed])
    #expect(
      try sentence(about: Scene.cancelled, in: dashboard).hasPrefix(
        "cancelled because of #1078, an operation that is not known, through #1039; at "))
  }

  @Test("Names and reasons cannot control the terminal")
  func hostileTexts() throws {
    for text in ["\u{1B}[2J\n\u{202E}\u{9B}31m", String(repeating: "e\u{301}", count: 500), ""] {
      for opensDetail in [false, true] {
        var dashboard = Scene.dashboard(columns: 120, rows: 40, selecting: Scene.cancelled)
        var origin = try #require(dashboard.shown.operations[Scene.failed])
        (origin.name, origin.errorText) = (text, text)
        dashboard.update(changed: [origin])
        if opensDetail { dashboard.press(.enter) }
        GoldenFrame.checkCells(of: dashboard.picture())
        dashboard.press("b")
        GoldenFrame.checkCells(of: dashboard.picture())
        #expect(dashboard.text().joined().unicodeScalars.allSatisfy { !$0.isObeyed })
      }
    }
  }
}

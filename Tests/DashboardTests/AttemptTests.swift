// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The state of ``Scene``, in which operation 1042 is a retry.
private enum AttemptScene {
  static let retry = OperationReport.ID(1042)

  static func attempts(pauseEnd: Double? = nil) -> RetryAttempts {
    func attempt(
      _ number: Int, _ state: OperationState, from start: Double, to end: Double?, name: String
    ) -> RetryAttempts.Attempt {
      .init(
        id: .init(UInt64(2_000 + number)), number: number, name: name, kind: "fetch", state: state,
        started: Scene.seconds(start), finished: end.map(Scene.seconds))
    }
    var attempts = [
      attempt(1, .failed, from: 89.6, to: 92, name: "GET tiles z=14 eu"),
      attempt(2, .failed, from: 94, to: 95.2, name: ""),
    ]
    if pauseEnd == nil {
      attempts.append(attempt(3, .executing, from: 99, to: nil, name: "GET tiles from mirror"))
    }
    return RetryAttempts(
      maximum: 5, number: attempts.count, attempts: attempts,
      pauseEnd: pauseEnd.map(Scene.seconds),
      lastFailure: .init(number: 2, text: "the connection was reset by the server"))
  }

  static func report(
    _ attempts: RetryAttempts? = attempts(), state: OperationState = .executing
  ) -> OperationReport {
    var report = Scene.operations.first { $0.id == retry } ?? Scene.operations[0]
    report.attempts = attempts
    report.state = state
    if state.isOver { report.finished = Scene.seconds(101) }
    return report
  }

  static func dashboard(
    columns: Int = 80, rows: Int = 24, _ attempts: RetryAttempts = attempts(),
    state: OperationState = .executing
  ) -> Dashboard {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.update(changed: [report(attempts, state: state)])
    dashboard.press("1042")
    dashboard.press(.enter)
    return dashboard
  }
}

@Suite("Attempts of a retry on the screen") struct AttemptTests {
  private typealias Scene = AttemptScene

  private static let sizes = [(80, 24), (120, 40)]

  @Test("The list looks as stored", arguments: sizes)
  func list(columns: Int, rows: Int) {
    GoldenFrame.check(Scene.dashboard(columns: columns, rows: rows), named: "attempts-list")
  }

  @Test("The detail looks as stored", arguments: sizes)
  func detail(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press(.enter)
    GoldenFrame.check(dashboard, named: "attempts-detail")
  }

  @Test("The tree looks as stored", arguments: sizes)
  func tree(columns: Int, rows: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: rows)
    dashboard.press("d")
    GoldenFrame.check(dashboard, named: "attempts-tree")
  }

  @Test(
    "The sentence about a retry has the attempt, the pause and the last error",
    arguments: [
      (
        nil, .executing,
        "executing 12.4s on io, attempt 3 of 5, 1 waits for it; "
          + "attempt 2 failed: the connection was reset by the server"
      ),
      (
        105.5, .executing,
        "executing 12.4s on io, attempt 2 of 5, next attempt in 4s, 1 waits for it; "
          + "attempt 2 failed: the connection was reset by the server"
      ),
      (
        102, .executing,
        "executing 12.4s on io, attempt 2 of 5, next attempt is due, 1 waits for it; "
          + "attempt 2 failed: the connection was reset by the server"
      ),
      (nil, .finished, "finished at 12:04:30, ran 11.4s, 3 of 5 attempts"),
    ] as [(Double?, OperationState, String)])
  func sentences(pauseEnd: Double?, state: OperationState, sentence: String) {
    var report = Scene.report(Scene.attempts(pauseEnd: pauseEnd), state: state)
    report.dependentCount = 1
    var dashboard = DashboardTests.Scene.dashboard()
    dashboard.update(changed: [report])
    let explanation = Explanation(
      monitored: dashboard.shown, now: DashboardTests.Scene.now, isReadOnly: false,
      glyphs: Glyphs(isUnicode: true))
    #expect(explanation.sentence(about: report) == sentence)
  }

  @Test("why has a line for each attempt, and the last error")
  func plainText() {
    var text = PlainText(isUnicode: true)
    let report = Scene.report()
    text.take(.hello(DashboardTests.Scene.hello))
    text.take(
      .update(
        FakeMonitor([report]).update(
          for: .everything, queues: DashboardTests.Scene.queues, changed: [report.id], removed: [],
          at: DashboardTests.Scene.now)))
    let lines = text.explanation(of: Scene.retry, at: DashboardTests.Scene.now)
    #expect(lines.contains("  attempt 1: #2001 GET tiles z=14 eu failed 2.40s"))
    #expect(lines.contains("  attempt 2: #2002 fetch failed 1.20s"))
    #expect(lines.contains("  attempt 3: #2003 GET tiles from mirror executing 3.00s"))
    #expect(lines.contains("  attempt 2 failed: the connection was reset by the server"))
  }

  @Test("The header, the queues and the numbers below in the tree do not count attempts")
  func countsStayTheSame() throws {
    let plain = DashboardTests.Scene.dashboard()
    var dashboard = Scene.dashboard()
    #expect(dashboard.text().prefix(2) == plain.text().prefix(2))
    #expect(dashboard.shown.queues == plain.shown.queues)
    dashboard.press("d")
    let tree = try #require(dashboard.tree)
    #expect(
      tree.below.text(Scene.retry, cells: 5) == DescendantCounts().text(Scene.retry, cells: 5))
    #expect(tree.below.failedCount(below: Scene.retry) == 0)
    #expect(tree.tree.rows.count { if case .attempt = $0.id { true } else { false } } == 3)
  }

  @Test("The cursor can stand on an attempt, which accepts no command and opens the retry")
  func attemptsAcceptNoCommands() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("dj")
    #expect(dashboard.tree?.cursor == .attempt(number: 1, of: Scene.retry))
    #expect(dashboard.selected == Scene.retry && dashboard.selectedOperation == nil)
    for key in ["x", "c", " ", ">", "<", "b"] {
      let effects = dashboard.press(key)
      #expect(!effects.contains { if case .send = $0 { true } else { false } }, "\(key)")
      #expect(dashboard.tags.ids.isEmpty && dashboard.prompts.question == nil, "\(key)")
      #expect(dashboard.tree?.cursor == .attempt(number: 1, of: Scene.retry), "\(key)")
    }
    dashboard.press(.enter)
    #expect(dashboard.detail?.id == Scene.retry)
  }

  @Test("The cancel keys are not at the rows of attempts")
  func noCancelKeys() throws {
    var dashboard = Scene.dashboard(rows: 40)
    dashboard.press("dX")
    let lines = dashboard.text().filter { $0.contains("attempt 1 #") || $0.contains("attempt 2 #") }
    #expect(lines.count == 2)
    #expect(dashboard.list.cancelKeys.isArmed)
    for line in lines { #expect(line.prefix(5).allSatisfy { $0 == " " }, "\(line)") }
  }

  @Test("A folded retry has the number of its attempts, and a filter hides them")
  func foldingAndFilters() {
    var dashboard = Scene.dashboard()
    dashboard.press("d")
    dashboard.press(.left)
    #expect(dashboard.text().shows("+ 3 folded, 3 attempts"))
    #expect(!dashboard.text().shows("attempt 1 "))
    dashboard.press(.right)
    #expect(dashboard.text().shows("attempt 1 "))
    dashboard.press("\\download")
    dashboard.press(.enter)
    #expect(!dashboard.text().shows("attempt 1 "))
  }

  @Test("A finished retry shows its attempts only in the tree that begins with it")
  func finishedRetries() {
    var dashboard = Scene.dashboard(state: .finished)
    dashboard.press("d")
    #expect(dashboard.text().shows("attempt 1 "))
    dashboard = DashboardTests.Scene.dashboard()
    dashboard.update(changed: [Scene.report(state: .finished)])
    dashboard.press("1180")
    dashboard.press(.enter)
    dashboard.press("d")
    #expect(dashboard.text().shows("#1042") && !dashboard.text().shows("attempt 1 "))
  }

  @Test("Names and errors of attempts cannot control the terminal, and any numbers are shown")
  func hostileAttempts() {
    let hostile = "\u{1B}[2J\n\u{202E}\u{9B}31m" + String(repeating: "e\u{301}", count: 500)
    var attempts = Scene.attempts()
    for index in attempts.attempts.indices {
      attempts.attempts[index].name = hostile
      attempts.attempts[index].kind = hostile
      attempts.attempts[index].started = MonitorTime(nanoseconds: 1 << 60)
    }
    attempts.lastFailure = .init(number: 1 << 40, text: hostile)
    (attempts.maximum, attempts.number) = (1 << 40, 1 << 40)
    attempts.pauseEnd = MonitorTime(nanoseconds: 1 << 61)
    for keys in ["", "\r", "d", "dX", "t"] {
      for columns in [40, 80, 200] {
        var dashboard = Scene.dashboard(columns: columns, attempts)
        for key in keys {
          if key == "\r" { dashboard.press(.enter) } else { dashboard.press("\(key)") }
        }
        let text = dashboard.text()
        #expect(!text.contains { $0.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{9B}" } })
      }
    }
  }
}

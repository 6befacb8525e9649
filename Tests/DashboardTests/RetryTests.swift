// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The state of ``Scene`` in a process that can retry jobs. Two operations have failed, and one was cancelled.
private enum RetryScene {
  static let failed = OperationReport.ID(1078)
  static let alsoFailed = OperationReport.ID(1038)
  static let cancelled = OperationReport.ID(1033)

  static let operations = Scene.operations.map { report in
    var report = report
    if [failed, alsoFailed].contains(report.id) { report.state = .failed }
    return report
  }

  /// Returns a dashboard with the state of the scene, in which an operation is selected.
  static func dashboard(
    columns: Int = 120, rows: Int = 40, canRetry: Bool = true, isReadOnly: Bool = false,
    selecting id: OperationReport.ID? = failed
  ) -> Dashboard {
    var dashboard = Dashboard(configuration: .init(title: "tiles", isReadOnly: isReadOnly))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.tick(Scene.now))
    var hello = Scene.hello
    hello.canRetry = canRetry
    dashboard.take(.monitor(.hello(hello)))
    dashboard.take(.monitor(.update(Scene.update(of: operations))))
    if let id { select(id, in: &dashboard) }
    return dashboard
  }

  static func select(_ id: OperationReport.ID, in dashboard: inout Dashboard) {
    dashboard.press("\(id.rawValue)")
    dashboard.press(.enter)
  }

  /// Sends the answer of the process to a command to retry jobs.
  static func answer(
    _ ids: [OperationReport.ID], _ outcomes: [CommandResult.Outcome],
    refusals: [Int: String] = [:], to dashboard: inout Dashboard
  ) {
    var result = CommandResult(command: .retry(ids), outcomes: outcomes)
    result.refusals = refusals
    dashboard.take(.monitor(.commandResult(result)))
  }
}

@Suite("Jobs that a viewer retries") struct RetryTests {
  private typealias ID = OperationReport.ID

  // MARK: The question

  @Test("RD-5: T asks first, and y sends the command")
  func asks() {
    var dashboard = RetryScene.dashboard()
    #expect(dashboard.press("T") == [])
    #expect(dashboard.text().shows("Retry #1078 resample slope?"))
    #expect(
      dashboard.text().shows(
        "The job runs again. Jobs that were skipped because of it run too."))
    #expect(dashboard.press("y") == [.send(.retry([RetryScene.failed]))])
    #expect(dashboard.prompts.question == nil)
  }

  @Test("RD-5: Every other answer sends no command", arguments: ["n", "q"])
  func noIsTheDefault(key: String) {
    var dashboard = RetryScene.dashboard()
    dashboard.press("T")
    #expect(dashboard.press("a") == [.bell])
    #expect(dashboard.press("j") == [.bell])
    #expect(dashboard.press(key) == [])
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("not retried"))
    dashboard.press("T")
    #expect(dashboard.press(.enter) == [] && dashboard.prompts.question == nil)
  }

  @Test("RD-5: The question fits into each width", arguments: [40, 60, 80, 120])
  func widths(columns: Int) {
    var dashboard = RetryScene.dashboard(columns: columns, rows: 24)
    dashboard.press("T")
    #expect(dashboard.text().shows("Retry #1078"))
    #expect(dashboard.text().shows("n No") || dashboard.text().shows("n  y"))
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test("RD-5: The question stays while its operation is reported again")
  func updatesKeepTheQuestion() throws {
    var dashboard = RetryScene.dashboard()
    dashboard.press("T")
    dashboard.update(changed: [try #require(dashboard.live.operations[RetryScene.failed])])
    #expect(dashboard.prompts.question?.purpose == .retry)
    #expect(dashboard.press("y") == [.send(.retry([RetryScene.failed]))])
  }

  @Test("RD-5: The question closes when the process ends")
  func theEndClosesTheQuestion() {
    var dashboard = RetryScene.dashboard()
    dashboard.press("T")
    dashboard.take(.monitor(.ended(reason: "it exited")))
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("not retried: the process has ended"))
  }

  @Test("RD-5: The job of a cancelled operation may be retried")
  func cancelledOperation() {
    var dashboard = RetryScene.dashboard(selecting: RetryScene.cancelled)
    #expect(dashboard.press("Ty") == [.send(.retry([RetryScene.cancelled]))])
  }

  @Test(
    "RD-5: T says why the job of an operation cannot be retried",
    arguments: [
      (1042, "#1042 download tiles z=14 eu has not ended"),
      (1079, "#1079 resample aspect has succeeded"),
    ])
  func otherStates(id: Int, sentence: String) {
    var dashboard = RetryScene.dashboard(selecting: ID(id))
    #expect(dashboard.press("T") == [.bell])
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows(sentence))
  }

  // MARK: Tags

  @Test("RD-5: Failed and cancelled operations can be tagged, and T acts on the tagged ones")
  func tags() {
    var dashboard = RetryScene.dashboard()
    dashboard.press(" ")
    RetryScene.select(RetryScene.cancelled, in: &dashboard)
    dashboard.press(" ")
    RetryScene.select(ID(1042), in: &dashboard)
    dashboard.press(" T")
    #expect(dashboard.text().shows("Retry 2 operations: #1033 download"))
    #expect(
      dashboard.text().shows("The jobs run again. Jobs that were skipped because of them run too."))
    #expect(
      dashboard.press("y") == [.send(.retry([RetryScene.cancelled, RetryScene.failed]))])
    // Only the operations of the question have lost their tags.
    #expect(dashboard.tags.ids == [ID(1042)])
  }

  @Test("RD-5: An operation that has succeeded cannot be tagged")
  func succeededOperation() {
    var dashboard = RetryScene.dashboard(selecting: ID(1079))
    #expect(dashboard.press(" ") == [.bell])
    #expect(dashboard.tags.ids.isEmpty)
  }

  @Test(
    "RD-5: A tag stays when its operation fails or is cancelled, and not when it succeeds",
    arguments: [OperationState.failed, .cancelled, .finished])
  func tagsOfOperationsThatEnd(state: OperationState) {
    var dashboard = RetryScene.dashboard(selecting: ID(1042))
    dashboard.press(" ")
    dashboard.update(changed: [
      OperationReport(
        id: ID(1042), name: "download", className: "Block", queue: Scene.io, state: state)
    ])
    #expect(dashboard.tags.ids == (state == .finished ? [] : [ID(1042)]))
  }

  @Test("RD-5: If no tag accepts a command, the command applies to the selected operation")
  func tagsThatAcceptNothing() {
    var dashboard = RetryScene.dashboard()
    dashboard.press(" ")
    RetryScene.select(RetryScene.alsoFailed, in: &dashboard)
    dashboard.press(" ")
    RetryScene.select(ID(1042), in: &dashboard)
    #expect(dashboard.press("x") == [])
    #expect(dashboard.text().shows("Cancel #1042 download tiles z=14 eu?"))
    #expect(dashboard.press("y") == [.send(.cancel([ID(1042)]))])
    #expect(dashboard.press("}") == [.send(.changePriority([ID(1042)], by: 1))])
    // The tags stay, and a retry applies to them.
    #expect(
      dashboard.press("Ty") == [.send(.retry([RetryScene.alsoFailed, RetryScene.failed]))])
  }

  @Test("RD-5: If all tagged operations run, T applies to the selected one that has failed")
  func tagsThatRun() {
    var dashboard = RetryScene.dashboard(selecting: ID(1042))
    dashboard.press(" ")
    RetryScene.select(RetryScene.failed, in: &dashboard)
    #expect(dashboard.press("Ty") == [.send(.retry([RetryScene.failed]))])
    // A tag that accepts a command has priority over the selected operation.
    RetryScene.select(ID(1051), in: &dashboard)
    dashboard.press("x")
    #expect(dashboard.prompts.question?.ids == [ID(1042)])
  }

  @Test("RD-5: If neither the tagged operations nor the selected one accept a command, it says so")
  func nothingAccepts() {
    var dashboard = RetryScene.dashboard()
    dashboard.press(" ")
    RetryScene.select(RetryScene.alsoFailed, in: &dashboard)
    dashboard.press(" ")
    RetryScene.select(ID(1079), in: &dashboard)
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.text().shows("the tagged operations have already finished"))
  }

  @Test("RD-5: If the job of no tagged operation can be retried, T says so")
  func taggedOperationsThatRun() {
    var dashboard = RetryScene.dashboard(selecting: ID(1042))
    dashboard.press("  T")
    #expect(dashboard.prompts.question == nil)
    #expect(
      dashboard.text().shows("none of the tagged operations has failed or was cancelled"))
  }

  @Test("In a process that cannot retry jobs, operations that have ended have no tags")
  func noTagsWithoutJobs() {
    var dashboard = RetryScene.dashboard(canRetry: false)
    #expect(dashboard.press(" ") == [.bell])
    #expect(dashboard.tags.ids.isEmpty)
  }

  // MARK: Views

  @Test("RD-5: T acts in the tree and on the detail screen", arguments: ["D", "\r"])
  func otherViews(keys: String) {
    var dashboard = RetryScene.dashboard()
    if keys == "\r" { dashboard.press(.enter) } else { dashboard.press(keys) }
    #expect(dashboard.keyContext != .list)
    #expect(dashboard.press("Ty") == [.send(.retry([RetryScene.failed]))])
  }

  @Test("RD-5: In the view of the queues, T acts on the tagged operations")
  func queues() {
    var dashboard = RetryScene.dashboard()
    dashboard.press(" ")
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.keyContext == .queues)
    #expect(dashboard.press("Ty") == [.send(.retry([RetryScene.failed]))])
    #expect(dashboard.press("T") == [.bell])
    #expect(dashboard.text().shows("no operation is tagged"))
  }

  @Test("RD-5: T acts on the operation whose log is shown")
  func log() {
    var dashboard = RetryScene.dashboard()
    dashboard.press("L")
    #expect(dashboard.keyContext == .log && dashboard.text().last?.contains("T Retry") == true)
    #expect(dashboard.press("T") == [] && dashboard.text().shows("Retry #1078 resample slope?"))
    #expect(dashboard.press("y") == [.send(.retry([RetryScene.failed]))])
    #expect(dashboard.keyContext == .log)
  }

  @Test("RD-5: In the list of warnings, T acts on the first operation of the selected warning")
  func warnings() {
    var dashboard = RetryScene.dashboard()
    var update = Scene.update(of: RetryScene.operations)
    update.warnings = [
      MonitorWarning(
        kind: .finishedWithoutStart, operations: [RetryScene.failed], since: Scene.now)
    ]
    dashboard.take(.monitor(.update(update)))
    dashboard.take(.input(.alt("3")))
    dashboard.press("!")
    #expect(dashboard.keyContext == .warnings && dashboard.text().last?.contains("T Retry") == true)
    #expect(dashboard.press("Ty") == [.send(.retry([RetryScene.failed]))])
    // A warning about a queue has no operation.
    update.warnings = []
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.press("T") == [.bell])
  }

  // MARK: Processes

  @Test("RD-5: A process that cannot retry jobs is not asked, and T says so")
  func processWithoutJobs() {
    var dashboard = RetryScene.dashboard(canRetry: false)
    #expect(dashboard.press("T") == [.bell])
    #expect(dashboard.text().shows("the process cannot retry jobs"))
  }

  @Test("RD-5: Help and footer show T only for a process that can retry jobs")
  func helpAndFooter() {
    for canRetry in [true, false] {
      var dashboard = RetryScene.dashboard(columns: 200, canRetry: canRetry)
      #expect(dashboard.text().last?.contains("T Retry") == canRetry)
      dashboard.press("?")
      #expect(dashboard.text().shows("retry tagged or selected") == canRetry)
    }
  }

  @Test("RD-5: The help with T fits a screen of 120 by 40 cells")
  func helpFits() {
    var dashboard = RetryScene.dashboard()
    dashboard.press("?")
    #expect(!dashboard.text().shows("j k scroll"))
  }

  @Test("RD-5: The help of each view names the key without a cut", arguments: ["", "t", "\t\t"])
  func help(keys: String) {
    var dashboard = RetryScene.dashboard(columns: 80, rows: 60, selecting: nil)
    for key in keys { if key == "\t" { dashboard.press(.tab) } else { dashboard.press("\(key)") } }
    dashboard.press("?")
    #expect(dashboard.text().shows("retry tagged or selected"))
  }

  @Test("RD-5: A read-only dashboard retries nothing")
  func readOnly() {
    var dashboard = RetryScene.dashboard(isReadOnly: true)
    #expect(dashboard.press("T") == [.bell])
    #expect(dashboard.text().shows("read-only: nothing can be changed"))
    #expect(dashboard.text().last?.contains("Retry") == false)
  }

  // MARK: Answers of the process

  @Test(
    "RD-5: The answer of the process is shown as a sentence",
    arguments: [
      (CommandResult.Outcome.requested, "", "retry requested: #1078 resample slope"),
      (.notRetryable, "resample slope runs", "not retried: resample slope runs"),
      (.unknown, "", "#1078 resample slope is not known to the process"),
      (.denied, "", "denied: the process is monitored read-only"),
      (.lost, "", "#1078 resample slope: result unknown, the connection was lost"),
    ])
  func answers(outcome: CommandResult.Outcome, reason: String, sentence: String) {
    var dashboard = RetryScene.dashboard()
    RetryScene.answer(
      [RetryScene.failed], [outcome], refusals: reason.isEmpty ? [:] : [0: reason],
      to: &dashboard)
    #expect(dashboard.text().shows(sentence))
  }

  @Test("RD-5: A refusal without a reason is shown too")
  func missingReason() {
    var dashboard = RetryScene.dashboard()
    RetryScene.answer([RetryScene.failed], [.notRetryable], to: &dashboard)
    #expect(dashboard.text().contains { $0.trimmed == "not retried" })
  }

  @Test("RD-5: The answers for several operations are counted, with the first reason")
  func answersForMany() {
    var dashboard = RetryScene.dashboard()
    RetryScene.answer(
      [ID(1), ID(2), ID(3)], [.requested, .notRetryable, .notRetryable],
      refusals: [1: "merge runs", 2: "notify has succeeded"], to: &dashboard)
    #expect(
      dashboard.text().shows("retry requested: 1 operation, 2 not retried: merge runs"))
  }

  @Test("T38: A reason is shown without characters that control the terminal")
  func hostileReason() {
    var dashboard = RetryScene.dashboard()
    RetryScene.answer(
      [RetryScene.failed], [.notRetryable], refusals: [0: "a\u{1B}[2J\r\u{202E}b"],
      to: &dashboard)
    #expect(dashboard.text().shows("not retried: a·[2J"))
    GoldenFrame.checkCells(of: dashboard.picture())
  }
}

extension String {
  /// The text without spaces at its ends.
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

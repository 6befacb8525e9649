// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Cancelling and suspending")
struct CommandTests {
  private typealias ID = OperationReport.ID

  private func finished(_ id: Int, in dashboard: Dashboard) throws -> OperationReport {
    var report = try #require(dashboard.live.operations[ID(id)])
    report.state = .finished
    report.finished = dashboard.now
    return report
  }

  @Test("Cancelling asks first, and every key except y and a means no", arguments: ["n", "q"])
  func noIsTheDefault(key: String) {
    var dashboard = Scene.dashboard()
    #expect(dashboard.press("x") == [])
    #expect(dashboard.text().shows("Cancel #1042 download tiles z=14 eu?"))
    #expect(dashboard.press("j") == [.bell])
    #expect(dashboard.press(key) == [])
    #expect(dashboard.prompts.question == nil)
    dashboard.press("x")
    #expect(dashboard.press(.enter) == [])
    dashboard.press("x")
    #expect(dashboard.press(.escape) == [])
    #expect(dashboard.prompts.question == nil)
  }

  @Test func yesCancelsTheSelectedOperation() {
    var dashboard = Scene.dashboard()
    dashboard.press("jx")
    #expect(dashboard.press("y") == [.send(.cancel([ID(1051)]))])
    #expect(dashboard.prompts.question == nil)
  }

  @Test func alsoCancelsEveryUnfinishedDependent() {
    var dashboard = Scene.dashboard()
    dashboard.press("x")
    #expect(dashboard.text().shows("a Also 3 dependents"))
    #expect(
      dashboard.press("a")
        == [.send(.cancel([ID(1042), ID(1180), ID(1181), ID(1200)]))])
  }

  @Test func alsoIsNotOfferedWithoutDependents() {
    var dashboard = Scene.dashboard()
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("x")
    #expect(!dashboard.text().shows("Also"))
    #expect(dashboard.press("a") == [.bell])
    #expect(dashboard.press("y") == [.send(.cancel([ID(1200)]))])
  }

  @Test func theQuestionKeepsItsOperations() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("x")
    // While the dashboard asks whether to cancel an operation, two operations are added. One
    // becomes the first row, and the other depends on the operation to cancel. The question must
    // not change.
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: "older", className: "Block", queue: Scene.io, state: .executing,
        started: Scene.seconds(1)),
      OperationReport(
        id: ID(8), name: "newer", className: "Block", queue: Scene.io, state: .waiting,
        dependencies: [ID(1042)], unmetDependencyCount: 1),
    ])
    #expect(dashboard.list.rows.keys.first?.id == ID(7))
    #expect(dashboard.text().shows("Cancel #1042"))
    #expect(
      dashboard.press("a") == [.send(.cancel([ID(1042), ID(1180), ID(1181), ID(1200)]))])
  }

  @Test func operationsThatFinishMeanwhileAreDroppedFromTheQuestion() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("x")
    dashboard.update(changed: [try finished(1181, in: dashboard)])
    #expect(dashboard.press("a") == [.send(.cancel([ID(1042), ID(1180), ID(1200)]))])
    #expect(dashboard.text().shows("1 operation has already finished"))
  }

  @Test func theQuestionClosesWhenItsOperationFinishes() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("x")
    dashboard.update(changed: [try finished(1042, in: dashboard)])
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("#1042 download tiles z=14 eu finished; nothing to cancel"))
    #expect(!dashboard.press("y").contains { $0.isCommand })
  }

  @Test func aFinishedOperationCannotBeCancelled() {
    var dashboard = Scene.dashboard()
    dashboard.press("Gx")
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("has already finished"))
  }

  @Test("T38: the question shows sanitised names")
  func theQuestionShowsSanitisedNames() {
    var dashboard = Scene.dashboard()
    dashboard.update(changed: [
      OperationReport(
        id: ID(7), name: "a\u{1B}[2J\r\u{202E}b", className: "Block", queue: Scene.io,
        state: .executing, started: Scene.seconds(1))
    ])
    dashboard.press("gx")
    #expect(dashboard.text().shows("Cancel #7 a·[2J ·b?"))
    GoldenFrame.checkCells(of: dashboard.picture())
  }

  @Test func rowKeysWorkOnlyAfterX() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.press("a") == [])
    #expect(dashboard.press("Xa") == [.send(.cancel([ID(1042)]))])
    // After one command, the letters that select rows do nothing until the key `X` is pressed
    // again.
    #expect(dashboard.press("a") == [])
  }

  @Test func aRowKeyAsksBeforeItCancelsInAnotherProcess() {
    var dashboard = PickerScene.attached()
    #expect(dashboard.press("Xs") == [])
    #expect(dashboard.text().shows("Cancel #1051"))
    #expect(dashboard.press("y") == [.send(.cancel([ID(1051)]))])
  }

  @Test func escapeAndUnboundLettersLeaveTheRowKeys() {
    var dashboard = Scene.dashboard()
    dashboard.press("X")
    dashboard.press(.escape)
    #expect(dashboard.press("a") == [])
    #expect(dashboard.press("Xb") == [.bell])
    #expect(dashboard.press("a") == [])
  }

  @Test func rowKeysOfTwoLettersNeedBoth() {
    var dashboard = Scene.dashboard(columns: 80, rows: 40)
    let visible = dashboard.visibleKeys.map(\.id)
    #expect(dashboard.list.cancelKeys.key(of: visible[17]) == "za")
    #expect(dashboard.press("Xz") == [])
    #expect(dashboard.press("a") == [.send(.cancel([visible[17]]))])
  }

  /// Returns the letters beside the rows of the list or the tree, with which the user selects a row
  /// to cancel its operation.
  private func keysOnScreen(_ dashboard: Dashboard) -> Set<String> {
    let column = dashboard.screen.view == .tree ? 1 : 2
    let rows = dashboard.screen.layout?.body ?? 0..<0
    let text = dashboard.text()
    let letters = rows.map { String(text[$0].dropFirst(column).prefix(2)).filter { $0 != " " } }
    return Set(letters.filter { !$0.isEmpty })
  }

  @Test(
    "While the cancel keys are active, each of them is on the screen",
    arguments: [40, 41, 59, 60, 79, 80, 119, 120], [10, 12, 24, 40])
  func activeCancelKeysAreOnTheScreen(columns: Int, rows: Int) {
    for view in ["", "1200\r"] {
      var dashboard = Scene.dashboard(columns: columns, rows: rows)
      for key in view {
        if key == "\r" { dashboard.press(.enter) } else { dashboard.press("\(key)") }
      }
      if !view.isEmpty { dashboard.press("d") }
      dashboard.press("X")
      #expect(dashboard.list.cancelKeys.isArmed)
      let keys = dashboard.live.operations.all.compactMap {
        dashboard.list.cancelKeys.key(of: $0.id)
      }
      #expect(!keys.isEmpty && Set(keys) == keysOnScreen(dashboard))
      let headings = dashboard.screen.layout?.headings ?? 0
      #expect(dashboard.text()[headings].contains("KEY"))
    }
  }

  @Test func cancelKeysWorkInTheTree() throws {
    var dashboard = Scene.dashboard()
    dashboard.press("1200")
    dashboard.press(.enter)
    dashboard.press("d")
    #expect(dashboard.press("X") == [])
    let key = try #require(dashboard.list.cancelKeys.key(of: ID(1077)))
    #expect(dashboard.press(key) == [.send(.cancel([ID(1077)]))])
    #expect(!dashboard.text().shows("KEY"))
  }

  @Test func cancelKeysAreNotActiveOnAScreenWithoutRows() {
    var dashboard = Scene.dashboard()
    dashboard.press("X")
    dashboard.take(.resized(Size(columns: 39, rows: 9)))
    #expect(dashboard.press("a") == [])
    #expect(dashboard.press("X") == [.bell])
    #expect(dashboard.press("a") == [])
  }

  @Test func withoutACancellableRowTheKeyXIsRefused() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\state:fin")
    dashboard.press(.enter)
    #expect(dashboard.press("X") == [.bell])
    #expect(dashboard.text().shows("no operation on the screen can be cancelled"))
  }

  @Test func aReadOnlyDashboardAndARecordingHaveNoCancelKeys() {
    var readOnly = Scene.dashboard(configuration: .init(isReadOnly: true))
    #expect(!readOnly.text().shows("KEY"))
    readOnly.take(.resized(Size(columns: 200, rows: 60)))
    #expect(!readOnly.text().shows("KEY"))
    var replayed = Scene.dashboard()
    #expect(replayed.text().shows("KEY"))
    replayed.take(.replay(ReplayStatus(time: Scene.now, length: .seconds(102))))
    replayed.take(.monitor(.hello(Scene.hello)))
    replayed.take(.monitor(.update(Scene.update)))
    #expect(replayed.text().shows("#1042") && !replayed.text().shows("KEY"))
  }

  @Test func suspendingTogglesTheQueueOfTheSelection() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.press("S") == [.send(.setSuspended(Scene.io, true))])
    dashboard.press("1110")
    dashboard.press(.enter)
    let effects = dashboard.press("S")
    #expect(effects == [.send(.setSuspended(Scene.net, false))])
    dashboard.take(
      .monitor(
        .commandResult(
          CommandResult(command: .setSuspended(Scene.net, false), outcomes: [.requested]))))
    #expect(dashboard.text().shows("queue net resumed"))
  }

  @Test("A read-only dashboard changes nothing", arguments: [true, false])
  func readOnlyRefuses(isOurs: Bool) {
    var dashboard = Scene.dashboard(configuration: .init(isReadOnly: isOurs))
    var hello = Scene.hello
    hello.isReadOnly = !isOurs
    dashboard.take(.monitor(.hello(hello)))
    for key in ["x", "X", "S"] {
      #expect(dashboard.press(key) == [.bell])
      #expect(dashboard.text().shows("read-only: nothing can be changed"))
    }
    let footer = dashboard.text().last
    #expect(footer?.contains("Cancel") == false && footer?.contains("Suspend") == false)
    dashboard.press("?")
    #expect(dashboard.text().shows("disabled: read-only"))
  }

  @Test func nothingIsSentToAProcessThatHasEnded() {
    var dashboard = Scene.dashboard()
    dashboard.take(.monitor(.ended(reason: "it exited")))
    #expect(dashboard.text().shows("ended: it exited"))
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.text().shows("the process has ended"))
  }

  @Test(
    "A result is shown as a sentence",
    arguments: [
      (CommandResult.Outcome.requested, "cancel requested: #1077 resample dem"),
      (.alreadyFinished, "#1077 resample dem had already finished"),
      (.unknown, "#1077 resample dem is not known to the process"),
      (.denied, "denied: the process is monitored read-only"),
      (
        .lost,
        "#1077 resample dem: result unknown, the connection was lost"
      ),
    ])
  func resultsAreSaid(outcome: CommandResult.Outcome, sentence: String) {
    var dashboard = Scene.dashboard()
    dashboard.take(
      .monitor(.commandResult(CommandResult(command: .cancel([ID(1077)]), outcomes: [outcome]))))
    #expect(dashboard.text().shows(sentence))
  }

  @Test func resultsOfManyAreCounted() {
    var dashboard = Scene.dashboard()
    dashboard.take(
      .monitor(
        .commandResult(
          CommandResult(
            command: .cancel([ID(1), ID(2), ID(3)]),
            outcomes: [.requested, .requested, .alreadyFinished]))))
    #expect(dashboard.text().shows("cancel requested: 2 operations, 1 had already finished"))
  }

  @Test("The result of a command for many operations has clauses, and commas between thousands")
  func resultsOfVeryManyAreCounted() {
    var dashboard = Scene.dashboard(columns: 200)
    let outcomes =
      Array(repeating: CommandResult.Outcome.requested, count: 1_200) + [.unknown, .unknown]
    let command = MonitorCommand.cancel(outcomes.indices.map { ID($0 + 1) })
    dashboard.take(
      .monitor(.commandResult(CommandResult(command: command, outcomes: outcomes))))
    let words = "cancel requested: 1,200 operations, 2 are not known to the process"
    #expect(dashboard.text().shows(words))
  }

  @Test func aQuestionHasCommasBetweenThousands() {
    var dashboard = Scene.dashboard(columns: 200)
    let ids = (1...1_200).map { ID($0) }
    dashboard.prompts.question = Question(.cancel, about: ids)
    dashboard.prompts.question?.dependents = Dependents(
      subjects: Set(ids), ids: (5_000..<6_234).map { ID($0) })
    #expect(dashboard.text().shows("Cancel 1,200 operations: "))
    #expect(dashboard.text().shows("1,234 dependents"))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Several processes on one screen")
struct MultiProcessTests {
  private typealias ID = OperationReport.ID

  // MARK: Pictures

  @Test(
    "The processes have a table with their sum, and their operations and queues have a column",
    arguments: [(120, 40), (80, 24), (40, 10)])
  func pictures(columns: Int, rows: Int) {
    var dashboard = MultiProcessScene.dashboard(columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "several-\(columns)x\(rows)")
    dashboard.press(.tab)
    dashboard.press(.tab)
    GoldenFrame.check(dashboard.picture(), named: "several-queues-\(columns)x\(rows)")
  }

  @Test func processesWithProblemsAndTheSumHaveRows() {
    var dashboard = MultiProcessScene.dashboard()
    var update = MultiProcessScene.update
    update.processes = (1...16).map { number in
      MultiProcessScene.process(
        number, "worker", Int32(4_700 + number),
        number == 11 ? .silent(for: .seconds(3)) : number == 14 ? .reconnecting : .live,
        queues: [Scene.queues[1]])
    }
    dashboard.take(.monitor(.update(update)))
    GoldenFrame.check(dashboard.picture(), named: "several-many-80x24")
    dashboard.press("#")
    #expect(!dashboard.text().shows("16 processes, +12"))
  }

  @Test func processesWithTheSameNameShowTheirIDs() {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 40)
    #expect(dashboard.text().shows("PROCESS  "))
    var update = MultiProcessScene.update
    for index in update.processes.indices { update.processes[index].hello.processName = "worker" }
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text().shows("ID PID"))
    #expect(dashboard.text().shows("1#1042 4711"))
  }

  @Test func theDetailNamesTheProcess() {
    var dashboard = MultiProcessScene.dashboard(columns: 100, rows: 30)
    dashboard.press(.enter)
    #expect(dashboard.text().shows("1#1042 download tiles z=14 eu"))
    #expect(dashboard.text().shows("process    tilebuild[4711]"))
  }

  @Test func theHelpExplainsIDsOfSeveralProcesses() {
    for (isOfSeveral, first) in [(true, MultiProcessScene.dashboard()), (false, Scene.dashboard())]
    {
      var dashboard = first
      dashboard.press("?G")
      #expect(dashboard.text().shows("or 2# for all of process 2.") == isOfSeveral)
      #expect(
        dashboard.text().shows("Sort by id to group the operations by process.") == isOfSeveral)
    }
  }

  // MARK: A process that has ended

  @Test func operationsOfAnEndedProcessAreSortedAndHiddenAsFinished() throws {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
    let ids = dashboard.list.rows.keys.map(\.id)
    let firstLeft = try #require(ids.firstIndex { $0.processNumber == 3 })
    let lastUnfinished = try #require(
      ids.lastIndex {
        $0.processNumber != 3 && dashboard.shown.operations[$0]?.state.isOver == false
      })
    #expect(firstLeft > lastUnfinished)
    #expect(dashboard.shown.operations[ids[firstLeft]]?.state == .executing)
    dashboard.press("H")
    #expect(dashboard.list.rows.keys.allSatisfy { $0.id.processNumber != 3 })
  }

  @Test func timesOfAnEndedProcessStandStill() throws {
    let id = MultiProcessScene.id(3, 1080)
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
    // The process of this operation has ended, so the age of the operation must not grow.
    let report = try #require(dashboard.shown.operations[id])
    func age() -> Duration? {
      report.time(at: dashboard.shown.moment(for: id, at: dashboard.shownTime))
    }
    let first = age()
    dashboard.take(.tick(Scene.now + .seconds(20)))
    #expect(age() == first)
    let other = try #require(dashboard.shown.operations[MultiProcessScene.id(1, 1080)])
    #expect(
      other.time(at: dashboard.shown.moment(for: other.id, at: dashboard.shownTime))
        == .milliseconds(23_900))
  }

  @Test func tagsAndQuestionsEndWithTheProcess() {
    var dashboard = MultiProcessScene.dashboard()
    var processes = MultiProcessScene.processes
    processes[2].connection = .live
    dashboard.take(.monitor(.update(MultiProcessScene.update(of: processes))))
    dashboard.tags.ids = [MultiProcessScene.id(3, 1080), MultiProcessScene.id(3, 1095)]
    dashboard.press("x")
    #expect(dashboard.text().shows("Cancel 2 operations"))
    dashboard.take(.monitor(.update(MultiProcessScene.update)))
    #expect(dashboard.text().shows("not cancelled: the operation's process has ended"))
    #expect(dashboard.tags.ids.isEmpty)
  }

  @Test func theEndingOfAProcessIsShownWithItsOperations() {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 40)
    var processes = MultiProcessScene.processes
    processes[2].connection = .live
    dashboard.take(.monitor(.update(MultiProcessScene.update(of: processes))))
    #expect(!dashboard.text().shows("replaced by another process"))
    dashboard.take(.monitor(.update(MultiProcessScene.update)))
    #expect(dashboard.text().shows("imaged[5002]: replaced by another process"))
    #expect(dashboard.text()[0].contains("1 ENDED"))
    dashboard.take(.tick(Scene.now + .seconds(20)))
    #expect(!dashboard.text().shows("replaced by another process"))
    dashboard.press("3#1080")
    dashboard.press(.enter)
    #expect(
      dashboard.text().shows(
        "3#1080 was executing when the process ended: replaced by another process"))
    dashboard.press(.enter)
    #expect(dashboard.text().shows("process    imaged[5002]  replaced by another process"))
  }

  @Test func theEndOfAllProcessesIsNotShownAsExited() {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 40)
    dashboard.take(.monitor(.ended(reason: "all 3 processes have ended")))
    #expect(dashboard.text()[0].contains("ENDED 12:0"))
    dashboard.press("x")
    #expect(dashboard.text().shows("the process has ended"))
    #expect(!dashboard.text().shows("EXITED"))
  }

  // MARK: Control of each

  @Test func theHeaderNamesBothModesIfOneProcessIsReadOnly() {
    let dashboard = MultiProcessScene.dashboard()
    #expect(dashboard.text()[0].contains("ATTACHED rw/ro  "))
    var commanded = dashboard
    commanded.take(
      .monitor(.update(MultiProcessScene.update(of: [MultiProcessScene.processes[0]]))))
    #expect(commanded.text()[0].contains("ATTACHED rw  "))
  }

  @Test func theReadOnlyModeFollowsTheLatestUpdate() {
    var dashboard = MultiProcessScene.dashboard()
    #expect(dashboard.text()[0].contains("ATTACHED rw"))
    var processes = MultiProcessScene.processes
    for index in processes.indices { processes[index].hello.isReadOnly = true }
    dashboard.take(.monitor(.update(MultiProcessScene.update(of: processes))))
    #expect(dashboard.text()[0].contains("ATTACHED ro"))
    dashboard.press("x")
    #expect(dashboard.text().shows("read-only: nothing can be changed"))
    // The common greeting says that all processes are read-only. The next update then says that
    // some of them accept commands.
    var hello = MultiProcessScene.hello
    hello.isReadOnly = true
    dashboard.take(.monitor(.hello(hello)))
    dashboard.take(.monitor(.update(MultiProcessScene.update)))
    #expect(dashboard.text()[0].contains("ATTACHED rw"))
  }

  @Test func anUnansweredCommandIsReportedAsNoAnswer() {
    var dashboard = MultiProcessScene.dashboard()
    dashboard.take(
      .monitor(
        .commandResult(
          CommandResult(
            command: .cancel([MultiProcessScene.id(1, 1042), MultiProcessScene.id(2, 1051)]),
            outcomes: [.requested, .lost]))))
    #expect(
      dashboard.text().shows("cancel requested: 1 operation, 1 without a result: no answer"))
  }

  @Test func tagsInSeveralProcessesMakeOneCommand() {
    var dashboard = MultiProcessScene.dashboard()
    dashboard.tags.ids = [MultiProcessScene.id(1, 1042), MultiProcessScene.id(2, 1051)]
    dashboard.press("x")
    // One of the two processes is read-only and refuses the command. The other one accepts it.
    #expect(
      dashboard.press("y")
        == [.send(.cancel([MultiProcessScene.id(1, 1042), MultiProcessScene.id(2, 1051)]))])
  }

  @Test("RD-5: Only the jobs of a process that can retry them are named in the question")
  func retry() {
    var processes = MultiProcessScene.processes
    processes[0].hello.canRetry = true
    processes[1].hello.isReadOnly = false
    var dashboard = MultiProcessScene.dashboard(columns: 120)
    dashboard.take(.monitor(.update(MultiProcessScene.update(of: processes))))
    let (first, second) = (MultiProcessScene.id(1, 1033), MultiProcessScene.id(2, 1033))
    dashboard.tags.ids = [first, second]
    dashboard.press("T")
    #expect(dashboard.text().shows("Retry 1#1033 "))
    #expect(dashboard.press("y") == [.send(.retry([first]))])
    dashboard.press("T")
    #expect(dashboard.prompts.question == nil)
    #expect(dashboard.text().shows("the process cannot retry jobs"))
  }

  @Test("A read-only process denies only commands for its own operations")
  func refusals() {
    var dashboard = MultiProcessScene.dashboard()
    for (number, sentence) in [
      (2, "read-only: nothing can be changed"), (3, "the process has ended"), (1, "Cancel 1#1042"),
    ] {
      dashboard.detail = DetailState(id: MultiProcessScene.id(number, number == 3 ? 1080 : 1042))
      dashboard.press("x")
      #expect(dashboard.text().shows(sentence), "\(number)")
    }
  }

  @Test func aQueueIsSuspendedInItsOwnProcess() {
    var dashboard = MultiProcessScene.dashboard()
    dashboard.press(.tab)
    dashboard.press(.tab)
    #expect(dashboard.press("jS") == [])
    #expect(dashboard.text().shows("Suspend queue 1#io?"))
    #expect(
      dashboard.press("y") == [.send(.setSuspended(MultiProcessScene.queue(1, Scene.io), true))])
    #expect(dashboard.press("jjjS") == [.bell])
    #expect(dashboard.text().shows("read-only"))
  }

  @Test func onlyProcessesThatAcceptCommandsHaveCancelKeys() {
    let dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
    func hasKey(_ number: Int) -> Bool {
      dashboard.visibleKeys.contains {
        $0.id.processNumber == number && dashboard.list.cancelKeys.key(of: $0.id) != nil
      }
    }
    #expect(dashboard.visibleKeys.contains { $0.id.processNumber == 2 && !$0.isOver })
    #expect(hasKey(1) && !hasKey(2) && !hasKey(3))
  }

  // MARK: Ids

  @Test func aTypedNumberIsSearchedInTheSelectedProcess() {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
    dashboard.press("1051")
    #expect(dashboard.text().shows("go to 1#1051"))
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == MultiProcessScene.id(1, 1051))
    dashboard.press("2#1042")
    #expect(dashboard.text().shows("go to 2#1042"))
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == MultiProcessScene.id(2, 1042))
    dashboard.press("1051")
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == MultiProcessScene.id(2, 1051))
    dashboard.press("9#1")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation has the number 9#1"))
  }

  @Test("A filter accepts an id in all processes or in one, and all ids of one process")
  func filters() throws {
    func ids(_ text: String) throws -> Set<ID> {
      var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
      dashboard.press("\\")
      dashboard.press(text)
      dashboard.press(.enter)
      // The test reads the rows of the list, because the selected operation stays selected even if
      // the list does not contain it.
      return Set(dashboard.list.rows.keys.map(\.id))
    }
    #expect(try ids("#1042") == [MultiProcessScene.id(1, 1042), MultiProcessScene.id(2, 1042)])
    #expect(try ids("2#1042") == [MultiProcessScene.id(2, 1042)])
    let own = try ids("3#")
    #expect(!own.isEmpty && own.allSatisfy { $0.processNumber == 3 })
  }

  @Test func anExportIsAFrameOfEachProcessWithItsOwnIds() throws {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
    let frames = dashboard.press("e").compactMap { effect -> MonitorProtocol.BatchFrame? in
      if case .export(let frame) = effect { frame } else { nil }
    }
    #expect(frames.map(\.process.pid) == [4711, 4802, 5002])
    #expect(frames[0].operations.map(\.id) == Scene.operations.map(\.id).sorted())
    #expect(frames[1].queues.map(\.id) == [Scene.io])
    #expect(frames[1].operations.allSatisfy { $0.queue == "io" })
    #expect(frames.map(\.lostChanges) == [0, 0, 12])
  }

  @Test("An export has the causes of cancellations with the ids of the process")
  func exportedCauses() throws {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
    var update = MultiProcessScene.update
    let cancelled = MultiProcessScene.id(2, 1033)
    for index in update.changed.indices where update.changed[index].id == cancelled {
      update.changed[index].cancellationCause = .dependency(MultiProcessScene.id(2, 1039))
    }
    dashboard.take(.monitor(.update(update)))
    let words = "cancelled because #1039 “download tiles z=12 eu” did not succeed"
    #expect(dashboard.shown.operations[cancelled]?.cancellationCause != nil)
    let exported = dashboard.press("e").compactMap { effect in
      if case .export(let frame) = effect {
        frame.operations.first { $0.cancellation != nil }?.cancellation
      } else {
        nil
      }
    }
    #expect(exported.map(\.operation) == [.init(1039)])
    #expect(exported.map(\.sentence) == [words])
  }

  @Test func anExportIncludesWarningsWithoutOperations() {
    var dashboard = MultiProcessScene.dashboard(columns: 120, rows: 60)
    var update = MultiProcessScene.update
    update.warnings = [1, 2, 2].map { number in
      var warning = MonitorWarning(kind: .historyLost, count: number)
      warning.process = number
      return warning
    }
    dashboard.take(.monitor(.update(update)))
    let warnings = dashboard.press("e").compactMap { effect -> [Int]? in
      if case .export(let frame) = effect { frame.warnings.map(\.count) } else { nil }
    }
    #expect(warnings == [[1], [2, 2], []])
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("A process that is watched over a socket")
struct ConnectionTests {
  private typealias ID = OperationReport.ID

  private func lost() -> Dashboard {
    var dashboard = PickerScene.attached()
    dashboard.take(.monitor(.disconnected(reason: "connection reset")))
    return dashboard
  }

  private func exited() -> Dashboard {
    var dashboard = PickerScene.attached()
    dashboard.take(.tick(Scene.now + .seconds(31)))
    dashboard.take(.monitor(.ended(reason: "the process has exited")))
    return dashboard
  }

  // MARK: The header

  @Test(
    "The header says whether the process accepts commands",
    arguments: [(false, false, "rw"), (true, false, "ro"), (false, true, "ro"), (true, true, "ro")])
  func theModeIsShown(isTheirs: Bool, isOurs: Bool, mode: String) {
    var dashboard = PickerScene.attached(
      to: isTheirs ? PickerScene.imaged : PickerScene.tilebuild, isReadOnly: isOurs)
    #expect(dashboard.text().first?.contains("ATTACHED \(mode)  LIVE") == true)
    let footer = dashboard.text().last
    #expect(footer?.contains("Cancel") == (mode == "rw"))
    #expect(dashboard.press("x") == (mode == "rw" ? [] : [.bell]))
  }

  @Test func aNarrowHeaderOmitsTheLeastImportantParts() {
    var dashboard = PickerScene.attached()
    var update = Scene.update
    update.behind = .milliseconds(1_249)
    update.lostChanges = 7
    dashboard.take(.monitor(.update(update)))
    func header(_ columns: Int) -> String {
      let grid = dashboard.view(
        size: Size(columns: columns, rows: 24), capabilities: Capabilities())
      return grid.text[0]
    }
    #expect(header(120).contains("ATTACHED rw  LIVE  behind 1.2s  up 1m42s "))
    #expect(header(60).contains("tilebuild[4711]  ATTACHED rw  behind 1.2s"))
    // A narrow header shows the number of events that were not recorded instead of the time of day.
    #expect(header(60).hasSuffix("not recorded: 7"))
    #expect(header(40) == " tilebuild[4711]  behind 1.2s")
  }

  @Test func aDelayIsShownFromHalfASecondUntilItEnds() {
    var dashboard = PickerScene.attached()
    var update = Scene.update
    for (behind, words) in [(499, nil), (500, "behind 0.5s"), (61_000, "behind 1m01s"), (0, nil)] {
      update.behind = .milliseconds(behind)
      dashboard.take(.monitor(.update(update)))
      #expect(dashboard.text()[0].contains("behind") == (words != nil))
      if let words { #expect(dashboard.text()[0].contains(words)) }
    }
  }

  @Test func aProcessThatDoesNotAnswerIsShownAsSilent() {
    var dashboard = PickerScene.attached(columns: 100)
    dashboard.take(.monitor(.silent(for: .milliseconds(3_260))))
    #expect(dashboard.text()[0].contains("ATTACHED rw  SILENT 3.2s"))
    #expect(!dashboard.text()[0].contains("LIVE"))
    #expect(dashboard.text().shows("the process does not answer"))
    // The dashboard still accepts commands, because a process that does not answer may still
    // receive them.
    #expect(dashboard.refusal == nil)
    dashboard.press("p")
    #expect(dashboard.text()[0].contains("PAUSED"))
    dashboard.press("p")
    dashboard.take(.monitor(.silent(for: .zero)))
    #expect(dashboard.text()[0].contains("ATTACHED rw  LIVE"))
    #expect(!dashboard.text().shows("the process does not answer"))
    dashboard.take(.monitor(.silent(for: .seconds(9))))
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    dashboard.take(.monitor(.hello(PickerScene.hello)))
    #expect(dashboard.text()[0].contains("LIVE"))
  }

  @Test func aProcessIsRecognizedAfterItsMachineSlept() {
    var first = PickerScene.hello
    first.startTicks = 83_512
    var dashboard = PickerScene.attached()
    dashboard.take(.monitor(.hello(first)))
    dashboard.take(.monitor(.update(Scene.update)))
    dashboard.press("j ")
    var second = first
    second.processStarted = first.processStarted - .seconds(3_600)
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    dashboard.take(.monitor(.hello(second)))
    #expect(dashboard.tags.ids.count == 1)
    second.startTicks += 1
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    dashboard.take(.monitor(.hello(second)))
    #expect(dashboard.tags.ids.isEmpty)
  }

  // MARK: A lost connection

  @Test func aLostConnectionIsShownAndCommandsAreRefused() {
    var dashboard = lost()
    #expect(dashboard.text()[0].contains("tilebuild[4711]  RECONNECTING"))
    #expect(!dashboard.text()[0].contains("ATTACHED"))
    #expect(dashboard.text().shows("connection lost: connection reset; reconnecting"))
    for key in ["x", "X", "S", "}"] {
      #expect(dashboard.press(key) == [.bell])
      #expect(dashboard.text().shows("the connection is lost; commands work after it is restored"))
    }
    dashboard.press("?")
    #expect(dashboard.text().shows("disabled: reconnecting"))
    dashboard.press("?")
    // While the connection is lost, keys that do not change the process still work.
    dashboard.press("jt")
    #expect(dashboard.keyContext == .tree)
    dashboard.press("q")
    dashboard.press(.enter)
    #expect(dashboard.keyContext == .detail)
  }

  @Test func timeStandsStillWithoutAConnection() {
    var dashboard = lost()
    let before = dashboard.picture()
    dashboard.take(.tick(Scene.now + .seconds(60)))
    #expect(dashboard.picture() == before)
    #expect(dashboard.nextTick(after: dashboard.now) == nil)
  }

  @Test func aQuestionAboutCancellingClosesWithTheConnection() {
    for message in [MonitorMessage.disconnected(reason: "reset"), .ended(reason: "exited")] {
      var dashboard = PickerScene.attached()
      dashboard.press("x")
      dashboard.take(.monitor(message))
      #expect(dashboard.keyContext == .list)
      #expect(dashboard.text().shows("not cancelled"))
      #expect(!dashboard.press("y").contains { $0.isCommand })
    }
    var armed = PickerScene.attached()
    armed.press("X")
    armed.take(.monitor(.disconnected(reason: "reset")))
    #expect(armed.press("a") == [])
  }

  @Test func aReconnectionKeepsOnlyReportedRowsAndTags() {
    var dashboard = PickerScene.attached()
    dashboard.press("jj  ")
    #expect(dashboard.tags.ids == [ID(1080), ID(1095)])
    #expect(dashboard.list.selection.id == ID(1077))
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    // This update is a late message of the lost connection, which the dashboard must ignore.
    var late = Scene.update
    late.queues = []
    dashboard.take(.monitor(.update(late)))
    #expect(dashboard.live.queues.count == 4)

    let effects = dashboard.reduce(.monitor(.hello(PickerScene.hello)))
    #expect(effects == [.watch(dashboard.wantedInterest)])
    #expect(dashboard.text()[0].contains("ATTACHED rw  LIVE"))
    // After the process is connected again, the old rows stay on the screen until an update
    // arrives.
    #expect(dashboard.list.rows.count > 20)
    let kept = Scene.operations.filter { [1042, 1077, 1080, 1200].contains($0.id.rawValue) }
    dashboard.take(.monitor(.update(Scene.update(of: kept))))
    #expect(dashboard.list.rows.keys.map(\.id).sorted() == kept.map(\.id).sorted())
    #expect(dashboard.list.selection.id == ID(1077))
    // A tagged operation stays tagged although it is not in the first update. If it is not in the
    // updates of the following seconds either, it no longer exists.
    #expect(dashboard.tags.ids.contains(ID(1095)))
    var update = Scene.update(of: kept)
    update.time = Scene.now + Dashboard.confirmationTime
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.tags.ids == [ID(1080)])
  }

  @Test func ratesRestartAfterALostConnection() {
    var dashboard = HistoryScene.dashboard()
    #expect(dashboard.live.rates.samples.count == 90)
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    _ = dashboard.reduce(.monitor(.hello(Scene.hello)))
    var update = Scene.update
    update.time = Scene.now + .seconds(60)
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.live.rates.samples.isEmpty)
  }

  @Test func aLaterStartOfTheSameProgramIsAnotherProcess() {
    for change in 0..<3 {
      var dashboard = PickerScene.attached()
      dashboard.press("j t")
      dashboard.take(.monitor(.disconnected(reason: "reset")))
      var hello = PickerScene.hello
      switch change {
      case 0: hello.processStarted = Scene.seconds(1)
      case 1: hello.bootID = "another"
      default: hello.processID = 1
      }
      dashboard.take(.monitor(.hello(hello)))
      #expect(
        dashboard.tags.ids.isEmpty && dashboard.tree == nil && dashboard.screen.view == .operations)
      #expect(dashboard.list.rows.count == 0)
      #expect(dashboard.isAttached)
    }
  }

  // MARK: The end

  @Test func theLastPictureStaysAndIsMarked() {
    var dashboard = exited()
    #expect(dashboard.text()[0].contains("tilebuild[4711]  EXITED 12:05:02"))
    #expect(dashboard.text().shows("the process has exited; 51 of 854 operations can be inspected"))
    #expect(dashboard.text().last?.contains("Cancel") == false)
    #expect(dashboard.press("x") == [.bell])
    #expect(dashboard.text().shows("the process has exited; commands are disabled"))
    // The process has exited, so the dashboard sends no request to it, and quits without delay.
    #expect(dashboard.reduce(.input(.character("H"))) == [])
    dashboard.press(" ")
    #expect(dashboard.press("q") == [.quit])
  }

  @Test func afterTheEndOperationsAreSortedAndFilteredLocally() {
    var dashboard = exited()
    dashboard.press("\\state:exec")
    #expect(dashboard.text().shows("4 operations match"))
    dashboard.press(.enter)
    #expect(dashboard.list.rows.keys.map { $0.id.rawValue } == [1042, 1051, 1080, 1095])
    dashboard.press("si")
    dashboard.press("I")
    #expect(dashboard.list.rows.keys.map { $0.id.rawValue } == [1095, 1080, 1051, 1042])
    dashboard.press("\\")
    dashboard.take(.input(.control("u")))
    dashboard.press(.enter)
    #expect(dashboard.list.rows.count == Scene.operations.count)
    dashboard.press("H")
    #expect(!dashboard.list.rows.keys.contains { $0.isOver })
    dashboard.press("\\state:finished")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation matches the filter"))
  }

  @Test func unknownOperationsAreShownAsUnknown() {
    var dashboard = exited()
    dashboard.press("c")
    #expect(dashboard.text().shows("are not known") || !dashboard.tags.ids.isEmpty)
    dashboard.press("9999")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation has the number 9999"))
  }

  @Test func anEndAfterALostConnectionIsShownAsExited() {
    var dashboard = lost()
    dashboard.take(.monitor(.ended(reason: "the process is gone")))
    #expect(dashboard.text()[0].contains("EXITED 12:04:31"))
    #expect(dashboard.text().shows("the process is gone; "))
    // The process may connect again, although it was reported as gone.
    dashboard.take(.monitor(.hello(PickerScene.hello)))
    dashboard.take(.monitor(.update(Scene.update)))
    #expect(dashboard.text()[0].contains("ATTACHED rw  LIVE"))
  }

  @Test func anEndedDemoStillAnswers() {
    var dashboard = Scene.dashboard()
    dashboard.take(.monitor(.ended(reason: "the demo has finished")))
    #expect(dashboard.text()[0].contains("ENDED"))
    let effects = dashboard.reduce(.input(.character("H")))
    #expect(effects == [.watch(dashboard.wantedInterest)])
  }

  // MARK: The requester of a cancellation

  @Test(
    "The detail names the process that requested the cancellation",
    arguments: [
      (
        OperationState.cancelling, Int32(5120),
        "cancel     at 12:04:26.800 by pid 5120 uid 1000 (4.20s ago, still running)"
      ),
      (
        .cancelled, 5120,
        "cancel     at 12:04:26.800 by pid 5120 uid 1000 (cancelled 1.20s later)"
      ),
      (
        .finished, 0,
        "cancel     at 12:04:26.800 by uid 1000 (pid unknown) (finished 1.20s later)"
      ),
    ])
  func theRequesterIsNamed(state: OperationState, process: Int32, line: String) throws {
    var dashboard = PickerScene.attached()
    var report = try #require(dashboard.live.operations[ID(1077)])
    report.state = state
    report.finished = state.isOver ? Scene.seconds(99) : nil
    report.cancelRequester = CommandOrigin(processID: process, userID: 1_000)
    dashboard.update(changed: [report])
    dashboard.press("1077")
    dashboard.press(.enter)
    dashboard.press(.enter)
    #expect(dashboard.text().shows(line))
    GoldenFrame.checkCells(of: dashboard.picture())
    dashboard.take(.resized(Size(columns: 40, rows: 24)))
    #expect(dashboard.text().shows("cancel     at 12:04:26.800"))
    #expect(process == 0 || dashboard.text().shows("           by pid 5120 uid 1000"))
  }

  @Test func withoutARequesterNoProcessIDIsShown() {
    var dashboard = PickerScene.attached()
    dashboard.press("1077")
    dashboard.press(.enter)
    dashboard.press(.enter)
    #expect(!dashboard.text().shows(" by pid"))
  }

  // MARK: Pictures

  @Test(arguments: [(80, 24), (120, 40), (40, 10)])
  func connectionStatesLookAsStored(columns: Int, rows: Int) {
    let size = "\(columns)x\(rows)"
    var dashboard = PickerScene.attached(columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "attached-rw-\(size)")
    var update = Scene.update
    update.behind = .milliseconds(1_249)
    dashboard.take(.monitor(.update(update)))
    GoldenFrame.check(dashboard.picture(), named: "behind-\(size)")
    dashboard.take(.monitor(.disconnected(reason: "connection reset by peer")))
    GoldenFrame.check(dashboard.picture(), named: "reconnecting-\(size)")
    dashboard.take(.tick(Scene.now + .seconds(31)))
    dashboard.take(.monitor(.ended(reason: "the process has exited")))
    GoldenFrame.check(dashboard.picture(), named: "exited-\(size)")
    dashboard = PickerScene.attached(to: PickerScene.imaged, columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "attached-ro-\(size)")
  }
}

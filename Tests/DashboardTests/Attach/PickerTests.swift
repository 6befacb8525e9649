// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The picker of processes")
struct PickerTests {
  private let tilebuild = PickerScene.tilebuild
  private let imaged = PickerScene.imaged
  private let oldtool = PickerScene.oldtool

  private static func atStart() -> Dashboard {
    var dashboard = Dashboard(configuration: .init(source: nil, title: "tiles"))
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    return dashboard
  }

  // MARK: Looking

  @Test func thePickerSearchesForProcessesEveryTwoSeconds() {
    var dashboard = PickerScene.attached()
    #expect(dashboard.press("o") == [.findProcesses(isRequested: true)])
    #expect(dashboard.text().shows("searching"))
    // While a search for processes is running, the picker does not start another search.
    #expect(dashboard.take(.tick(Scene.now + .seconds(10))) == [])
    let now = dashboard.now
    #expect(dashboard.take(.found([tilebuild])) == [])
    #expect(dashboard.nextTick(after: now) == now + .seconds(2))
    #expect(dashboard.take(.tick(now + .milliseconds(1_999))) == [])
    #expect(dashboard.take(.tick(now + .seconds(2))) == [.findProcesses(isRequested: false)])
    #expect(dashboard.take(.tick(now + .seconds(3))) == [])
  }

  @Test func rSearchesAgainUnlessASearchRuns() {
    var dashboard = PickerScene.picker([imaged])
    #expect(dashboard.press("r") == [.findProcesses(isRequested: true)])
    #expect(dashboard.press("r") == [.bell])
    dashboard.take(.found([]))
    #expect(dashboard.text().shows("no process found"))
    #expect(dashboard.text().shows("OPQ_MONITOR=rw"))
    #expect(dashboard.press("r") == [.findProcesses(isRequested: true)])
  }

  @Test func aClosedPickerDoesNotSearch() {
    var dashboard = PickerScene.picker([imaged])
    dashboard.press(.escape)
    #expect(dashboard.take(.tick(Scene.now + .seconds(10))) == [])
    // If the result of a search arrives after the picker was closed, the picker stays closed.
    dashboard.take(.found([imaged]))
    #expect(dashboard.keyContext == .list)
  }

  // MARK: Selecting

  @Test func theFirstOtherProcessIsSelectedByDefault() {
    var dashboard = PickerScene.picker([tilebuild, oldtool, imaged])
    #expect(dashboard.picker?.selected == .process(imaged))
    dashboard.take(.found([imaged, tilebuild]))
    #expect(dashboard.picker?.selected == .process(imaged))
    dashboard.press("j")
    #expect(dashboard.picker?.selected == .process(tilebuild))
    // The selection follows its process. If the process is no longer in the list, the next row is
    // selected.
    dashboard.take(.found([tilebuild, imaged, oldtool]))
    #expect(dashboard.picker?.selected == .process(tilebuild))
    dashboard.press("jj")
    #expect(dashboard.picker?.selected == .process(oldtool))
    dashboard.take(.found([tilebuild, imaged]))
    #expect(dashboard.picker?.selected == .demo)
  }

  @Test func keysMoveWithinTheVisibleRows() {
    var dashboard = PickerScene.picker(PickerScene.choices(40))
    func selected() -> Int32? { dashboard.picker?.selected.processID }
    #expect(selected() == 100)
    dashboard.press(.end)
    #expect(dashboard.picker?.selected == .demo)
    #expect(dashboard.text().contains { $0.hasPrefix("▌") && $0.contains("demo") })
    dashboard.press("k")
    #expect(selected() == 139)
    dashboard.press(.pageUp)
    #expect(selected() == Int32(139 - dashboard.pickerHeight))
    dashboard.press(.home)
    dashboard.press(.up)
    #expect(selected() == 100)
    #expect(dashboard.text().contains { $0.hasPrefix("▌") && $0.contains("service 0") })
  }

  // MARK: Opening

  @Test func enterOpensAndTheGreetingReplacesEverything() {
    var dashboard = PickerScene.attached()
    dashboard.press("jj ")
    dashboard.press("\\state:exec")
    dashboard.press(.enter)
    dashboard.press("[td")
    dashboard.press("o")
    dashboard.take(.found([tilebuild, imaged]))
    #expect(dashboard.press(.enter) == [.open(.process(imaged.id))])
    #expect(dashboard.text().shows("opening imaged[5002]"))
    // While a process is being opened, the picker refuses a second Enter.
    #expect(dashboard.press(.enter) == [.bell])
    let effects = dashboard.reduce(.monitor(.hello(PickerScene.hello(of: imaged))))
    #expect(effects == [.watch(dashboard.wantedInterest)])
    #expect(dashboard.connection.source == .process(imaged.id))
    #expect(dashboard.keyContext == .list)
    #expect(
      dashboard.tags.ids.isEmpty && dashboard.list.listing == Listing() && dashboard.tree == nil)
    #expect(dashboard.list.rows.count == 0 && dashboard.live.queues.isEmpty)
    // The settings of the display, such as the refresh rate, are the same as for the previous
    // process.
    #expect(
      !dashboard.screen.refresh.isDefault && dashboard.screen.size == Size(columns: 80, rows: 24))
    #expect(dashboard.text().first?.contains("imaged[5002]  ATTACHED ro") == true)
    #expect(!dashboard.text().shows("guidance"))
  }

  @Test func afterAFailedOpenTheOldProcessStays() {
    var dashboard = PickerScene.picker([tilebuild, imaged])
    dashboard.press(.enter)
    dashboard.take(.openFailed(reason: "\u{1B}[2J it is gone"))
    #expect(dashboard.text().shows("cannot attach: ·[2J it is gone"))
    #expect(dashboard.keyContext == .picker)
    #expect(dashboard.connection.source == .process(tilebuild.id))
    #expect(dashboard.press(.enter) == [.open(.process(imaged.id))])
    // The picker may be closed before the process reports that it cannot be opened.
    dashboard.press(.escape)
    dashboard.take(.openFailed(reason: "it is gone"))
    #expect(dashboard.text().shows("cannot attach: it is gone"))
    #expect(dashboard.keyContext == .list)
  }

  @Test func anIncompatibleProcessIsNotOpened() {
    var dashboard = PickerScene.picker([oldtool, tilebuild])
    dashboard.press(.home)
    #expect(dashboard.press(.enter) == [.bell])
    #expect(
      dashboard.text().shows(
        "cannot attach to oldtool[5120]: too old for this opq-top (1.x)"))
  }

  @Test func choosingTheWatchedProcessClosesThePicker() {
    var dashboard = PickerScene.picker([tilebuild])
    dashboard.press(.home)
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.keyContext == .list)
  }

  @Test func theOldProcessCanReconnectWhileAnotherIsOpened() {
    var dashboard = PickerScene.picker([tilebuild, imaged])
    dashboard.press(.enter)
    dashboard.take(.monitor(.disconnected(reason: "reset")))
    dashboard.take(.monitor(.hello(PickerScene.hello)))
    #expect(dashboard.connection.opening == .process(imaged.id))
    #expect(dashboard.connection.source == .process(tilebuild.id))
    dashboard.take(.monitor(.hello(PickerScene.hello(of: imaged))))
    #expect(dashboard.connection.source == .process(imaged.id))
  }

  // MARK: The demo

  @Test func theDemoAsksBeforeItEnds() {
    var dashboard = Scene.dashboard()
    dashboard.press("o")
    dashboard.take(.found([tilebuild]))
    #expect(dashboard.press(.enter) == [])
    #expect(dashboard.text().shows("End the demo and attach to tilebuild[4711]?"))
    #expect(dashboard.text().shows("Its 433 unfinished operations are discarded"))
    #expect(dashboard.press("a") == [.bell])
    dashboard.update()
    #expect(dashboard.keyContext == .question)
    dashboard.press("n")
    #expect(dashboard.keyContext == .picker)
    dashboard.press(.enter)
    #expect(dashboard.press("y") == [.open(.process(tilebuild.id))])
  }

  @Test func anEndedDemoIsLeftWithoutAQuestionAndCanRestart() {
    var dashboard = Scene.dashboard(configuration: .init(title: "tiles", guidance: "look here"))
    dashboard.press(" ")
    dashboard.take(.monitor(.ended(reason: "the demo has finished")))
    dashboard.press("o")
    dashboard.take(.found([tilebuild]))
    #expect(dashboard.press(.enter) == [.open(.process(tilebuild.id))])
    dashboard.take(.openFailed(reason: "no"))
    dashboard.press("G")
    #expect(dashboard.press(.enter) == [.open(.demo)])
    // The new connection is to the same process as before. The dashboard nevertheless discards the previous
    // state.
    dashboard.take(.monitor(.hello(Scene.hello)))
    #expect(dashboard.list.rows.count == 0 && dashboard.tags.ids.isEmpty)
    #expect(dashboard.live.endedReason == nil && dashboard.connection.source == .demo)
    #expect(dashboard.text().shows("look here"))
  }

  @Test func theDemoIsOpenedFromAnotherProcess() {
    var dashboard = PickerScene.picker([tilebuild])
    #expect(dashboard.picker?.selected == .demo)
    #expect(dashboard.text().shows("Enter starts the demo tiles"))
    #expect(dashboard.press(.enter) == [.open(.demo)])
    var hello = Scene.hello
    hello.processID = 6000
    dashboard.take(.monitor(.hello(hello)))
    #expect(dashboard.text().first?.contains("tiles[6000]  LIVE") == true)
    #expect(dashboard.text().shows("the demo's guidance"))
    dashboard.take(.monitor(.update(Scene.update)))
    #expect(dashboard.press("Xa") == [.send(.cancel([OperationReport.ID(1042)]))])
  }

  // MARK: At the start

  @Test func aDashboardWithoutASourceBeginsWithTheList() {
    var dashboard = Dashboard(configuration: .init(source: nil))
    let first = dashboard.reduce(.resized(Size(columns: 80, rows: 24)))
    #expect(first == [.findProcesses(isRequested: true)])
    #expect(dashboard.text().first?.contains("not attached") == true)
    #expect(dashboard.text().last?.hasSuffix("q Quit") == true)
    dashboard.take(.found([tilebuild, imaged]))
    #expect(dashboard.press(.enter) == [.open(.process(tilebuild.id))])
    dashboard.take(.monitor(.hello(PickerScene.hello)))
    #expect(dashboard.keyContext == .list)
    #expect(dashboard.text().first?.contains("tilebuild[4711]  ATTACHED rw  LIVE") == true)
  }

  @Test(arguments: [Input.character("q"), .key(.escape), .key(.backspace)])
  func closingThePickerQuitsOnlyWithoutAProcess(input: Input) {
    var atStart = Self.atStart()
    #expect(atStart.take(.input(input)) == [.quit])
    var later = PickerScene.picker([tilebuild])
    #expect(later.take(.input(input)) == [])
    #expect(later.keyContext == .list)
    #expect(later.text().last?.contains("q Quit") == true)
  }

  @Test func theHelpNamesTheKeysOfThePicker() {
    var dashboard = Self.atStart()
    dashboard.press("?")
    #expect(dashboard.text().shows("search for processes"))
    #expect(!dashboard.text().shows("suspend/resume the queue"))
    dashboard.press(.escape)
    #expect(dashboard.keyContext == .picker)
  }

  @Test("T28: a program's name changes only its own cells")
  func namesAreSanitised() {
    var evil = tilebuild
    evil.programName = "a\u{1B}[2J\r\n\u{202E}漢字" + String(repeating: "e\u{301}", count: 300)
    for isEmpty in [false, true] {
      if isEmpty { evil.programName = "" }
      for (columns, rows) in [(80, 24), (40, 10), (200, 60)] {
        var dashboard = PickerScene.picker([evil, imaged], columns: columns, rows: rows)
        dashboard.press(.home)
        GoldenFrame.checkCells(of: dashboard.picture())
        GoldenFrame.checkCells(of: dashboard.picture(isUnicode: false))
      }
    }
  }

  @Test(
    "The list looks like the stored picture",
    arguments: [(0, 80, 24), (1, 80, 24), (3, 80, 24), (3, 120, 40), (3, 40, 10), (0, 40, 10)])
  func looksAsStored(count: Int, columns: Int, rows: Int) {
    let choices = Array([tilebuild, imaged, oldtool].prefix(count))
    let dashboard = PickerScene.picker(choices, columns: columns, rows: rows)
    GoldenFrame.check(dashboard.picture(), named: "picker-\(count)-\(columns)x\(rows)")
  }

  @Test func asciiTheStartAndTheQuestionLookAsStored() {
    var dashboard = PickerScene.picker([tilebuild, imaged, oldtool])
    GoldenFrame.check(dashboard.picture(isUnicode: false), named: "picker-3-ascii-80x24")
    dashboard = Self.atStart()
    GoldenFrame.check(dashboard.picture(), named: "picker-start-80x24")
    dashboard = Scene.dashboard()
    dashboard.press("o")
    dashboard.take(.found([tilebuild]))
    dashboard.press(.enter)
    GoldenFrame.check(dashboard.picture(), named: "picker-question-80x24")
  }
}

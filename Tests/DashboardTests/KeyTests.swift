// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Keys")
struct KeyTests {
  private typealias ID = OperationReport.ID

  /// Returns a dashboard in a state in which every key of a context (such as the list or the tree)
  /// has an effect.
  private static func dashboard(in context: KeyContext) -> Dashboard {
    // The list needs enough rows to show finished operations, and the help needs more lines than
    // the screen has.
    var dashboard = Scene.dashboard(
      columns: 80, rows: [.help, .detail].contains(context) ? 14 : 60)
    // The key `[` selects a refresh rate between the slowest and the fastest, so that both keys for
    // the rate have an effect. The next key removes the notice.
    dashboard.press("[")
    switch context {
    case .list:
      dashboard.press("jjjjjjjjj  ")
      dashboard.press(.right)
      dashboard.press("/4")
      dashboard.press(.enter)
      // The key `w` opens a window, so that Esc has an effect: it closes the window.
      dashboard.press("w")
    case .tree:
      dashboard.press("jjjjjjjjjj")
      dashboard.press("D ")
    case .queues:
      dashboard.take(.input(.alt("3")))
      dashboard.press("j")
    case .timeline:
      dashboard = timelineDashboard()
    case .events:
      dashboard = HistoryScene.dashboard(columns: 80, rows: 24)
      dashboard.press("[")
      dashboard.take(.input(.alt("5")))
      HistoryScene.report(&dashboard)
      dashboard.press("kkk")
    case .detail:
      dashboard.press("jj 1180")
      dashboard.press(.enter)
      dashboard.press(.enter)
      dashboard.press("jj")
    case .log:
      dashboard = Self.logDashboard()
    case .warnings:
      let warning = MonitorWarning(kind: .slotDeadlock, operations: [ID(1042)], queue: Scene.io)
      dashboard = WarningListTests.dashboard(Array(repeating: warning, count: 40))
      dashboard.press("[!jjjjjjjj")
    case .picker:
      dashboard.press("o")
      dashboard.take(.found(PickerScene.choices(40)))
      dashboard.press("jjjjj")
    case .help:
      dashboard.press("?jj")
    case .question:
      dashboard.press("1077")
      dashboard.press(.enter)
      dashboard.press("x")
    case .queue, .groups, .setup: return Self.viewDashboard(in: context)
    }
    return dashboard
  }

  /// Returns a dashboard in the queue screen, the groups or the setup.
  private static func viewDashboard(in context: KeyContext) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: 80, rows: 60)
    dashboard.press("[")
    if context == .queue {
      dashboard.take(.input(.alt("3")))
      dashboard.press(.enter)
      dashboard.press(" k")
    } else {
      dashboard.take(.input(context == .groups ? .character("v") : .function(2)))
      if context == .setup {
        // A column with a width and with neighbors is selected, so that all keys have an effect.
        dashboard.press(.tab)
        dashboard.press("jjjj+")
      }
      if context == .groups { dashboard.press("j") }
    }
    return dashboard
  }

  private static func timelineDashboard() -> Dashboard {
    var dashboard = HistoryScene.dashboard(columns: 80, rows: 16)
    dashboard.press("[")
    dashboard.take(.input(.alt("4")))
    HistoryScene.report(&dashboard)
    // The run of the operation 1042 is selected. Its slot has an earlier and a later run, and the operation can
    // still be cancelled.
    var update = Scene.update
    update.runs = runsAroundOperation
    dashboard.take(.monitor(.update(update)))
    dashboard.press("jjjh")
    return dashboard
  }

  /// The runs of ``HistoryScene``, and a run that follows that of the operation 1042.
  private static var runsAroundOperation: RecentRuns {
    var runs = HistoryScene.runs.runs
    for index in runs.indices where runs[index].id == ID(1042) {
      runs[index].finished = Scene.seconds(100)
    }
    runs.append(
      OperationRun(
        id: ID(1500), title: "next", queue: Scene.io, state: .executing,
        started: Scene.seconds(101)))
    return RecentRuns(runs: runs, count: runs.count)
  }

  private static func logDashboard() -> Dashboard {
    // The second of three attempts, so that the keys for both other attempts have an effect.
    var scene = OutputScene(Array(repeating: OutputScene.lines(0..<50), count: 3), rows: 14)
    scene.press("[L")
    scene.press("</line")
    scene.press(.enter)
    scene.press("gjjjjjjjjjjjjjjjj")
    return scene.dashboard
  }

  @Test(
    "Each key of the table has an effect in each of its contexts",
    arguments: KeyContext.allCases)
  func eachKeyOfTheTableIsHandled(context: KeyContext) {
    let unused = Self.dashboard(in: context)
    #expect(unused.keyContext == context)
    let before = unused.picture()
    // The process of the scene cannot retry jobs, and cannot hold operations. The keys for this have their own tests.
    let others: [KeyAction] = [.command(.retry), .command(.hold), .command(.release)]
    for binding in KeyTable.bindings
    where binding.contexts.contains(context) && !others.contains(binding.action) {
      // The keys that select a view are left out, because the key of the current view has no
      // effect.
      for input in binding.inputs where binding.action != .screen(.showView) {
        var dashboard = unused
        let effects = dashboard.take(.input(input))
        #expect(
          !effects.isEmpty || dashboard.picture() != before,
          "\(binding.label) (\(input)) does nothing in \(context)")
        #expect(!effects.contains(.bell), "\(binding.label) (\(input)) is refused in \(context)")
      }
    }
  }

  @Test func keysAreUniqueInEachContext() {
    for context in KeyContext.allCases {
      let inputs = KeyTable.bindings.filter { $0.contexts.contains(context) }.flatMap(\.inputs)
      #expect(Set(inputs).count == inputs.count, "\(context)")
    }
  }

  @Test func footersNameOnlyKeysOfTheTable() {
    for (context, keys) in [(KeyContext.list, ""), (.tree, "t"), (.help, "?")] {
      var dashboard = Scene.dashboard(columns: 200, rows: 40)
      dashboard.press(keys)
      let footer = dashboard.text().last ?? ""
      let named = footer.split(separator: "  ").map { $0.split(separator: " ").first ?? "" }
      let known = KeyTable.bindings.filter { $0.contexts.contains(context) }.map(\.footerKey)
      #expect(!named.isEmpty)
      for key in named { #expect(known.contains(String(key)), "\(key) in \(context)") }
    }
  }

  @Test func everyFooterKeyIsTheFirstOfItsBinding() {
    for binding in KeyTable.bindings where !binding.footerKey.isEmpty {
      #expect(binding.label.hasPrefix(binding.footerKey), "\(binding.label)")
    }
  }

  @Test("The help of each view names all its keys", arguments: ["", "t", "\t\t"])
  func theHelpNamesEveryBinding(keys: String) {
    var dashboard = Scene.dashboard(columns: 80, rows: 60)
    for key in keys {
      if key == "\t" { dashboard.press(.tab) } else { dashboard.press(String(key)) }
    }
    let context = dashboard.keyContext
    dashboard.press("?")
    for binding in KeyTable.bindings
    where !binding.contexts.isDisjoint(with: [context, .help, .question])
      && dashboard.offers(binding)
    {
      #expect(dashboard.text().shows(binding.label), "\(binding.label)")
      #expect(dashboard.text().shows(binding.help), "\(binding.help) is cut")
    }
  }

  @Test func theHelpFitsAScreenOf120By40() {
    var dashboard = Scene.dashboard(columns: 120, rows: 40)
    dashboard.press("?")
    #expect(!dashboard.text().shows("j k scroll"))
  }

  @Test func qClosesTheTopLayerAndQuitsAtTheRoot() {
    var dashboard = Scene.dashboard()
    dashboard.press("t?")
    #expect(dashboard.press("q") == [])
    #expect(dashboard.keyContext == .tree)
    #expect(dashboard.press("q") == [])
    #expect(dashboard.keyContext == .list)
    #expect(dashboard.press("q") == [.quit])
  }

  @Test func escapeNeverQuits() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.press(.escape) == [])
    #expect(dashboard.press(.backspace) == [])
  }

  @Test(
    "Quitting at once works in every context",
    arguments: ["", "t", "?", "x", "X", "12", "s"],
    [Input.character("Q"), .control("c"), .function(10)])
  func quitWorksEverywhere(keys: String, input: Input) {
    var dashboard = Scene.dashboard()
    dashboard.press(keys)
    let expected: Effect = input == .control("c") ? .interrupt : .quit
    #expect(dashboard.take(.input(input)) == [expected])
  }

  @Test func suspendingAndRepaintingAreEffects() {
    var dashboard = Scene.dashboard()
    #expect(dashboard.take(.input(.control("z"))) == [.suspendProgram])
    #expect(dashboard.take(.input(.control("l"))) == [.repaint])
  }

  @Test("T41: pasted text is never interpreted as commands")
  func pastedTextRunsNoCommand() {
    var dashboard = Scene.dashboard()
    let before = dashboard.picture()
    dashboard.take(.input(.paste("xy\nQ")))
    #expect(dashboard.picture() == before)
  }

  @Test func aPageHasTheHeightOfTheList() {
    var dashboard = Scene.dashboard()
    let order = dashboard.list.rows.keys.map(\.id)
    let height = dashboard.pageHeight
    dashboard.press(.pageDown)
    #expect(dashboard.list.selection.id == order[height])
    dashboard.take(.input(.control("u")))
    #expect(dashboard.list.selection.id == order[height - height / 2])
    dashboard.press("G")
    #expect(dashboard.list.selection.id == order.last)
    dashboard.press(.pageDown)
    #expect(dashboard.list.selection.id == order.last)
    dashboard.press(.home)
    #expect(dashboard.list.selection.id == order.first)
    dashboard.press("k")
    #expect(dashboard.list.selection.id == order.first)
  }

  @Test func digitsGoToAnOperationOnEnter() {
    var dashboard = Scene.dashboard()
    dashboard.press("11810")
    dashboard.press(.backspace)
    #expect(dashboard.text().shows("go to #1181"))
    dashboard.press(.enter)
    #expect(dashboard.list.selection.id == ID(1181))
    #expect(dashboard.keyContext == .list)
  }

  @Test func digitsGoToAnOperationAfterASecond() {
    var dashboard = Scene.dashboard()
    dashboard.press("1181")
    let moment = dashboard.nextTick(after: Scene.now)
    #expect(moment == Scene.now + .seconds(1))
    dashboard.take(.tick(Scene.now + .milliseconds(999)))
    #expect(dashboard.list.selection.id == ID(1042))
    dashboard.take(.tick(Scene.now + .seconds(1)))
    #expect(dashboard.list.selection.id == ID(1181))
  }

  @Test func aNumberWithoutAnOperationIsShownAsUnknown() {
    var dashboard = Scene.dashboard()
    dashboard.press("99999999999999999999999")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation has the number 999"))
    #expect(dashboard.list.selection.id == ID(1042))
  }

  @Test func hidingFinishedOperationsKeepsTheOthers() {
    var dashboard = Scene.dashboard(columns: 80, rows: 80)
    #expect(dashboard.text().shows("resample slope"))
    dashboard.press("H")
    #expect(!dashboard.text().shows("resample slope"))
    #expect(dashboard.text().shows("publish index"))
    dashboard.press("1078")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("#1078 is finished and hidden; press H to show it"))
  }

  @Test func theMetersCanBeHidden() {
    var dashboard = Scene.dashboard()
    let height = dashboard.pageHeight
    dashboard.press("#")
    #expect(dashboard.pageHeight == height + 4)
    #expect(dashboard.text()[1].contains("OPERATION"))
  }

  @Test func messagesStayUntilTheNextKeyOrForFiveSeconds() {
    var dashboard = Scene.dashboard()
    func answer() -> Message {
      .monitor(
        .commandResult(CommandResult(command: .cancel([ID(1042)]), outcomes: [.alreadyFinished])))
    }
    dashboard.take(answer())
    #expect(dashboard.text().shows("#1042 download tiles z=14 eu had already finished"))
    dashboard.take(.tick(Scene.now + .milliseconds(4_999)))
    #expect(dashboard.text().shows("had already finished"))
    dashboard.take(.tick(Scene.now + .seconds(5)))
    #expect(!dashboard.text().shows("had already finished"))
    dashboard.take(answer())
    dashboard.press("j")
    #expect(!dashboard.text().shows("had already finished"))
  }
}

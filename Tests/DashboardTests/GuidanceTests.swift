// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the texts that guide a new user, on a screen of 80x24.
@Suite("Guidance")
struct GuidanceTests {
  private typealias ID = OperationReport.ID

  @Test func theFooterOf80ColumnsHasEightKeys() {
    #expect(
      Scene.dashboard().text().last
        == " ? Help  t Tree  b Blocker  \\ Filter  Space Tag  x Cancel  X By key  q Quit")
  }

  @Test("The footer does not depend on the selection", arguments: [(40, 12), (80, 24), (200, 60)])
  func theFooterDoesNotMove(columns: Int, rows: Int) {
    for keys in ["", "t", "D"] {
      var dashboard = Scene.dashboard(columns: columns, rows: rows)
      dashboard.press(keys)
      let footer = dashboard.text().last
      #expect(footer?.hasPrefix(" ? Help  ") == true)
      for _ in 0..<12 {
        dashboard.press("j")
        #expect(dashboard.text().last == footer)
      }
      // A suspended queue changes nothing either.
      var update = Scene.update
      for index in update.queues.indices { update.queues[index].isSuspended.toggle() }
      dashboard.take(.monitor(.update(update)))
      #expect(dashboard.text().last == footer)
    }
  }

  @Test("The key S is in the footer of the queues, with a fixed width", arguments: [80, 120])
  func theFooterOfTheQueuesDoesNotMove(columns: Int) {
    var dashboard = Scene.dashboard(columns: columns, rows: 24)
    #expect(dashboard.text().last?.contains("Suspend") == false)
    dashboard.take(.input(.alt("3")))
    let footer = dashboard.text().last ?? ""
    #expect(footer.contains("  S Suspend  - Narrower  + Wider  "))
    dashboard.press("jj")
    #expect(dashboard.text().last == footer.replacing("S Suspend", with: "S Resume "))
  }

  @Test(
    "The first hint stays until the first key",
    arguments: [
      (80, "j/k choose · x cancel · X + letter cancels that row · t tree · ? help"),
      (40, "j/k choose · x cancel · t tree · ? help"),
    ])
  func theFirstHintStays(columns: Int, hint: String) {
    var dashboard = Scene.dashboard(columns: columns, rows: 24)
    for seconds in [0, 30, 3_600] {
      dashboard.take(.tick(Scene.now + .seconds(seconds)))
      dashboard.take(.monitor(.update(Scene.update)))
      #expect(dashboard.text()[22] == " \(hint)")
    }
    dashboard.press("j")
    #expect(!dashboard.text().shows("choose"))
  }

  @Test(
    "A warning that the header counts replaces the first hint, also of a demo",
    arguments: ["", "look here, press S"])
  func aWarningReplacesTheFirstHint(guidance: String) {
    let configuration = Dashboard.Configuration(title: "tiles", guidance: guidance)
    var dashboard = Scene.dashboard(configuration: configuration)
    let hint = dashboard.text()[22]
    func report(_ warnings: [MonitorWarning]) -> String {
      var update = Scene.update
      update.warnings = warnings
      dashboard.take(.monitor(.update(update)))
      return dashboard.text()[22]
    }
    let suspended = MonitorWarning(kind: .suspendedWithReady, queue: Scene.net, count: 12)
    #expect(report([suspended]).hasPrefix(" ! net is suspended (12 held)"))
    let stuck = MonitorWarning(
      kind: .cancelNotHonoured, operations: [ID(1077)], since: Scene.seconds(90))
    #expect(report([stuck]).hasPrefix(" ! #1077 "))
    // A banner shows a deadlock.
    #expect(report([MonitorWarning(kind: .cycle, operations: [ID(1180), ID(1181)])]) == hint)
    #expect(report([]) == hint)
  }

  @Test func theFirstHintNamesOnlyKeysThatWork() {
    let readOnly = Scene.dashboard(configuration: .init(isReadOnly: true))
    #expect(readOnly.text()[22] == " j/k choose · t tree · ? help")
    #expect(readOnly.text(isUnicode: false)[22] == " j/k choose | t tree | ? help")
  }

  @Test(
    "The first hint names only keys of the view",
    arguments: [
      (DashboardSettings.View.tree, "x cancel · X + letter cancels that row · t list"),
      (.queues, "Enter open"), (.timeline, "x cancel"), (.events, "x cancel"),
      (.kinds, "Enter filter"),
    ])
  func theFirstHintNamesKeysOfTheView(view: DashboardSettings.View, keys: String) {
    var settings = DashboardSettings()
    settings.view = view
    let dashboard = Scene.dashboard(configuration: .init(settings: settings))
    #expect(dashboard.text()[22] == " j/k choose · \(keys) · ? help")
    let readOnly = Scene.dashboard(configuration: .init(isReadOnly: true, settings: settings))
    let others = keys.split(separator: " · ").filter { $0.first?.lowercased() != "x" }
    #expect(
      readOnly.text()[22]
        == " " + (["j/k choose"] + others + ["? help"]).joined(separator: " · "))
  }

  @Test func aHintOfTheDemoReplacesTheFirstHint() {
    let configuration = Dashboard.Configuration(title: "storm", guidance: "look here, press S")
    var dashboard = Scene.dashboard(configuration: configuration)
    dashboard.take(.tick(Scene.now + .seconds(60)))
    #expect(dashboard.text()[22] == " look here, press S")
    dashboard.take(.monitor(.ended(reason: "it exited")))
    #expect(dashboard.text()[22] == " ended: it exited")
    dashboard = Scene.dashboard(configuration: configuration)
    dashboard.press("j")
    #expect(!dashboard.text().shows("look here"))
  }

  @Test func theNoticeNamesTheKeysThatResumeASuspendedQueue() {
    let words = "net is suspended with 12 held operations"
    var dashboard = Scene.dashboard()
    dashboard.press("j")
    #expect(dashboard.text().shows("\(words). Press Tab twice, select net, press S."))
    dashboard.take(.input(.alt("3")))
    #expect(dashboard.text().shows("\(words). Select net, press S."))
    // The screen of another queue cannot select a queue.
    dashboard.press(.enter)
    #expect(dashboard.openQueueScreen?.queue == Scene.cpu)
    #expect(dashboard.text().shows("\(words). Press Esc, select net, press S."))
    dashboard.press("nn")
    #expect(dashboard.openQueueScreen?.queue == Scene.net)
    #expect(dashboard.text().shows("\(words). Press S to resume."))
    dashboard.press(.escape)
    #expect(dashboard.text().shows("\(words). Press S to resume."))
    dashboard.take(.input(.alt("4")))
    // In 80 columns, there is not enough space for the whole sentence about the suspended queue, so
    // the notice shortens it.
    #expect(
      dashboard.text().shows("net is suspended (12 held). Press Tab 4 times, select net, press S."))
    dashboard.take(.resized(Size(columns: 120, rows: 40)))
    #expect(dashboard.text().shows("\(words). Press Tab 4 times, select net, press S."))
    var readOnly = Scene.dashboard(configuration: .init(isReadOnly: true))
    readOnly.press("j")
    #expect(readOnly.text().shows(words) && !readOnly.text().shows("ress S"))
  }

  @Test func theNoticeOfASuspendedQueueHasTheMarkOnlyOfACountedWarning() {
    var dashboard = Scene.dashboard()
    dashboard.press("j")
    #expect(dashboard.text()[22].hasPrefix(" net is suspended with 12 held operations"))
    #expect(!dashboard.text()[0].contains("!"))
    var update = Scene.update
    update.warnings = [MonitorWarning(kind: .suspendedWithReady, queue: Scene.net, count: 12)]
    dashboard.take(.monitor(.update(update)))
    #expect(dashboard.text()[22].hasPrefix(" ! net is suspended (12 held)"))
    #expect(dashboard.text()[0].contains("! 1"))
  }

  @Test func theFiltersAreNamedOnANarrowScreen() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\")
    #expect(dashboard.text().shows("kind:Merge"))
    dashboard.press("state:exec")
    dashboard.press(.enter)
    dashboard.press("H")
    #expect(dashboard.text().shows("finished hidden, filter: state:exec"))
    dashboard.press("\\ age>1ms")
    dashboard.press(.enter)
    #expect(
      dashboard.text().contains { $0.hasSuffix("finished hidden, filter: state:exec age>1ms") })
    dashboard.press("\\ queue:nothing")
    dashboard.press(.enter)
    #expect(dashboard.text().shows("no operation matches the filter; press \\ to change it"))
    dashboard.press("\\")
    dashboard.take(.input(.control("w")))
    dashboard.press("queue:io")
    dashboard.press(.enter)
    // The dashboard cuts the text of the filter, and two spaces separate the text from the sentence
    // before it.
    #expect(
      dashboard.text().contains { $0.hasSuffix("  finished hidden, filter: state:exec age>1ms …") })
  }

  @Test func theBlockerIsShownEvenIfTheFilterHidesIt() {
    var dashboard = Scene.dashboard()
    dashboard.press("\\state:waiting")
    dashboard.press(.enter)
    dashboard.press("1101")
    dashboard.press(.enter)
    #expect(dashboard.press("b") == [])
    #expect(dashboard.detail?.id == ID(1077))
    #expect(dashboard.text().shows("#1077 resample dem"))
    dashboard.press(.escape)
    #expect(dashboard.list.selection.id == ID(1101))
  }
}

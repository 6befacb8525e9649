// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the setup, in which the user changes and saves settings.
@Suite("The setup")
struct SetupTests {
  static let sizes = [(80, 24), (120, 40), (200, 60)]

  /// Returns a dashboard whose setup is open.
  static func setup(
    columns: Int = 80, rows: Int = 24,
    configuration: Dashboard.Configuration = .init(title: "tiles")
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(
      columns: columns, rows: rows, configuration: configuration)
    dashboard.take(.input(.function(2)))
    return dashboard
  }

  @Test("SF-8: the setup shows the settings, the columns and the list", arguments: sizes)
  func theSetupHasItsFrames(columns: Int, rows: Int) {
    var dashboard = Self.setup(columns: columns, rows: rows)
    dashboard.press("jj")
    GoldenFrame.check(dashboard, named: "setup")
    dashboard.press("kk +jjj j ")
    dashboard.press(.tab)
    dashboard.press("jjj +")
    GoldenFrame.check(dashboard, named: "setup-columns")
  }

  @Test(
    "SF-8: each setting and each column can be selected on a small screen",
    arguments: [(80, 24), (40, 10)])
  func allRowsAreReachable(columns: Int, rows: Int) {
    var dashboard = Self.setup(columns: columns, rows: rows)
    for key in SetupState.keys {
      #expect(dashboard.text().contains { $0.hasPrefix("▌ \(key.rawValue)") }, "\(key)")
      dashboard.press("j")
    }
    dashboard.press(.tab)
    for name in ["automatic"] + (dashboard.setup?.order ?? []).map(\.rawValue) {
      let isSelected = dashboard.text().contains { line in
        ["▌ [x] \(name)", "▌ [ ] \(name)"].contains { line.contains($0) }
      }
      #expect(isSelected, "\(name)")
      dashboard.press("j")
    }
  }

  @Test("SF-6: F2, C, Esc and q open and close the setup")
  func theSetupOpensAndCloses() {
    var dashboard = ViewScene.dashboard()
    for (open, close) in [("C", Input.function(2)), ("C", .key(.escape)), ("C", .character("q"))] {
      dashboard.press(open)
      #expect(dashboard.keyContext == .setup)
      #expect(dashboard.take(.input(close)) == [])
      #expect(dashboard.keyContext == .list)
    }
  }

  @Test("SF-6: a changed setting has an effect at once")
  func changesHaveAnEffectAtOnce() {
    var dashboard = Self.setup()
    dashboard.press("+")
    #expect(dashboard.settings.view == .tree && dashboard.screen.view == .operations)
    dashboard.press("j-")
    #expect(dashboard.list.listing.order == SortOrder(by: .id))
    dashboard.press(" ")
    #expect(dashboard.list.listing.order == SortOrder(by: .id, isReversed: true))
    #expect(dashboard.settings.order == dashboard.list.listing.order)
    // The reversed order of a column does not reverse the order of the next one.
    dashboard.press("+")
    #expect(dashboard.list.listing.order == SortOrder())
    dashboard.press("jj++")
    #expect(dashboard.refreshInterval == .milliseconds(250))
    #expect(dashboard.press("j ") == [.setTheme(.dark)])
    #expect(dashboard.press("-") == [.setTheme(.automatic)])
    #expect(dashboard.press("j ") == [.setMouse(true)])
    #expect(dashboard.press(" ") == [.setMouse(false)])
    #expect(dashboard.press("j ") == [] && dashboard.settings.ringsBell)
    #expect(
      dashboard.unsavedSettings == [.view, .sort, .refresh, .theme, .mouse, .bell])
  }

  @Test("SF-6: Space, + and - edit the filter, and Esc restores it")
  func theFilterIsEdited() throws {
    var dashboard = Self.setup()
    dashboard.press("jj state:exec")
    #expect(dashboard.text().shows("filter: state:exec_"))
    #expect(dashboard.list.listing.filter == (try OperationFilter("state:exec")))
    dashboard.press(.enter)
    #expect(dashboard.settings.filter == (try OperationFilter("state:exec")))
    #expect(dashboard.unsavedSettings == [.filter])
    dashboard.press(" queue:io")
    dashboard.press(.escape)
    #expect(dashboard.settings.filter == (try OperationFilter("state:exec")))
    #expect(dashboard.list.listing.filter == dashboard.settings.filter)
    for key in ["+", "-"] {
      #expect(dashboard.press(key) == [])
      #expect(dashboard.text().shows("filter: state:exec_"), "\(key)")
      dashboard.press(.escape)
    }
  }

  @Test("SF-6: the setup shows the order, the filter and the rate that other keys have chosen")
  func theValuesInForceAreShown() {
    var dashboard = ViewScene.dashboard()
    dashboard.press("sn[\\upload")
    dashboard.press(.enter)
    dashboard.press("C")
    let text = dashboard.text()
    #expect(text.shows("sort      name") && text.shows("filter    upload"))
    #expect(text.shows("refresh   10/s"))
    // These values were not changed in the setup, so they are not saved.
    #expect(text.shows("All changes but view have an effect at once."))
    #expect(dashboard.press("s") == [])
    #expect(dashboard.text().shows("the setup has no unsaved changes"))
  }

  @Test("SF-7: s saves only the settings that were changed in the setup")
  func onlyChangesAreSaved() throws {
    var dashboard = Self.setup()
    dashboard.press("jjjj ")
    #expect(dashboard.text().shows("theme   * dark") && dashboard.text().shows("not saved: theme"))
    var settings = DashboardSettings()
    settings.theme = .dark
    #expect(dashboard.press("s") == [.saveSettings(settings, [.theme])])
    #expect(dashboard.text().shows("not saved: theme"))
    dashboard.take(.settingsSaved(.failed(reason: "cannot write config.yaml: No space left")))
    #expect(dashboard.text().shows("settings not saved: cannot write config.yaml: No space left"))
    dashboard.press("j")
    #expect(dashboard.text().shows("not saved: theme"))
    dashboard.take(.settingsSaved(.saved(path: "~/.config/opq/config.yaml")))
    #expect(dashboard.text().shows("settings saved in ~/.config/opq/config.yaml"))
    dashboard.press("j")
    #expect(!dashboard.text().shows("not saved"))
  }

  @Test("SF-7: s saves the values that the setup shows, also if keys of the list have changed them")
  func theShownValuesAreSaved() throws {
    var dashboard = Self.setup()
    dashboard.press("j+j state:exec")
    dashboard.press(.enter)
    dashboard.press("j+Csn[\\ upload")
    dashboard.press(.enter)
    dashboard.press("C")
    let text = dashboard.text()
    #expect(text.shows("sort    * name") && text.shows("filter  * state:exec upload"))
    var settings = DashboardSettings()
    settings.order = SortOrder(by: .name)
    settings.filter = try OperationFilter("state:exec upload")
    settings.refresh = try #require(RefreshRate(name: "4/s"))
    #expect(dashboard.press("s") == [.saveSettings(settings, [.sort, .filter, .refresh])])
  }

  @Test("SF-7: a closed setup keeps the changes that are not saved")
  func changesOutliveTheSetup() {
    var dashboard = Self.setup()
    dashboard.press("jjjjj CC")
    #expect(dashboard.unsavedSettings == [.mouse])
    #expect(dashboard.text().shows("not saved: mouse"))
  }

  @Test("SF-11: another process is watched with the changed settings")
  func anotherProcessHasTheChangedSettings() {
    var dashboard = Self.setup()
    dashboard.press("j jjj ")
    let settings = dashboard.settings
    var hello = Scene.hello
    hello.processID += 1
    dashboard.take(.monitor(.hello(hello)))
    #expect(dashboard.settings == settings && dashboard.settings.theme == .dark)
    #expect(dashboard.unsavedSettings == [.sort, .theme])
    #expect(dashboard.list.listing.order == settings.order)
  }

  @Test("SF-6: The footer of the list names the setup if it has room")
  func theFooterNamesTheSetup() {
    #expect(ViewScene.dashboard(columns: 200, rows: 60).text().shows("F2 Setup"))
    let footer = Self.setup().text().last ?? ""
    #expect(
      footer.contains("Tab Columns") && footer.contains("s Save") && footer.contains("q Back"))
  }

  @Test("SF-8: the footer has only the keys of the side with the selected row")
  func theFooterHasTheKeysOfTheSide() {
    var dashboard = Self.setup()
    let settings = dashboard.text().last ?? ""
    #expect(settings.contains("+ Next") && !settings.contains("} Down"))
    #expect(settings.contains("Tab Columns "))
    dashboard.press(.tab)
    let columns = dashboard.text().last ?? ""
    #expect(columns.contains("+ Wider") && columns.contains("} Down  { Up"))
    #expect(columns.contains("Tab Settings"))
  }

  @Test("T47: an open setup requests no ticks")
  func theSetupRequestsNoTicks() {
    var dashboard = Self.setup()
    dashboard.take(.tick(dashboard.now + .seconds(70)))
    #expect(dashboard.nextTick(after: dashboard.now) == nil)
  }

  // MARK: Columns

  /// Returns a dashboard whose setup is open, with the chooser's row of a column selected.
  private static func chooser(_ column: ColumnSetting.Column?) -> Dashboard {
    var dashboard = setup()
    dashboard.press(.tab)
    while dashboard.setup?.selectedColumn != column { dashboard.press("j") }
    return dashboard
  }

  private static let usual: [ColumnSetting.Column] = [
    .key, .id, .state, .queue, .priority, .dependencies, .time, .dependents, .name,
  ]

  @Test("SC-1: the chooser begins with the columns of the list")
  func theChooserBeginsWithTheList() {
    let dashboard = Self.chooser(nil)
    let setup = dashboard.setup
    #expect(setup?.order.prefix(9) == Self.usual[...] && setup?.shown == Set(Self.usual))
    #expect(setup?.order.count == ColumnSetting.Column.allCases.count)
    #expect(dashboard.settings.columns == nil)
  }

  @Test(
    "SC-1: the chooser begins with the columns of the list, whatever the view below the setup",
    arguments: ["1", "2", "3", "4", "5", "v", "vv", "d", "!", "N"])
  func theChooserBeginsWithTheListInEachView(keys: String) {
    var dashboard = ViewScene.dashboard(columns: 120, rows: 40)
    if let digit = keys.unicodeScalars.first, Int(keys) != nil {
      dashboard.take(.input(.alt(digit)))
    } else {
      dashboard.press(keys)
    }
    dashboard.take(.input(.function(2)))
    let expected = Self.setup(columns: 120, rows: 40).setup
    #expect(dashboard.setup?.order == expected?.order && dashboard.setup?.shown == expected?.shown)
    #expect(expected?.shown.contains(.kind) == false)
  }

  @Test("SC-1: the selected column stays selected while the columns of the list change")
  func theSelectedColumnStaysSelected() {
    var dashboard = Self.chooser(.kind)
    dashboard.take(.resized(Size(columns: 200, rows: 60)))
    #expect(dashboard.setup?.shown.contains(.kind) == true)
    #expect(dashboard.setup?.selectedColumn == .kind)
    dashboard.take(.resized(Size(columns: 80, rows: 24)))
    #expect(dashboard.setup?.selectedColumn == .kind)
  }

  @Test("SC-2: Space hides and shows a column, which keeps its place")
  func spaceHidesAColumn() {
    var dashboard = Self.chooser(.queue)
    dashboard.press(" ")
    #expect(dashboard.settings.columns?.map(\.column) == Self.usual.filter { $0 != .queue })
    #expect(dashboard.setup?.selectedColumn == .queue && dashboard.unsavedSettings == [.columns])
    dashboard.press(" ")
    #expect(dashboard.settings.columns?.map(\.column) == Self.usual)
  }

  @Test("SC-2: the list always has the name")
  func theNameIsAlwaysShown() {
    var dashboard = Self.chooser(.name)
    #expect(dashboard.press(" ") == [.bell])
    #expect(dashboard.text().shows("the list always shows the name"))
    #expect(dashboard.settings.columns == nil)
    var settings = DashboardSettings()
    settings.columns = [ColumnSetting(.id)]
    #expect(settings.columns == [ColumnSetting(.id), ColumnSetting(.name)])
  }

  @Test("SC-3: { and } move a column, also past hidden ones")
  func columnsAreMoved() {
    var dashboard = Self.chooser(.id)
    dashboard.press("}")
    #expect(
      dashboard.settings.columns?.prefix(3).map(\.column) == [.key, .state, .id])
    dashboard.press("{{")
    #expect(dashboard.settings.columns?.first?.column == .id)
    #expect(dashboard.press("{") == [.bell])
    while dashboard.setup?.selectedColumn != .error { dashboard.press("j") }
    #expect(dashboard.press("}") == [.bell])
    dashboard.press(" ")
    for _ in 0..<6 { dashboard.press("{") }
    #expect(dashboard.settings.columns?.last?.column == .name)
    #expect(dashboard.settings.columns?.dropLast().last?.column == .error)
    #expect(dashboard.setup?.selectedColumn == .error)
  }

  @Test("SC-4: + and - change the width from the shown width on, and a makes it automatic")
  func widthsAreChanged() {
    var dashboard = Self.chooser(.state)
    func width() -> Int? { dashboard.settings.columns?.first { $0.column == .state }?.width }
    dashboard.press("++-")
    #expect(width() == 11)
    #expect(dashboard.text().shows("[x] state           11"))
    for _ in 0..<60 { dashboard.press("-") }
    #expect(width() == ColumnSetting.widths.lowerBound)
    #expect(dashboard.press("-") == [.bell])
    for _ in 0..<60 { dashboard.press("+") }
    #expect(width() == ColumnSetting.widths.upperBound)
    dashboard.press("a")
    #expect(width() == nil)
    #expect(dashboard.press("a") == [.bell])
  }

  @Test("SC-5: Space in the first row switches the automatic choice on and off")
  func theChoiceIsAutomaticAgain() {
    var dashboard = Self.chooser(.queue)
    dashboard.press(" +gg")
    #expect(dashboard.settings.columns?.count == Self.usual.count - 1)
    dashboard.press(" ")
    #expect(dashboard.settings.columns == nil && dashboard.setup?.isAutomatic == true)
    #expect(dashboard.setup?.order.prefix(9) == Self.usual[...])
    dashboard.press(" ")
    #expect(dashboard.settings.columns?.map(\.column) == Self.usual)
    #expect(dashboard.settings.columns?.allSatisfy { $0.width == nil } == true)
  }

  @Test("SC-1: the chooser has the order and the widths of the settings")
  func theChooserHasTheStoredColumns() {
    var settings = DashboardSettings()
    settings.columns = [ColumnSetting(.kind, width: 12), ColumnSetting(.name), ColumnSetting(.id)]
    let dashboard = Self.setup(
      configuration: Dashboard.Configuration(title: "tiles", settings: settings))
    #expect(dashboard.setup?.order.prefix(3) == [.kind, .name, .id])
    #expect(dashboard.setup?.shown == [.kind, .name, .id])
    #expect(dashboard.setup?.columns == settings.columns)
    #expect(dashboard.text().shows("[x] kind            12"))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the settings with which a dashboard starts.
@Suite("Settings at the start")
struct SettingsStartTests {
  private static func configuration(
    remark: String = "", _ change: (inout DashboardSettings) -> Void
  ) -> Dashboard.Configuration {
    var settings = DashboardSettings()
    change(&settings)
    return Dashboard.Configuration(title: "tiles", settings: settings, settingsRemark: remark)
  }

  @Test("The first requested data have the order and the filter of the settings")
  func theFirstInterestHasOrderAndFilter() throws {
    let filter = try OperationFilter("state:exec")
    var dashboard = Dashboard(
      configuration: Self.configuration {
        $0.order = SortOrder(by: .name, isReversed: true)
        $0.filter = filter
      })
    var interests: [Interest] = []
    for message in [Message.resized(Size(columns: 80, rows: 24)), .monitor(.hello(Scene.hello))] {
      for case .watch(let interest) in dashboard.reduce(message) { interests.append(interest) }
    }
    let first = try #require(interests.first)
    #expect(first.order == SortOrder(by: .name, isReversed: true))
    #expect(first.filter == filter)
  }

  private static let views: [(DashboardSettings.View, KeyContext)] = [
    (.operations, .list), (.tree, .tree), (.queues, .queues), (.timeline, .timeline),
    (.events, .events), (.kinds, .groups),
  ]

  @Test("The dashboard shows the view of the settings first", arguments: views)
  func theViewIsThatOfTheSettings(view: DashboardSettings.View, context: KeyContext) {
    let dashboard = Scene.dashboard(configuration: Self.configuration { $0.view = view })
    #expect(dashboard.keyContext == context)
  }

  @Test("The dashboard draws at the refresh rate of the settings")
  func theRefreshRateIsThatOfTheSettings() throws {
    let rate = try #require(RefreshRate(name: "2s"))
    let dashboard = Scene.dashboard(configuration: Self.configuration { $0.refresh = rate })
    #expect(dashboard.refreshInterval == .seconds(2))
    #expect(dashboard.text()[0].contains("LIVE every 2s"))
  }

  @Test("Each rate has a name, and the name means this rate")
  func ratesHaveNames() {
    #expect(RefreshRate.names.map { RefreshRate(name: $0)?.name } == RefreshRate.names)
    #expect(RefreshRate().name == RefreshRate.names.first)
    #expect(RefreshRate(name: "3/s") == nil && RefreshRate(name: "every 2s") == nil)
  }

  @Test("A sentence about mistakes in the settings is shown for 20 seconds")
  func theRemarkIsShownForTwentySeconds() {
    let remark = "config.yaml is ignored: it has more than 64 KiB"
    var dashboard = Scene.dashboard(configuration: Self.configuration(remark: remark) { _ in })
    #expect(dashboard.text().shows(remark))
    dashboard.take(.tick(Scene.now + .milliseconds(19_999)))
    #expect(dashboard.text().shows(remark))
    dashboard.take(.tick(Scene.now + .seconds(20)))
    #expect(!dashboard.text().shows(remark))
  }

  @Test("Another process is watched with the same settings")
  func anotherProcessHasTheSameSettings() {
    let settings = Self.configuration { $0.order = SortOrder(by: .added) }
    var dashboard = Scene.dashboard(configuration: settings)
    dashboard.press("sn")
    dashboard.take(.monitor(.hello(Hello.other)))
    #expect(dashboard.settings == settings.settings)
    #expect(dashboard.list.listing.order == SortOrder(by: .added))
  }

  @Test("The dashboard says whether the settings were saved")
  func theResultOfSavingIsShown() {
    var dashboard = Scene.dashboard()
    dashboard.take(.settingsSaved(.saved(path: "~/.config/opq/config.yaml")))
    #expect(dashboard.text().shows("saved in ~/.config/opq/config.yaml"))
    dashboard.take(.settingsSaved(.failed(reason: "line 2 of config.yaml is not YAML")))
    #expect(dashboard.text().shows("not saved: line 2 of config.yaml is not YAML"))
  }
}

extension Hello {
  /// The greeting of another process.
  fileprivate static let other = Hello(
    processName: "other", processID: 4712, isReadOnly: false, anchor: Scene.now,
    anchorSecondsSince1970: 12 * 3_600, processStarted: Scene.now)
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The sentences of the help") struct HelpTests {
  /// Returns the sentences below the keys.
  private static func sentences(of dashboard: Dashboard, columns: Int) -> [String] {
    var dashboard = dashboard
    dashboard.take(.resized(Size(columns: columns, rows: 120)))
    let lines = dashboard.text()
    guard let first = lines.firstIndex(where: { $0.contains("The bar: ") }) else { return [] }
    return lines[first...].prefix { !$0.isEmpty }.map { $0 }
  }

  @Test(
    "Each sentence of the help has room in 80 columns",
    arguments: ["", "v", "t", "L", "d", "!", "o"], [1, 3, 4])
  func widths(keys: String, view: UInt32) {
    var dashboard = ViewScene.dashboard(rows: 120, configuration: .withMouse)
    dashboard.take(.replay(ReplayStatus(time: Scene.now, length: .seconds(100))))
    if view > 1 { dashboard.take(.input(.alt(Unicode.Scalar(0x30 + view) ?? "1"))) }
    dashboard.press(keys)
    dashboard.press("?")
    #expect(dashboard.screen.helpTop != nil)
    let narrow = Self.sentences(of: dashboard, columns: 80)
    #expect(narrow.count >= 7)
    #expect(narrow == Self.sentences(of: dashboard, columns: 119))
  }

  @Test("Each sentence about the setup has room in 80 columns")
  func setup() {
    var dashboard = ViewScene.dashboard(rows: 120)
    dashboard.take(.input(.function(2)))
    dashboard.press("?")
    let narrow = Self.sentences(of: dashboard, columns: 80)
    #expect(narrow.contains { $0.contains("s writes only changed settings") })
    #expect(narrow == Self.sentences(of: dashboard, columns: 119))
  }

  @Test("The help describes the mouse only if the mouse is on")
  func mouse() {
    for isOn in [true, false] {
      var dashboard = Scene.dashboard(
        rows: 120, configuration: isOn ? .withMouse : .init(title: "tiles"))
      dashboard.press("?")
      #expect(dashboard.text().shows("Mouse: a click selects") == isOn)
    }
  }
}

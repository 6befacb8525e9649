// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the setup, in which the user changes and saves settings.
@Suite("The setup")
struct SetupTests {
  static let sizes = [(80, 24), (120, 40), (200, 60)]

  static func setup(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows)
    dashboard.take(.input(.function(2)))
    return dashboard
  }

  @Test("ST-9: the setup has its golden frames", arguments: sizes)
  func theSetupHasItsFrames(columns: Int, rows: Int) {
    var dashboard = Self.setup(columns: columns, rows: rows)
    dashboard.press("jj")
    GoldenFrame.check(dashboard, named: "setup")
    dashboard.press("kk +jjj j ")
    dashboard.press(.tab)
    dashboard.press("jjj +")
    GoldenFrame.check(dashboard, named: "setup-columns")
  }
}

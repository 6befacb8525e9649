// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// The screen of a queue of ``ViewScene``.
enum QueueScene {
  /// Returns a dashboard with the screen of a queue. `keys` select the queue.
  static func dashboard(
    _ keys: String = "", columns: Int = 80, rows: Int = 24,
    configuration: Dashboard.Configuration = .init(source: .process("other"), title: "tiles")
  ) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows, configuration: configuration)
    dashboard.take(.input(.alt("3")))
    dashboard.press(keys)
    dashboard.press(.enter)
    return dashboard
  }

  /// Sends the update of the scene after a change.
  static func report(
    to dashboard: inout Dashboard, at time: MonitorTime? = nil, _ change: (inout Update) -> Void
  ) {
    var update = ViewScene.update
    update.time = time ?? dashboard.now
    change(&update)
    dashboard.take(.monitor(.update(update)))
  }
}

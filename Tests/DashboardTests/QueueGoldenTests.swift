// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The pictures of queues")
struct QueueGoldenTests {
  private static let sizes = [(80, 24), (120, 40), (200, 60)]

  private static func dashboard(_ columns: Int, _ rows: Int) -> Dashboard {
    var dashboard = ViewScene.dashboard(columns: columns, rows: rows, isFull: true)
    dashboard.take(.input(.alt("3")))
    return dashboard
  }

  @Test("The view of queues with starts and times looks as stored", arguments: sizes)
  func theViewLooksAsStored(columns: Int, rows: Int) {
    GoldenFrame.check(
      Self.dashboard(columns, rows).picture(), named: "queue-starts-\(columns)x\(rows)")
  }

  @Test("The queue screen looks as stored", arguments: sizes + [(40, 10)])
  func theScreenLooksAsStored(columns: Int, rows: Int) {
    var dashboard = Self.dashboard(columns, rows)
    dashboard.press(.enter)
    dashboard.press("jjj")
    GoldenFrame.check(dashboard, named: "queue-screen")
  }
}

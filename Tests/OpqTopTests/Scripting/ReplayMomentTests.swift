// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

@Suite struct ReplayMomentTests {
  @Test("Impossible times and numbers cause no crash", arguments: 0..<8)
  func hostileNumbers(variant: Int) throws {
    let bytes = ExportScene.hostileNumbers(variant)
    let moment = ReplayMoment(try ReplayScene.reader(bytes), at: .seconds(1))
    #expect(!moment.messages(for: .everything).isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

@Suite struct RecordedMomentTests {
  @Test("Times and numbers that cannot be true crash no question about a moment", arguments: 0..<8)
  func hostileNumbers(variant: Int) throws {
    let bytes = ExportScene.hostileNumbers(variant)
    let moment = RecordedMoment(try ReplayScene.reader(bytes), at: .seconds(1))
    #expect(!moment.messages(for: .everything).isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("The order of the next column") struct OrderTests {
  @Test(
    "CO-6: The reversed order of a column does not reverse the order of the next one",
    arguments: ["sn", ">", "<"])
  func list(keys: String) {
    var dashboard = Scene.dashboard()
    dashboard.press("I")
    let reversed = SortOrder(by: .state, isReversed: true)
    #expect(dashboard.list.listing.order == reversed)
    // The order of the present column stays the same.
    dashboard.press("ss")
    #expect(dashboard.list.listing.order == reversed)
    dashboard.press(keys)
    #expect(dashboard.list.listing.order.column != .state)
    #expect(!dashboard.list.listing.order.isReversed)
  }

  @Test(
    "GR-3: The reversed order of a column does not reverse the order of the next one",
    arguments: [">", "<"])
  func groups(key: String) {
    var dashboard = GroupScene.dashboard(by: .kind)
    dashboard.press("I")
    #expect(dashboard.groups?.order == GroupOrder(column: .unfinished, isReversed: true))
    dashboard.press(key)
    #expect(dashboard.groups?.order.column != .unfinished)
    #expect(dashboard.groups?.order.isReversed == false)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

/// Tests of the positions of operations in the run orders of their queues.
@Suite("Positions in the run order")
struct PositionTests {
  private typealias ID = OperationReport.ID

  private static func state(_ orders: [RunOrder]) -> MonitoredState {
    var state = MonitoredState()
    state.apply(.hello(Scene.hello))
    var update = Scene.update
    update.runOrders = orders
    state.apply(.update(update))
    return state
  }

  @Test("The next operation of each queue has the position 1")
  func positionsCountFromOne() {
    let state = Self.state(ViewScene.runOrders)
    #expect(state.position(of: ID(1103))?.number == 1)
    #expect(state.position(of: ID(1104))?.number == 2)
    #expect(state.position(of: ID(1110))?.queue == Scene.net)
    #expect(state.position(of: ID(1110))?.number == 1)
  }

  @Test("Executing and unknown operations have no position")
  func executingOperationsHaveNone() {
    let state = Self.state(ViewScene.runOrders)
    #expect(state.position(of: ID(1080)) == nil)
    #expect(state.position(of: ID(999_999)) == nil)
    #expect(state.runOrders[Scene.cpu]?.executing == [ID(1080), ID(1077)])
  }

  @Test("An estimated order has estimated positions")
  func estimatesAreMarked() {
    var order = ViewScene.runOrders[0]
    order.isEstimated = true
    #expect(Self.state([order]).position(of: ID(1103))?.isEstimated == true)
  }

  @Test("An update without run orders removes the positions")
  func thePositionsEndWithTheRequest() {
    var state = Self.state(ViewScene.runOrders)
    state.apply(.update(Scene.update))
    #expect(state.runOrders.isEmpty)
    #expect(state.position(of: ID(1103)) == nil)
  }

  @Test("The groups are those of the last update")
  func theGroupsAreThoseOfTheLastUpdate() {
    var state = Self.state([])
    #expect(state.groups == nil)
    state.apply(.update(ViewScene.update))
    #expect(state.groups?.groups.count == 3)
  }
}

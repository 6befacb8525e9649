// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import Dashboard

/// Tests of the parts of the screen that a view leaves out or adds.
@Suite("Parts of the screen")
struct LayoutPartsTests {
  private static let sizes = [(80, 24), (120, 40), (200, 60)]

  private static func layout(
    _ columns: Int, _ rows: Int, _ change: (inout Layout.Request) -> Void
  ) throws -> Layout {
    var request = Layout.Request(size: Size(columns: columns, rows: rows), showsMeters: true)
    change(&request)
    return try #require(Layout(request))
  }

  @Test(
    "A view that shows the queues itself gets the rows of the queues and of the graph",
    arguments: sizes)
  func aViewWithoutQueuesAboveHasMoreRows(columns: Int, rows: Int) throws {
    let full = try Self.layout(columns, rows) { _ in }
    let layout = try Self.layout(columns, rows) { ($0.wantsQueues, $0.wantsGraph) = (false, false) }
    #expect(layout.queues == nil && layout.graph == nil && layout.graphRule == nil)
    #expect(layout.rate != nil)
    let graphRows = full.graph.map { $0.count + 1 } ?? 0
    let queueRows = full.queues == nil ? 0 : 1
    #expect(layout.bodyHeight == full.bodyHeight + graphRows + queueRows)
    #expect(layout.bodyHeight > full.bodyHeight)
  }

  @Test("The position in a recording is directly below the header", arguments: sizes)
  func theReplayBarIsBelowTheHeader(columns: Int, rows: Int) throws {
    let layout = try Self.layout(columns, rows) {
      $0.hasReplayBar = true
      $0.bannerCount = 2
    }
    #expect(layout.replayBar == 1)
    #expect(layout.banners == 2..<4)
  }

  @Test("The smallest screen shows five rows of the list and no position in a recording")
  func theSmallestScreenHasNoReplayBar() throws {
    let layout = try Self.layout(40, 10) { $0.hasReplayBar = true }
    #expect(layout.replayBar == nil)
    #expect(layout.bodyHeight >= 5)
  }
}

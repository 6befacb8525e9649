// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite("Orders of the list")
struct SortOrderTests {
  private func report(
    _ id: UInt64, _ state: OperationState, started: Int64? = nil
  ) -> OperationReport {
    OperationReport(
      id: .init(id), name: "", className: "", queue: .init(1), state: state,
      started: started.map { MonitorTime(nanoseconds: $0) })
  }

  private func key(
    _ report: OperationReport, _ position: Int?, in queue: String = "cpu", isGone: Bool = false
  ) -> SortKey {
    SortKey(report, queueName: queue, by: .position, isGone: isGone, position: position)
  }

  @Test(
    "By position, executing operations come first, then the next one of each queue, then the others"
  )
  func positions() {
    let keys = [
      key(report(9, .executing, started: 1), nil), key(report(8, .executing, started: 2), 1),
      key(report(7, .cancelling), nil), key(report(6, .ready), 1, in: "cpu"),
      key(report(5, .cancelling), 1, in: "gpu"), key(report(4, .held), 1, in: "io"),
      key(report(3, .ready), 2, in: "cpu"), key(report(2, .ready), 500, in: "cpu"),
      key(report(20, .ready), nil, in: "a"), key(report(21, .held), nil),
      key(report(22, .waiting), 3), key(report(23, .ready), 1, isGone: true),
      key(report(24, .finished), 1),
    ]
    for _ in 0..<20 { #expect(keys.shuffled().sorted() == keys) }
  }

  @Test("Without positions, ready operations are in the order of states")
  func noPositions() {
    let reports = [
      report(4, .executing), report(3, .cancelling), report(2, .ready), report(1, .held),
      report(0, .waiting), report(9, .finished),
    ]
    let byState = reports.shuffled().map { SortKey($0) }.sorted().map(\.id)
    #expect(reports.shuffled().map { key($0, nil) }.sorted().map(\.id) == byState)
  }

  @Test("Only an order by position evaluates positions", arguments: SortOrder.Column.allCases)
  func otherOrders(column: SortOrder.Column) {
    let ready = report(1, .ready)
    let keys = [1, 2].map { SortKey(ready, by: column, position: $0) }
    #expect((keys[0] == keys[1]) == (column != .position))
  }

  @Test("A process receives an order that its version knows")
  func earlierVersions() {
    for column in SortOrder.Column.allCases {
      let order = SortOrder(by: column, isReversed: true)
      func sent(_ minor: UInt32) -> SortOrder {
        order.understood(by: ProtocolVersions(major: 1, minor: minor))
      }
      #expect(sent(4) == order && sent(9) == order)
      #expect(sent(3) == (column == .position ? SortOrder(by: .state, isReversed: true) : order))
      #expect(sent(1).isReversed && sent(1).column != .added && sent(1).column != .position)
    }
  }
}

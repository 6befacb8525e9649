// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCollector

@Suite struct RowOrderTests {
  private func key(_ id: Int, _ stamp: Int) -> SortKey {
    SortKey(
      OperationReport(
        id: .init(UInt64(id)), name: "", className: "", queue: QueueReport.ID(1), state: .waiting,
        added: MonitorTime(nanoseconds: Int64(stamp))))
  }

  @Test(arguments: 0..<8)
  func aRowOrderIsASortedSet(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var order = RowOrder()
    var model: Set<SortKey> = []
    for _ in 0..<6_000 {
      let key = key(
        Int.random(in: 0..<3_000, using: &random), Int.random(in: 0..<4, using: &random))
      // The test adds and removes rows at random. At first, the number of rows grows. The more rows
      // there are, the more probable a removal becomes.
      if Int.random(in: 0..<6_000, using: &random) > model.count {
        order.insert(key)
        model.insert(key)
      } else if let victim = model.first {
        order.remove(victim)
        model.remove(victim)
      }
    }
    let sorted = model.sorted()
    #expect(order.count == model.count, "seed \(seed)")
    #expect(order.prefix(.max, isReversed: false) == sorted, "seed \(seed)")
    #expect(order.prefix(100, isReversed: false) == Array(sorted.prefix(100)))
    #expect(order.prefix(100, isReversed: true) == Array(sorted.reversed().prefix(100)))
    for key in sorted { order.remove(key) }
    #expect(order.count == 0)
    #expect(order.prefix(10, isReversed: true).isEmpty)
  }

  @Test func repeatedInsertionsAndMissingRemovalsAreHarmless() {
    var order = RowOrder()
    order.remove(key(1, 1))
    order.insert(key(1, 1))
    order.insert(key(1, 1))
    order.remove(key(2, 2))
    #expect(order.count == 1)
    #expect(order.prefix(0, isReversed: false).isEmpty)
  }
}

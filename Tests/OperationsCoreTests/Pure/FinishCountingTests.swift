// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OperationsCore

@Suite("Counting of operations that leave a queue")
struct FinishCountingTests {
  @Test("Each operation is counted once, before or after it leaves")
  func once() {
    var counting = FinishCounting { _ in }
    let (early, late, lastOne) = (Operation(), Operation(), Operation())
    counting.willLeave(early)
    counting.didLeave(late)
    counting.didLeave(early)
    counting.didLeave(lastOne)
    var count = counting.takeLateCount()
    #expect(count == 2)
    count = counting.takeLateCount()
    #expect(count == 0)
  }

  @Test("An operation that finishes during its addition may leave long after it was counted")
  func outside() {
    var counting = FinishCounting { _ in }
    let operation = Operation()
    counting.willLeave(operation)
    var count = counting.takeLateCount()
    #expect(count == 0)
    counting.didLeave(operation)
    count = counting.takeLateCount()
    #expect(count == 0)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import TestSupport
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

  @Test("PG-1: a worker between two operations does not call the counter itself")
  func betweenOperations() async throws {
    try await onOwnThread {
      let threads = EventLog<Int32>()
      var monitor = QueueMonitor(queue: QueueID.next())
      monitor.finishCounting = FinishCounting { _ in threads.note(csystem_thread_id()) }
      monitor.finishCounting?.didLeave(Operation())
      let wakes = monitor.takeWakes()
      CurrentWork.betweenOperations { for wake in wakes { wake() } }
      threads.wait(for: "the call of the counter") { $0.count == 1 }
      #expect(threads.events != [csystem_thread_id()])
    }
  }
}

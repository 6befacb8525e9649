// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCollector
@testable import OperationsCore

@Suite("Delays in the report of an operation", .onOwnThread) struct DelayTests {
  private func report(of operation: Operation, in watched: WatchedQueue) -> OperationReport? {
    watched.read()
    return watched.table.report(.init(operation))
  }

  @Test("It has the end of the delay while the operation waits, and not after a cancellation")
  func cancellation() throws {
    let watched = WatchedQueue()
    watched.queue.isSuspended = true
    let operation = watched.queue.addOperation(delay: .seconds(3_600)) {}
    let waiting = try #require(report(of: operation, in: watched))
    let end = try #require(waiting.delayEnd)
    #expect(waiting.state == .waiting)
    #expect(end > .now + .seconds(3_000) && end < .now + .seconds(3_601))
    operation.cancel()
    let cancelled = try #require(report(of: operation, in: watched))
    #expect(cancelled.state == .cancelling && cancelled.delayEnd == nil)
    watched.finishAll()
    watched.stop()
  }

  @Test("It has the end of a delay that began before the queue was watched")
  func laterCollector() throws {
    let queue = OperationQueue(unlistedNamed: "watched")
    let operation = queue.addOperation(delay: .seconds(3_600)) {}
    let watched = WatchedQueue(queue)
    #expect(try #require(report(of: operation, in: watched)).delayEnd != nil)
    operation.cancel()
    watched.finishAll()
    watched.stop()
  }

  @Test("After the end of the delay, an operation that waits for a dependency has none")
  func dependency() throws {
    let watched = WatchedQueue()
    watched.fillSlot()
    let first = BlockOperation {}
    let second = BlockOperation {}
    second.addDependency(first)
    watched.queue.addOperation(first)
    watched.queue.addOperation(second, delay: .milliseconds(20))
    let hasEnded = poll(for: .seconds(Patience.seconds)) {
      second.delayLeft == nil && report(of: second, in: watched)?.delayEnd == nil
    }
    #expect(hasEnded && report(of: second, in: watched)?.state == .waiting)
    watched.finishAll()
    #expect(try #require(report(of: second, in: watched)).delayEnd == nil)
    watched.stop()
  }
}

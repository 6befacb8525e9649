// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Releasing a suspended queue")
struct QueueInvalidationTests {
  @Test("Q-8: a running operation may resume its queue, which is then released")
  func resumedFromInside() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let gate = Gate()
      do {
        let queue = NotedQueue(log)
        queue.addOperation {
          gate.pass()
          OperationQueue.current?.isSuspended = false
        }
        gate.waitForArrivals(1)
        queue.isSuspended = true
        queue.addOperation { log.note("ran") }
        queue.addBarrierBlock { log.note("barrier") }
      }
      #expect(log.events.isEmpty)
      gate.open()
      log.wait(for: "queue released")
      #expect(log.events == ["ran", "barrier", "queue released"])
    }
  }

  @Test(
    "Q-8: an invalidated queue cancels its operations, drains, and ends", arguments: [true, false])
  func invalidating(isSuspended: Bool) async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operations = [BlockOperation { log.note("ran") }, PlainSubclass { log.note("ran") }]
      do {
        let queue = NotedQueue(log)
        queue.isSuspended = isSuspended
        if !isSuspended { queue.maxConcurrentOperationCount = 0 }
        operations[1].addDependency(operations[0])
        queue.addOperations(operations, waitUntilFinished: false)
        queue.addBarrierBlock { log.note("ran") }
        queue.cancelAllAndResume()
      }
      log.wait(for: "queue released")
      #expect(log.events == ["queue released"])
      #expect(operations.allSatisfy { $0.isCancelled && $0.isFinished })
    }
  }

  @Test("Q-8: an invalidated queue stays usable; running operations continue, and the width stays")
  func usedFurther() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let gate = Gate()
      let running = BlockOperation { gate.pass() }
      queue.addOperation(running)
      gate.waitForArrivals(1)
      for _ in 0..<2 { queue.cancelAllAndResume() }
      #expect(running.isCancelled && running.isExecuting)
      let later = BlockOperation {}
      queue.addOperations([later], waitUntilFinished: true)
      #expect(!later.isCancelled && queue.maxConcurrentOperationCount == 2)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      queue.cancelAllAndResume()
      #expect(!queue.isSuspended)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Chains that go from queue to queue")
struct CrossQueueChainTests {
  @Test(
    "DE-4, DE-15: a chain to and fro between queues of any width ends, in order, and keeps no queue",
    arguments: [[-1, -1], [1, 1], [-1, 1], [1, -1, 2], [-1, -1, -1]])
  func toAndFro(widths: [Int]) async throws {
    try await onOwnThread {
      let log = EventLog<Int>()
      let probes = widths.map { _ in Monitored(0) }
      let count = Effort.scaled(20_000)
      do {
        let queues = widths.map { width in
          let queue = OperationQueue()
          queue.maxConcurrentOperationCount = width
          return queue
        }
        var last: Operation?
        for index in 0..<count {
          let operation = BlockOperation {
            log.note(index)
            probes[index % probes.count].change { $0 += 1 }
          }
          if let last { operation.addDependency(last) }
          queues[index % queues.count].addOperation(operation)
          last = operation
        }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        #expect(queues.allSatisfy { $0.operationCount == 0 })
      }
      #expect(log.events == Array(0..<count))
      #expect(probes.map(\.value).reduce(0, +) == count)
    }
  }

  @Test("Q-4: what is made ready in another queue does not wait for what this one goes on with")
  func theOtherQueueDoesNotWait() async throws {
    try await onOwnThread {
      let here = OperationQueue()
      let there = OperationQueue()
      here.isSuspended = true
      here.maxConcurrentOperationCount = 1
      let gate = Gate()
      let first = BlockOperation {}
      let second = BlockOperation { gate.pass() }
      let other = BlockOperation { gate.open() }
      other.addDependency(first)
      here.addOperations([first, second], waitUntilFinished: false)
      there.addOperation(other)
      // The worker continues with the second one, which waits for the one in the other queue.
      here.isSuspended = false
      here.waitUntilAllOperationsAreFinished()
      #expect(second.isFinished)
      // It has opened the gate, but may not be marked as finished yet.
      there.waitUntilAllOperationsAreFinished()
      #expect(other.isFinished)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import TestSupport
import Testing

@Suite("Chains across queues")
struct CrossQueueChainTests {
  @Test(
    "DE-4, DE-15: a chain between queues of any width ends in order, and retains no queue",
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

  @Test("Q-4: an operation made ready in another queue does not wait for this queue's next one")
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
      // The worker of the first queue then starts the second operation. The code of the second
      // operation waits for the operation in the other queue.
      here.isSuspended = false
      here.waitUntilAllOperationsAreFinished()
      #expect(second.isFinished)
      // The operation has opened the gate, but may not be marked as finished yet.
      there.waitUntilAllOperationsAreFinished()
      #expect(other.isFinished)
    }
  }

  @Test("Q-4, Q-5: a chain that alternates between two serial queues stays on one thread")
  func oneThread() async throws {
    try await onOwnThread {
      let log = EventLog<Int32>()
      let queues = [Self.suspendedSerialQueue(), Self.suspendedSerialQueue()]
      var last: Operation?
      let count = 1_000
      for index in 0..<count {
        let operation = BlockOperation { log.note(csystem_thread_id()) }
        if let last { operation.addDependency(last) }
        queues[index % 2].addOperation(operation)
        last = operation
      }
      for queue in queues.reversed() { queue.isSuspended = false }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      let threads = log.events
      // Other work in the pool may move the chain to another thread a few times. If the worker of a
      // finished operation did not run the operation that becomes ready, most steps would change
      // the thread.
      let changes = zip(threads, threads.dropFirst()).count { $0 != $1 }
      #expect(threads.count == count && changes < count / 10)
    }
  }

  @Test("Q-4: an operation in another queue does not wait for an observer that blocks the worker")
  func observerBlocks() async throws {
    try await onOwnThread {
      let (here, there) = (Self.suspendedSerialQueue(), Self.suspendedSerialQueue())
      let gate = Gate()
      let first = BlockOperation {}
      let other = BlockOperation { gate.open() }
      other.addDependency(first)
      let observed = BlockOperation {}
      observed.addDependency(first)
      // The worker of the first queue calls this observer after it has made the operation in the
      // other queue ready.
      let observation = observed.observe(\.isReady) { operation, _ in
        if operation.isReady { gate.pass() }
      }
      here.addOperation(first)
      there.addOperation(other)
      there.isSuspended = false
      here.isSuspended = false
      other.waitUntilFinished()
      here.waitUntilAllOperationsAreFinished()
      #expect(other.isFinished && observed.isReady)
      observation.invalidate()
    }
  }

  @Test("Q-4: an operation in another queue does not wait for an observer of the worker's queue")
  func queueObserverBlocks() async throws {
    try await onOwnThread {
      let (here, there) = (Self.suspendedSerialQueue(), Self.suspendedSerialQueue())
      let gate = Gate()
      let first = BlockOperation {}
      let other = BlockOperation { gate.open() }
      other.addDependency(first)
      here.addOperation(first)
      there.addOperation(other)
      let observation = here.observe(\.operationCount) { queue, _ in
        if queue.operationCount == 0 { gate.pass() }
      }
      there.isSuspended = false
      here.isSuspended = false
      there.waitUntilAllOperationsAreFinished()
      here.waitUntilAllOperationsAreFinished()
      #expect(other.isFinished)
      observation.invalidate()
    }
  }

  private static func suspendedSerialQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    return queue
  }
}

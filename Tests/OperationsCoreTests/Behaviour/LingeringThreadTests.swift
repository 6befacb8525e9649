// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Finished operations whose thread has not returned", .oneAtATime)
struct LingeringThreadTests {
  @Test("MX-1: a slot is free when cancel() finishes the operation while its start() blocks")
  func startThatBlocks() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let gate = Gate()
      let first = LingeringOperation { gate.pass() }
      queue.addOperation(first)
      gate.waitForArrivals(1)
      let next = BlockOperation {}
      queue.addOperation(next)
      first.cancel()
      next.waitUntilFinished()
      gate.open()
      #expect(queue.operationCount == 0)
    }
  }

  @Test(
    "MX-1: a slot is free although more threads than there are processors spin after their finish",
    arguments: [-1, 1])
  func startThatSpins(width: Int) async throws {
    try await onOwnThread(within: .seconds(60)) {
      let isOver = Flag()
      let queues = (0..<4).map { _ in
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return queue
      }
      for _ in 0..<3 {
        let begun = Monitored(0)
        let operations = queues.map { _ in
          LingeringOperation {
            begun.change { $0 += 1 }
            while !isOver.isRaised {}
          }
        }
        for (queue, operation) in zip(queues, operations) {
          queue.addOperation(operation)
          // The test adds an operation only after the previous one has begun, so that each
          // operation gets a thread.
          begun.wait(for: "start()") { $0 > 0 }
          begun.change { $0 = 0 }
          operation.cancel()
        }
        queues[0].addOperations([BlockOperation {}], waitUntilFinished: true)
      }
      isOver.raise()
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    }
  }

  @Test("MX-1: a deinit may add an operation to its queue and wait for it", arguments: [1, 2])
  func deinitThatWaits(width: Int) async throws {
    try await onOwnThread(within: .seconds(30)) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let released = Monitored(0)
      let rounds = 20
      for _ in 0..<rounds {
        queue.addOperation(WaitingInDeinit(queue) { released.change { $0 += 1 } })
        queue.addOperation {}
      }
      released.wait(for: "the deinits to return") { $0 == rounds }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "MX-1: the deinit of a dependency that only a block retains may do the same", arguments: [1, 2])
  func deinitOfDependency(width: Int) async throws {
    try await onOwnThread(within: .seconds(30)) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let released = Monitored(0)
      let rounds = 20
      for _ in 0..<rounds {
        queue.isSuspended = true
        let last = BlockOperation {}
        last.addDependency(WaitingInDeinit(queue) { released.change { $0 += 1 } }.finishedByHand())
        queue.addOperation(consume last)
        // The queue is suspended. Otherwise, the worker would start the next ready operation before
        // the `deinit` of the finished dependency runs.
        queue.addOperation {}
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      }
      released.wait(for: "the deinits to return") { $0 == rounds }
    }
  }
}

/// An operation whose `deinit` adds another operation to its queue, and waits for this operation.
private final class WaitingInDeinit: Operation, @unchecked Sendable {
  private let queue: OperationQueue
  private let released: @Sendable () -> Void

  init(_ queue: OperationQueue, released: @escaping @Sendable () -> Void) {
    self.queue = queue
    self.released = released
    super.init()
  }

  deinit {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    operation.waitUntilFinished()
    released()
  }

  func finishedByHand() -> Self {
    start()
    return self
  }
}

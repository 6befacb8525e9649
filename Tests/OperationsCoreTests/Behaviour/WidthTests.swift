// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("The width of a queue")
struct WidthTests {
  @Test(
    "F-17, MX-6: width N executes exactly N blocking operations at once", arguments: [1, 3, 100])
  func exactWidth(width: Int) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let gate = Gate()
      for _ in 0..<width + 5 { queue.addOperation { gate.pass() } }
      gate.waitForArrivals(width)
      #expect(queue.operations.count { $0.isExecuting } == width)
      #expect(gate.arrivedCount == width)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(gate.arrivedCount == width + 5)
    }
  }

  @Test("MX-5: a queue of default width gets more threads when all of its operations block")
  func defaultWidthGrows() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      for _ in 0..<64 { queue.addOperation { gate.pass() } }
      gate.waitForArrivals(64)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-1: an asynchronous operation holds its slot until it has finished")
  func asynchronousHoldsItsSlot() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let gate = Gate()
      let first = LockedAsynchronousOperation { gate.pass() }
      let second = LockedAsynchronousOperation { gate.pass() }
      queue.addOperations([first, second], waitUntilFinished: false)
      gate.waitForArrivals(1)
      #expect(first.isExecuting && !second.isExecuting && second.state == .ready)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-2, MX-4: width 0 starts nothing; raising it starts at once; lowering it stops nothing")
  func changingTheWidth() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 0
      let gate = Gate()
      for _ in 0..<6 { queue.addOperation { gate.pass() } }
      // The queue's width is 0. While another queue runs 100 operations, the threads would have
      // enough time to start an operation of this queue.
      let other = OperationQueue()
      for _ in 0..<100 { other.addOperations([BlockOperation {}], waitUntilFinished: true) }
      #expect(gate.arrivedCount == 0 && queue.operations.allSatisfy { $0.state == .ready })
      queue.maxConcurrentOperationCount = 4
      gate.waitForArrivals(4)
      queue.maxConcurrentOperationCount = 1
      #expect(queue.operations.count { $0.isExecuting } == 4)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-3: the largest width is accepted and returned")
  func widest() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = Int.max
      #expect(queue.maxConcurrentOperationCount == Int.max)
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      queue.maxConcurrentOperationCount = -1
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    }
  }

  @Test("MX-7: in a suspended queue, running operations continue, and none starts")
  func suspension() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let running = BlockOperation { gate.pass() }
      queue.addOperation(running)
      gate.waitForArrivals(1)
      queue.isSuspended = true
      let added = BlockOperation {}
      queue.addOperation(added)
      gate.open()
      running.waitUntilFinished()
      #expect(!added.isFinished && added.state == .ready && queue.operationCount == 1)
      queue.isSuspended = false
      added.waitUntilFinished()
    }
  }

  @Test("MX-6: two queues do not use each other's slots")
  func twoQueues() async throws {
    try await onOwnThread {
      let gate = Gate()
      let queues = (0..<2).map { _ in OperationQueue() }
      for queue in queues {
        queue.maxConcurrentOperationCount = 10
        for _ in 0..<12 { queue.addOperation { gate.pass() } }
      }
      gate.waitForArrivals(20)
      for queue in queues { #expect(queue.operations.count { $0.isExecuting } == 10) }
      gate.open()
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    }
  }
}

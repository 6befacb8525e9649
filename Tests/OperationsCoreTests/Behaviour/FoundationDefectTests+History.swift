// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// Tests for earlier defects of Foundation on Linux, which have been fixed there. The numbers are
/// those of reports (SR-…) and pull requests (#…).
extension FoundationDefectTests {
  @Test("SR-11621, SA-1: start by hand calls the main of a synchronous subclass")
  func mainIsCalled() {
    let log = EventLog<String>()
    let operation = PlainSubclass { log.note("main") }
    operation.start()
    #expect(log.events == ["main"] && operation.isFinished)
  }

  @Test("SR-12138, DE-1: dependencies count in each order of addition and in all queues")
  func dependenciesAreKept() async throws {
    try await onOwnThread {
      let queues = [OperationQueue(), OperationQueue()]
      for round in 0..<Effort.scaled(500) {
        let log = EventLog<Int>()
        let operations = (0..<3).map { index in PlainSubclass { log.note(index) } }
        operations[1].addDependency(operations[0])
        operations[2].addDependency(operations[1])
        for index in [[0, 1, 2], [2, 1, 0], [1, 2, 0]][round % 3] {
          queues[(round / 3 + index) % 2].addOperation(operations[index])
        }
        operations[2].waitUntilFinished()
        #expect(log.events == [0, 1, 2])
      }
    }
  }

  @Test("SR-11333, #2488, DE-1: an operation with many dependencies runs once, after all of them")
  func manyDependencies() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(100) {
        let log = EventLog<String>()
        let queue = OperationQueue()
        let last = BlockOperation { log.note("last") }
        let others = (0..<20).map { _ in BlockOperation { log.note("other") } }
        for other in others { last.addDependency(other) }
        queue.addOperations([last] + others, waitUntilFinished: true)
        #expect(log.events == Array(repeating: "other", count: 20) + ["last"])
      }
    }
  }

  @Test("SR-5361, #1538, MX-1: in a serial queue the dependent may be added before its dependency")
  func dependentFirstInASerialQueue() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      let dependency = BlockOperation { log.note("dependency") }
      let dependent = BlockOperation { log.note("dependent") }
      dependent.addDependency(dependency)
      queue.addOperation(dependent)
      queue.addOperation(dependency)
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["dependency", "dependent"])
    }
  }

  @Test("#1538, DE-19: the dependents of a cancelled operation run")
  func dependentOfACancelledOne() async throws {
    try await onOwnThread {
      for make in [{ Operation() }, { BlockOperation {} }, { LockedAsynchronousOperation() }] {
        let queue = OperationQueue()
        queue.isSuspended = true
        let log = EventLog<String>()
        let cancelled = make()
        let dependent = BlockOperation { log.note("dependent") }
        dependent.addDependency(cancelled)
        queue.addOperations([cancelled, dependent], waitUntilFinished: false)
        cancelled.cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == ["dependent"])
      }
    }
  }

  @Test("#1858, MX-6: 1,000 operations in a queue of width 2 take two threads, and others run on")
  func manyInANarrowQueue() async throws {
    try await onOwnThread {
      let narrow = OperationQueue()
      narrow.maxConcurrentOperationCount = 2
      let gate = Gate()
      for _ in 0..<1_000 { narrow.addOperation { gate.pass() } }
      gate.waitForArrivals(2)
      for _ in 0..<100 {
        OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
      }
      #expect(gate.arrivedCount == 2 && narrow.operationCount == 1_000)
      gate.open()
      narrow.waitUntilAllOperationsAreFinished()
      #expect(gate.arrivedCount == 1_000)
    }
  }

  @Test("#2779, Q-7: a queue that only its operations retain is released once")
  func queueKeptByItsOperations() async throws {
    try await onOwnThread {
      let released = Monitored(0)
      let rounds = Effort.scaled(500)
      for round in 0..<rounds {
        let queue = QueueWithDeinit { released.change { $0 += 1 } }
        queue.addOperation {}
        queue.addOperation(LockedAsynchronousOperation())
        let cancelled = PlainSubclass()
        cancelled.cancel()
        queue.addOperation(cancelled)
        if round.isMultiple(of: 3) { queue.cancelAllOperations() }
        if round.isMultiple(of: 5) { queue.waitUntilAllOperationsAreFinished() }
      }
      released.wait(for: "the queues to be freed") { $0 == rounds }
    }
  }

  @Test("#2930, #2953: changing priorities while operations come and leave loses none")
  func changingPrioritiesOfALiveQueue() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      var random = SeededGenerator(seed: seed)
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let count = Monitored(0)
      var operations: [Operation] = []
      let rounds = Effort.scaled(5_000)
      for _ in 0..<rounds {
        let operation = BlockOperation { count.change { $0 += 1 } }
        operation.queuePriority = priority(using: &random)
        queue.addOperation(operation)
        operations.append(operation)
        let other = operations[Int.random(in: 0..<operations.count, using: &random)]
        other.queuePriority = priority(using: &random)
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(count.value == rounds)
    }
  }

  @Test("#1094, MQ-1: the main queue is the same living object each time")
  func mainQueue() {
    // The test has no weak reference to the main queue, which lives as long as the process:
    // AddressSanitizer would report the side table of the weak reference as a leak.
    let first = ObjectIdentifier(OperationQueue.main)
    // If the main queue had been released, some of these queues would reuse its memory.
    let others = (0..<100).map { _ in OperationQueue() }
    #expect(ObjectIdentifier(OperationQueue.main) == first)
    #expect(others.allSatisfy { $0 !== OperationQueue.main })
    #expect(OperationQueue.main.maxConcurrentOperationCount == 1)
  }

  private func priority(using random: inout SeededGenerator) -> Operation.QueuePriority {
    let all = Operation.QueuePriority.allCases
    return all[Int.random(in: 0..<all.count, using: &random)]
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
@testable import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Operations that exclude each other")
struct ExclusionTests {
  private let catalogue = MutualExclusion(name: "catalogue")

  @Test(
    "With one exclusion, one operation executes at a time, across queues and classes")
  func oneAtATime() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let crowd = Crowd()
      let queues = (0..<4).map { _ in OperationQueue() }
      queues[1].underlyingQueue = DispatchQueue(label: "exclusion", attributes: .concurrent)
      queues[2].maxConcurrentOperationCount = 1
      for index in 0..<Effort.scaled(2_000) {
        let operation =
          index % 3 == 0
          ? PlainSubclass { crowd.visit() } : BlockOperation { crowd.visit() }
        operation.exclusions = [exclusion]
        queues[index % 4].addOperation(operation)
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      #expect(crowd.visitCount == Effort.scaled(2_000) && crowd.largest == 1)
    }
  }

  @Test("With a limit of three, exactly three execute at once")
  func limit() async throws {
    let exclusion = MutualExclusion(name: "catalogue", limit: 3)
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 10
      let operations = (0..<9).map { _ in BlockOperation { gate.pass() } }
      for operation in operations { operation.exclusions = [exclusion] }
      queue.addOperations(operations, waitUntilFinished: false)
      gate.waitForArrivals(3)
      // When the operation `last` executes, the queue has chosen all other operations: three
      // execute, and the mutual exclusion has refused six.
      let last = BlockOperation {}
      last.queuePriority = .veryLow
      queue.addOperations([last], waitUntilFinished: true)
      #expect(gate.arrivedCount == 3 && operations.count { $0.isExecuting } == 3)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(gate.arrivedCount == 9)
    }
  }

  @Test("An operation that waits for an exclusion uses no slot")
  func noSlotIsTaken() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let gate = Gate()
      let holder = BlockOperation { gate.pass() }
      holder.exclusions = [exclusion]
      OperationQueue().addOperation(holder)
      gate.waitForArrivals(1)
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let excluded = BlockOperation {}
      excluded.exclusions = [exclusion]
      queue.addOperation(excluded)
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(excluded.state == .waiting && excluded.isReady)
      #expect(
        excluded.reasonsNotRunning()
          == [.excluded(exclusion, holders: [OperationReference(holder)])])
      #expect(
        excluded.reasonsNotRunning().map(\.description) == [
          "it needs the exclusion “\(exclusion)”, which \(holder.id) holds"
        ])
      gate.open()
      excluded.waitUntilFinished()
      #expect(excluded.reasonsNotRunning().isEmpty)
    }
  }

  @Test("An operation with several exclusions gets all of them, without a cycle of waits")
  func severalCategories() async throws {
    let exclusions = (0..<4).map { MutualExclusion(name: "\($0)", limit: 1 + $0 / 3) }
    try await onOwnThread {
      var generator = SeededGenerator(seed: SeededGenerator.announcedSeed())
      let crowds = exclusions.map { _ in Crowd() }
      let queues = [1, 2, 8].map { width in
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return queue
      }
      var operations: [Operation] = []
      for _ in 0..<Effort.scaled(5_000) {
        let wanted = (0..<4).filter { _ in Bool.random(using: &generator) }
        let operation = BlockOperation {
          for index in wanted { crowds[index].enter() }
          for index in wanted { crowds[index].leave() }
        }
        operation.exclusions = Set(wanted.map { exclusions[$0] })
        queues.randomElement(using: &generator)?.addOperation(operation)
        operations.append(operation)
        if Int.random(in: 0..<4, using: &generator) == 0 {
          operations.randomElement(using: &generator)?.cancel()
        }
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      for (exclusion, crowd) in zip(exclusions, crowds) {
        #expect(crowd.largest <= exclusion.limit)
      }
      #expect(operations.allSatisfy { $0.isFinished })
    }
  }

  @Test("Cancelled while it waits, it finishes early and blocks no other operation")
  func cancelled() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let operations = (0..<3).map { index in
        BlockOperation { if index == 0 { gate.pass() } }
      }
      for operation in operations { operation.exclusions = [exclusion] }
      queue.addOperation(operations[0])
      gate.waitForArrivals(1)
      queue.addOperations(Array(operations.dropFirst()), waitUntilFinished: false)
      operations[1].cancel()
      operations[1].waitUntilFinished()
      #expect(!operations[2].isFinished)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(operations[2].isFinished && !operations[2].isCancelled)
    }
  }

  @Test("An asynchronous operation holds the exclusion until it has finished")
  func asynchronous() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let gate = Gate()
      let first = LockedAsynchronousOperation { gate.pass() }
      let second = BlockOperation {}
      first.exclusions = [exclusion]
      second.exclusions = [exclusion]
      let queue = OperationQueue()
      // The first operation uses one of the two slots, so the other operations use the second slot
      // one after the other.
      queue.maxConcurrentOperationCount = 2
      queue.addOperation(first)
      gate.waitForArrivals(1)
      queue.addOperation(second)
      let third = BlockOperation {}
      third.queuePriority = .low
      queue.addOperations([third], waitUntilFinished: true)
      #expect(!second.isFinished && second.state == .waiting)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(second.isFinished)
    }
  }

  @Test("Its own isReady and its dependencies come first: until then it excludes no operation")
  func readinessComesFirst() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let queue = OperationQueue()
      let dependency = Operation()
      let dependent = BlockOperation {}
      let flagged = FlaggedOperation()
      let free = BlockOperation {}
      dependent.addDependency(dependency)
      for operation in [dependent, flagged, free] { operation.exclusions = [exclusion] }
      queue.addOperations([dependent, flagged], waitUntilFinished: false)
      queue.addOperations([free], waitUntilFinished: true)
      #expect(!dependent.isFinished && !flagged.isFinished)
      #expect(flagged.reasonsNotRunning() == [.notReadyByItself])
      flagged.allow()
      dependency.start()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Set after the queue has chosen it, it has no effect; without a queue it excludes nothing")
  func tooLateAndByHand() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let gate = Gate()
      let running = BlockOperation { gate.pass() }
      let queue = OperationQueue()
      queue.addOperation(running)
      gate.waitForArrivals(1)
      running.exclusions = [exclusion]
      #expect(running.exclusions.isEmpty)
      let byHand = PlainSubclass {
        let other = BlockOperation {}
        other.exclusions = [exclusion]
        queue.addOperations([other], waitUntilFinished: true)
      }
      byHand.exclusions = [exclusion]
      #expect(byHand.exclusions == [exclusion])
      byHand.start()
      #expect(byHand.isFinished)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("While it waits in line, its exclusions do not change")
  func setWhileItWaits() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let holder = BlockOperation { gate.pass() }
      holder.exclusions = [exclusion]
      queue.addOperation(holder)
      gate.waitForArrivals(1)
      let excluded = FlaggedOperation()
      excluded.allow()
      excluded.exclusions = [exclusion]
      queue.addOperation(excluded)
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      excluded.exclusions = []
      #expect(excluded.exclusions == [exclusion])
      // The call of `allow()` announces a change of `isReady`. The queue then chooses the operation
      // again, and the mutual exclusion refuses it again.
      excluded.allow()
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(excluded.state == .waiting)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "An operation that waits for the first of two exclusions does not keep the second from others")
  func nestedInOrder() async throws {
    let first = MutualExclusion(name: "1")
    let second = MutualExclusion(name: "2")
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let inner = BlockOperation {}
      inner.exclusions = [second]
      let outer = BlockOperation {
        gate.pass()
        queue.addOperations([inner], waitUntilFinished: true)
      }
      outer.exclusions = [first]
      queue.addOperation(outer)
      gate.waitForArrivals(1)
      let both = BlockOperation {}
      both.exclusions = [first, second]
      queue.addOperation(both)
      // The operation that is added here executes in the slot that the waiting operation has
      // returned.
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(inner.isFinished && outer.isFinished && both.isFinished)
    }
  }

  @Test(
    "DE-8: waiting inside for an operation with the same exclusion is a deadlock")
  func stuck() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let inner = BlockOperation {}
      inner.exclusions = [exclusion]
      let outer = BlockOperation { queue.addOperations([inner], waitUntilFinished: true) }
      outer.exclusions = [exclusion]
      queue.addOperation(outer)
      // Waits until the inner operation waits for the mutual exclusion, and the outer operation,
      // which holds the exclusion, waits for the inner operation.
      var deadlocks: [OperationDeadlock] = []
      for _ in 0..<100_000 where deadlocks.isEmpty {
        deadlocks = queue.deadlocks()
        sched_yield()
      }
      #expect(deadlocks.count == 1, "\(deadlocks)")
      inner.cancel()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Finished operations are released with their exclusions")
  func released() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let log = EventLog<Int>()
      let queue = OperationQueue()
      for index in 0..<50 {
        let operation = PlainSubclass(atDeinit: { log.note(index) })
        operation.exclusions = [exclusion]
        queue.addOperation(operation)
      }
      log.wait(forCount: 50)
    }
  }
}

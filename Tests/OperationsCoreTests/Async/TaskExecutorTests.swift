// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Queues as executors of tasks", .timeLimit(.minutes(5)))
struct TaskExecutorTests {
  @Test(
    "D-23: a queue executes as many blocking async functions at once as its width",
    arguments: [2, 4, 64])
  func blockingBodies(width: Int) async throws {
    let queue = OperationQueue(name: "wide", maxConcurrentOperationCount: width)
    let arrivals = Atomic(0)
    let most = Atomic(0)
    let gate = Gate()
    let operations = (0..<3 * width).map { number in
      AsyncOperation {
        // Half of the functions block their thread before they are suspended, and half block it after that.
        if number.isMultiple(of: 2) { await Task.yield() }
        let count = arrivals.wrappingAdd(1, ordering: .relaxed).newValue
        var known = most.load(ordering: .relaxed)
        while known < count {
          (_, known) = most.compareExchange(expected: known, desired: count, ordering: .relaxed)
        }
        gate.pass()
        arrivals.wrappingSubtract(1, ordering: .relaxed)
      }
    }
    queue.addOperations(operations)
    try await onOwnThread {
      gate.waitForArrivals(width)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(most.load(ordering: .relaxed) == width)
  }

  @Test("The work and its child tasks run on threads of the queue, which have its name")
  func threadNames() async throws {
    let queue = OperationQueue(name: "mine")
    let names = queue.addAsyncOperation {
      var names = [ownThreadName()]
      await Task.yield()
      names.append(ownThreadName())
      async let child = ownThreadName()
      return await names + [child]
    }
    #expect(try await names.value == ["opq-mine", "opq-mine", "opq-mine"])
  }

  @Test("Tasks of the executor take no slot, and run in a suspended queue of width 0")
  func tasksTakeNoSlot() async throws {
    let queue = OperationQueue(name: "idle", maxConcurrentOperationCount: 0)
    queue.isSuspended = true
    let (name, current) = await withTaskExecutorPreference(queue.taskExecutor) {
      await Task.yield()
      return (ownThreadName(), OperationQueue.current)
    }
    #expect(name == "opq-idle" && current == queue)
    #expect(queue.operationCount == 0 && queue.snapshot().counts.total == 0)
  }

  @Test("Tasks of the executor run after the queue has been released, and have no current queue")
  func releasedQueue() async throws {
    let log = EventLog<String>()
    let executor = { () -> any TaskExecutor in NotedQueue(log).taskExecutor }()
    log.wait(for: "queue released")
    let task = Task(executorPreference: executor) { (OperationQueue.current, Operation.current) }
    let (queue, operation) = await task.value
    #expect(queue == nil && operation == nil)
  }

  @Test("Q-8: the work of a started operation continues if its queue is suspended and has width 0")
  func startedWorkContinues() async throws {
    let (queue, gate) = (OperationQueue(name: "left"), AsyncGate())
    let operation = queue.addAsyncOperation {
      let before = ownThreadName()
      await gate.pass()
      return [before, ownThreadName()]
    }
    gate.waitForArrivals(1)
    queue.isSuspended = true
    queue.maxConcurrentOperationCount = 0
    gate.open()
    #expect(try await operation.value == ["opq-left", "opq-left"])
  }

  @Test(
    "Q-8: the work of a started operation continues if the last reference to its queue is released")
  func workInReleasedQueue() async throws {
    let (log, gate) = (EventLog<String>(), AsyncGate())
    let operation = { () -> AsyncOperation<[String]> in
      let queue = NotedQueue(log)
      queue.name = "gone"
      return queue.addAsyncOperation {
        let before = ownThreadName()
        await gate.pass()
        return [before, ownThreadName()]
      }
    }()
    gate.waitForArrivals(1)
    gate.open()
    #expect(try await operation.value == ["opq-gone", "opq-gone"])
    log.wait(for: "queue released")
  }

  @Test("With an underlying queue, the work runs on that dispatch queue")
  func underlyingQueue() async throws {
    let key = DispatchSpecificKey<Int>()
    let dispatchQueue = DispatchQueue(label: "underlying")
    dispatchQueue.setSpecific(key: key, value: 7)
    let queue = OperationQueue()
    queue.underlyingQueue = dispatchQueue
    let values = queue.addAsyncOperation {
      var values = [DispatchQueue.getSpecific(key: key)]
      await Task.yield()
      values.append(DispatchQueue.getSpecific(key: key))
      return values
    }
    #expect(try await values.value == [7, 7])
  }

  @Test("deadlocks() finds an operation that awaits another one in a queue of width 1")
  func deadlock() async throws {
    let queue = OperationQueue(name: "narrow", maxConcurrentOperationCount: 1)
    let inner = AsyncOperation { 1 }
    let outer = queue.addAsyncOperation { try await inner.value }
    queue.addOperation(inner)
    try await onOwnThread {
      #expect(poll(for: .seconds(60)) { !queue.deadlocks().isEmpty })
      let deadlock = try #require(queue.deadlocks().first)
      #expect(deadlock.operations.first?.id == outer.id)
      queue.maxConcurrentOperationCount = 2
    }
    #expect(try await outer.value == 1)
    #expect(queue.deadlocks().isEmpty)
  }

  @Test(
    "deadlocks() ignores the waits of child tasks, because the operation may continue without them")
  func childWaits() async throws {
    let queue = OperationQueue(name: "narrow", maxConcurrentOperationCount: 1)
    let (inner, gate) = (AsyncOperation { 1 }, AsyncGate())
    let outer = queue.addAsyncOperation {
      async let value = inner.value
      await gate.pass()
      queue.maxConcurrentOperationCount = 2
      return try await value
    }
    queue.addOperation(inner)
    gate.waitForArrivals(1)
    #expect(poll(for: .seconds(60)) { inner.status.load(ordering: .acquiring).has(.hasWaiters) })
    #expect(queue.deadlocks().isEmpty)
    gate.open()
    #expect(try await outer.value == 1)
  }

  @Test("An operation that a task of the queue starts directly runs on the queue's threads")
  func directStart() async throws {
    let queue = OperationQueue(name: "direct")
    let outer = queue.addAsyncOperation {
      await Task.yield()
      let inner = AsyncOperation {
        await Task.yield()
        return (ownThreadName(), OperationQueue.current)
      }
      inner.start()
      let synchronous = ResultOperation { OperationQueue.current }
      synchronous.start()
      return (try await inner.value, try await synchronous.value)
    }
    let ((name, current), own) = try await outer.value
    #expect(name == "opq-direct" && current == queue && own == queue)
    let started = await Task(executorPreference: queue.taskExecutor) {
      let operation = AsyncOperation { ownThreadName() }
      operation.start()
      return operation
    }.value
    #expect(try await started.value == "opq-direct")
  }

  @Test("An operation that a completion block starts directly has no current queue")
  func startInCompletionBlock() async throws {
    let (inner, block) = (AsyncOperation { OperationQueue.current }, BlockOperation {})
    block.completionBlock = { inner.start() }
    OperationQueue().addOperation(block)
    #expect(try await inner.value == nil)
  }

  @Test(
    "WA-5: after an await too, an operation that blocks until itself or its queue has finished is a misuse"
  )
  func selfWait() async throws {
    let queue = OperationQueue()
    let operation = queue.addAsyncOperation {
      await Task.yield()
      return OperationMisuse.catching { blockForOwnWork() }.map(\.kind)
    }
    #expect(try await operation.value == [.waitOnSelf, .waitInsideOwnQueue])
  }

  @Test("SA-1: random resumptions, cancellations and widths finish every operation once")
  func stress() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(200) {
      let queue = OperationQueue(
        name: "stress", maxConcurrentOperationCount: Int.random(in: 1...8, using: &random))
      let ended = Atomic(0)
      let count = Int.random(in: 1...200, using: &random)
      let operations = (0..<count).map { number in
        AsyncOperation {
          for _ in 0..<number % 4 { await Task.yield() }
          if number % 7 == 0 { usleep(50) }
          ended.wrappingAdd(1, ordering: .relaxed)
        }
      }
      queue.addOperations(operations)
      let cancelled = operations.filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
      for operation in cancelled { operation.cancel() }
      if Bool.random(using: &random) { queue.isSuspended = true }
      queue.maxConcurrentOperationCount = Int.random(in: 1...8, using: &random)
      queue.isSuspended = false
      await queue.waitUntilAllOperationsAreFinished()
      #expect(operations.allSatisfy { $0.isFinished && $0.result != nil })
      #expect(ended.load(ordering: .relaxed) >= count - cancelled.count)
    }
  }
}

/// Blocks until the current operation, and then its queue, has finished.
private func blockForOwnWork() {
  Operation.current?.waitUntilFinished()
  OperationQueue.current?.waitUntilAllOperationsAreFinished()
}

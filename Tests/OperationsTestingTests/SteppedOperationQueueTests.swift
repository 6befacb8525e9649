// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import OperationsTesting
import TestSupport
import Testing

@Suite("The queue that a test steps", .timeLimit(.minutes(5)))
struct SteppedOperationQueueTests {
  private final class Box<Value: Sendable>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private static func named(_ name: String, _ log: EventLog<String>) -> BlockOperation {
    let operation = BlockOperation { log.note(name) }
    operation.name = name
    return operation
  }

  @Test("Nothing starts without a step, and a step starts one operation on the calling thread")
  func steps() {
    let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
    let operations = ["a", "b"].map { Self.named($0, log) }
    queue.addOperations(operations)
    #expect(queue.readyOperations == operations && log.events.isEmpty)
    #expect(operations[0].reasonsNotRunning().description.contains("a step of its test"))
    #expect(queue.step() == .started(operations[0]))
    #expect(log.events == ["a"] && operations[0].isFinished && queue.operations == [operations[1]])
    #expect(queue.step() == .started(operations[1]) && queue.step() == nil)
    #expect(queue.operationCount == 0 && queue.snapshot().counts.finished == 2)
  }

  @Test("A block runs inside its operation and its queue")
  func current() {
    let queue = SteppedOperationQueue()
    let found = Box<(OperationQueue?, Operation?)>((nil, nil))
    let operation = BlockOperation { found.value = (OperationQueue.current, Operation.current) }
    queue.addOperation(operation)
    queue.step()
    #expect(found.value.0 === queue && found.value.1 === operation)
  }

  @Test("The test chooses an operation, if it can start")
  func chosen() {
    let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
    let operations = ["a", "b", "c"].map { Self.named($0, log) }
    operations[2].addDependency(operations[0])
    queue.addOperations(operations)
    #expect(!queue.step(operations[2]) && !queue.step(BlockOperation {}))
    #expect(queue.step(operations[1]) && !queue.step(operations[1]))
    #expect(queue.step(operations[0]) && queue.readyOperations == [operations[2]])
    #expect(queue.step(operations[2]))
    #expect(log.events == ["b", "a", "c"])
  }

  @Test("The queue's order is that of priorities, dependencies and barriers")
  func queueOrder() {
    let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
    let operations = ["low", "normal", "high"].map { Self.named($0, log) }
    operations[0].queuePriority = .low
    operations[2].queuePriority = .high
    queue.addOperations(operations)
    queue.addBarrierBlock { log.note("barrier") }
    queue.addOperation(Self.named("behind", log))
    let started = queue.runAll()
    #expect(log.events == ["high", "normal", "low", "barrier", "behind"])
    #expect(
      started.count == 5 && started.prefix(3) == [operations[2], operations[1], operations[0]])
  }

  @Test("A suspended queue, and a full one, make no steps")
  func restraints() {
    let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
    queue.addOperation(Self.named("a", log))
    queue.isSuspended = true
    #expect(queue.readyOperations.isEmpty && queue.step() == nil)
    queue.isSuspended = false
    queue.maxConcurrentOperationCount = 0
    #expect(queue.readyOperations.isEmpty && queue.step() == nil)
    queue.maxConcurrentOperationCount = 1
    #expect(queue.runAll().count == 1)
  }

  @Test("A seed determines the order, and other seeds give other orders")
  func seeds() {
    func order(_ seed: UInt64) -> [String] {
      let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
      for number in 0..<8 { queue.addOperation(Self.named("\(number)", log)) }
      queue.runAll(order: .seeded(seed))
      return log.events
    }
    for seed in 0..<20 as Range<UInt64> { #expect(order(seed) == order(seed)) }
    #expect(Set((0..<20).map(order)).count > 15)
    #expect(order(1).sorted() == (0..<8).map(String.init))
    #expect(OperationStepOrder.seeded(7).description == "the order of the seed 7")
  }

  @Test("Every order of independent operations comes with some seed, and no impossible one")
  func allOrders() {
    var orders: Set<[String]> = []
    for seed in 0..<200 as Range<UInt64> {
      let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
      let operations = ["a", "b", "c"].map { Self.named($0, log) }
      operations[2].addDependency(operations[0])
      queue.addOperations(operations)
      queue.runAll(order: .seeded(seed))
      orders.insert(log.events)
    }
    #expect(orders == [["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]])
  }

  @Test("An asynchronous operation runs until it awaits something, and continues in later steps")
  func asynchronous() async throws {
    let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
    let operations = ["a", "b"].map { (name: String) in
      AsyncOperation(name: name) {
        log.note("\(name)1")
        await Task.yield()
        log.note("\(name)2")
        return name
      }
    }
    queue.addOperations(operations)
    #expect(queue.step() == .started(operations[0]) && log.events == ["a1"])
    #expect(operations[0].isExecuting && queue.resumedTaskCount == 1)
    #expect(queue.step(operations[1]) && queue.resumedTaskCount == 2)
    // A task may change its executor between two parts, which takes a step of its own.
    while log.events.count < 3 { #expect(queue.step() == .continued) }
    #expect(log.events == ["a1", "b1", "a2"])
    queue.runAll()
    #expect(log.events == ["a1", "b1", "a2", "b2"])
    #expect(try await operations[1].value == "b")
  }

  @Test("Operations that await each other's values finish in every order")
  func values() async throws {
    for seed in 0..<50 as Range<UInt64> {
      let queue = SteppedOperationQueue()
      let first = queue.addAsyncOperation {
        await Task.yield()
        return 20
      }
      let second = queue.addAsyncOperation { try await first.value + 1 }
      let sum = queue.addAsyncOperation(after: first, second) { $0 + $1 }
      await queue.runUntilEmpty(order: .seeded(seed))
      #expect(try await sum.value == 41, "seed \(seed)")
    }
  }

  @Test("Retries, delays and limits run with a test clock, without waiting")
  func clocks() async throws {
    struct AttemptError: Error {}
    let (queue, clock, log) = (SteppedOperationQueue(), TestClock(), EventLog<Int>())
    queue.startLimit = OperationStartLimit(1, per: .seconds(10), clock: clock)
    let retry = RetryOperation(maximumAttempts: 3, delay: { _ in .seconds(5) }, clock: clock) {
      attempt in
      AsyncOperation {
        log.note(attempt)
        if attempt < 3 { throw AttemptError() }
        return attempt
      }
    }
    queue.addOperation(retry, delay: .seconds(60), clock: clock)
    #expect(queue.step() == nil)
    clock.advance(by: .seconds(60))
    let running = Task { await queue.runUntilEmpty() }
    await clock.run(untilFinished: retry)
    #expect(try await retry.value == 3)
    #expect(await running.value == [retry])
    #expect(log.events == [1, 2, 3] && clock.now.offset >= .seconds(70))
  }

  @Test("A time limit of the test clock ends work that takes too long")
  func timeout() async {
    let (queue, clock) = (SteppedOperationQueue(), TestClock())
    let operation = TimeoutOperation(after: .seconds(1), clock: clock) {
      AsyncOperation { try await TestClock().sleep(for: .seconds(1)) }
    }
    queue.addOperation(operation)
    let running = Task { await queue.runUntilEmpty() }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    await #expect(throws: OperationTimeoutError.self) { try await operation.value }
    #expect(await running.value == [operation])
  }

  @Test("A delay that ends makes a step possible")
  func delay() async {
    let (queue, clock, log) = (SteppedOperationQueue(), TestClock(), EventLog<String>())
    queue.addOperation(delay: .seconds(5), clock: clock) { log.note("delayed") }
    #expect(queue.readyOperations.isEmpty)
    clock.advance(by: .seconds(5))
    await queue.waitUntilReady()
    #expect(queue.runAll().count == 1 && log.events == ["delayed"])
  }

  @Test("A limit of starts limits the steps")
  func limit() async {
    let (queue, clock) = (SteppedOperationQueue(), TestClock())
    queue.startLimit = OperationStartLimit(2, clock: clock)
    for _ in 0..<3 { queue.addOperation {} }
    #expect(queue.runAll().count == 2 && queue.readyOperations.isEmpty)
    clock.advance(by: .seconds(1))
    await queue.waitUntilReady()
    #expect(queue.runAll().count == 1)
  }

  @Test("Exclusions apply between operations of several queues")
  func exclusions() async {
    let exclusion = MutualExclusion(name: "file")
    let (queue, other) = (SteppedOperationQueue(), SteppedOperationQueue())
    let first = AsyncOperation { await Task.yield() }
    let second = BlockOperation {}
    first.exclusions = [exclusion]
    second.exclusions = [exclusion]
    queue.addOperation(first)
    other.addOperation(second)
    queue.step()
    #expect(other.step() == nil && other.runAll().isEmpty)
    #expect(first.isExecuting && !second.isFinished)
    queue.runAll()
    #expect(await other.runUntilEmpty() == [second])
    #expect(second.isFinished)
  }

  @Test("An operation that turns out not to be ready is not reported as started")
  func unready() async {
    let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
    let unready = UnreadyOperation()
    unready.queuePriority = .high
    let other = Self.named("other", log)
    queue.addOperations([unready, other])
    #expect(queue.readyOperations == [unready, other])
    unready.isDoubtful.change { $0 = true }
    #expect(queue.step() == .started(other))
    #expect(queue.step() == nil && !queue.step(unready) && log.events == ["other"])
    unready.isDoubtful.change { $0 = false }
    unready.didChangeValue(forKey: "isReady")
    await queue.waitUntilReady()
    unready.isDoubtful.change { $0 = true }
    #expect(!queue.step(unready) && unready.state == .waiting)
    unready.isDoubtful.change { $0 = false }
    unready.didChangeValue(forKey: "isReady")
    #expect(await queue.runUntilEmpty() == [unready])
  }

  @Test("A barrier that is due starts, even if a test has added a dependency to it")
  func barrierWithDependency() {
    let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
    queue.addBarrierBlock { log.note("barrier") }
    queue.addOperation(Self.named("behind", log))
    let barrier = queue.readyOperations[0]
    barrier.addDependency(BlockOperation {})
    #expect(queue.step() == .started(barrier) && queue.snapshot().counts.executing == 0)
    queue.runAll()
    #expect(log.events == ["barrier", "behind"] && queue.operationCount == 0)
  }

  @Test("Cancelled operations finish in a step without running")
  func cancellation() {
    let queue = SteppedOperationQueue()
    for _ in 0..<3 { queue.addOperation { Issue.record("It ran") } }
    queue.addBarrierBlock { Issue.record("The barrier ran") }
    queue.cancelAllOperations()
    queue.runAll(order: .seeded(3))
    #expect(queue.operationCount == 0 && queue.snapshot().counts.cancelled == 3)
  }

  @Test("Waiting for the queue, and for added operations, makes the steps")
  func waits() async throws {
    try await onOwnThread {
      let (queue, log) = (SteppedOperationQueue(), EventLog<String>())
      queue.addOperation(Self.named("a", log))
      queue.addOperations([Self.named("b", log)], waitUntilFinished: true)
      #expect(log.events == ["a", "b"])
      queue.addOperation(Self.named("c", log))
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["a", "b", "c"])
    }
  }

  @Test("It is released with its last operation")
  func release() {
    weak var released: SteppedOperationQueue?
    do {
      let queue = SteppedOperationQueue()
      released = queue
      queue.addOperation {}
      queue.runAll()
    }
    #expect(released == nil)
  }
}

/// An operation whose `isReady` a test can make `false`, without an announcement.
private final class UnreadyOperation: Operation, @unchecked Sendable {
  let isDoubtful = Monitored(false)
  override var isReady: Bool { super.isReady && !isDoubtful.value }
}

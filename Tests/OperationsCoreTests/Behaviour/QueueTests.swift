// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("A queue")
struct QueueTests {
  @Test("Q-1: a new queue's properties")
  func newQueue() {
    let queue = OperationQueue()
    #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
    #expect(!queue.isSuspended && queue.operationCount == 0 && queue.operations.isEmpty)
    #expect(queue.name?.isEmpty == false && queue.qualityOfService == .default)
  }

  @Test("Q-2, MX-10: operations run on other threads, where their queue is the current one")
  func runsElsewhere() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<Bool>()
      let block: @Sendable () -> Void = {
        log.note(OperationQueue.current === queue)
        // If the thread that adds the operation also ran it, the thread would wait for a gate that
        // it opens only later.
      }
      let gate = Gate()
      let several = BlockOperation(block: block)
      several.addExecutionBlock(block)
      several.addExecutionBlock(block)
      queue.addOperation { gate.pass() }
      queue.addOperation(PlainSubclass(work: block))
      queue.addOperation(several)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [true, true, true, true] && OperationQueue.current == nil)
    }
  }

  @Test(
    "Q-2, D-6: an asynchronous operation is started on another thread like any other")
  func asynchronousElsewhere() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let operation = SelfDeclaredAsynchronous { gate.pass() }
      queue.addOperation(operation)
      // If the thread that adds the operation also ran it, this thread would wait at the gate and
      // would not reach the next call.
      gate.waitForArrivals(1)
      #expect(operation.isExecuting)
      gate.open()
      operation.waitUntilFinished()
    }
  }

  @Test("Q-6: a block becomes a BlockOperation, of the queue's quality of service")
  func blocks() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let log = EventLog<QualityOfService>()
      queue.addOperation { log.note(.current) }
      queue.qualityOfService = .utility
      queue.addOperation { log.note(.current) }
      queue.addBarrierBlock { log.note(.current) }
      #expect(queue.operations.count { $0 is BlockOperation } == 2)
      #expect(queue.operations.map(\.qualityOfService) == [.default, .utility])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [.utility, .utility, .utility], "the first block has no quality")
    }
  }

  @Test("SR-2569, Q-5: a batch is added in one step: its priorities decide even with one slot")
  func batchOrder() async throws {
    try await onOwnThread {
      for _ in 0..<200 {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let log = EventLog<Operation.QueuePriority>()
        let operations = [.veryLow, .low, .normal, .high, .veryHigh].map {
          (priority: Operation.QueuePriority) in
          let operation = BlockOperation { log.note(priority) }
          operation.queuePriority = priority
          return operation
        }
        queue.addOperations(operations.shuffled(), waitUntilFinished: true)
        #expect(log.events == [.veryHigh, .high, .normal, .low, .veryLow])
      }
    }
  }

  @Test("Q-5: waitUntilFinished waits for the batch alone")
  func batchWait() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      queue.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      queue.addOperations([BlockOperation {}, PlainSubclass()], waitUntilFinished: true)
      #expect(queue.operationCount == 1)
      queue.addOperations([], waitUntilFinished: true)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Q-7, Q-9: operations lists the unfinished operations, in the order of addition")
  func listing() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operations = (0..<10).map { _ in BlockOperation {} }
      operations[3].queuePriority = .veryHigh
      for operation in operations { queue.addOperation(operation) }
      #expect(queue.operations == operations && queue.operationCount == 10)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.operations.isEmpty && queue.operationCount == 0)
    }
  }

  @Test(
    "SR-8582, Q-12: waiting for all includes later and asynchronous operations")
  func waitUntilAllOperationsAreFinished() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      queue.addOperation {
        queue.addOperation(
          LockedAsynchronousOperation {
            log.note("asynchronous")
            queue.addOperation { log.note("last") }
          })
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["asynchronous", "last"])
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Q-12, MX-7: waiting for a suspended queue lasts until it is resumed")
  func waitWhileSuspended() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      queue.isSuspended = true
      queue.addOperation { log.note("ran") }
      startThread {
        queue.waitUntilAllOperationsAreFinished()
        log.note("waited")
      }
      #expect(queue.operationCount == 1 && log.events.isEmpty)
      queue.isSuspended = false
      log.wait(for: "waited")
      #expect(log.events == ["ran", "waited"])
    }
  }

  @Test("Q-13: the name can be set and reset")
  func name() {
    let queue = OperationQueue()
    let original = queue.name
    queue.name = "thumbnails"
    #expect(queue.name == "thumbnails")
    queue.name = nil
    #expect(queue.name == original)
    queue.qualityOfService = .background
    #expect(queue.qualityOfService == .background)
  }

  @Test("Q-13: a thread has the name of its queue, or the queue's number")
  func threadNames() async throws {
    try await onOwnThread {
      let names = ["thumbnails", "something far too long for a thread", "", nil]
      for (name, expected) in zip(names, ["opq-thumbnails", "opq-something f"] + [nil, nil]) {
        let queue = OperationQueue()
        queue.name = name
        let log = EventLog<String>()
        queue.addOperation { log.note(ownThreadName()) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == [expected ?? "opq-\(queue.id.rawValue)"])
      }
    }
  }

  @Test("Q-13: a thread that changes between queues has the name of each, except briefly")
  func threadNamesOfAlternatingQueues() async throws {
    try await onOwnThread {
      let queues = ["here", "there"].map { name in
        let queue = OperationQueue()
        queue.name = name
        return queue
      }
      let log = EventLog<String>()
      var last: Operation?
      for index in 0..<20 {
        let operation = BlockOperation {
          usleep(1_000)
          log.note(ownThreadName())
        }
        if let last { operation.addDependency(last) }
        queues[index % 2].addOperation(operation)
        last = operation
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      // A thread keeps its previous name while it serves a queue for less than 20 µs. This can
      // happen before the first operation, so the first two names are not compared.
      let names = (0..<20).map { $0.isMultiple(of: 2) ? "opq-here" : "opq-there" }
      #expect(log.events.dropFirst(2) == names.dropFirst(2))
    }
  }

  @Test("PR-3, PR-4: the start order in a queue with one slot; priority replaces no dependency")
  func priorities() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      func make(_ name: String, _ priority: Operation.QueuePriority) -> BlockOperation {
        let operation = BlockOperation { log.note(name) }
        operation.queuePriority = priority
        queue.addOperation(operation)
        return operation
      }
      let low = make("low", .low)
      let dependent = make("dependent", .veryHigh)
      dependent.addDependency(low)
      _ = make("normal 1", .normal)
      let moved = make("moved", .normal)
      _ = make("normal 2", .normal)
      _ = make("high", .high)
      // Reading `operationCount` makes the queue process all operations before the test changes the
      // priority of one.
      #expect(queue.operationCount == 6)
      moved.queuePriority = .high
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["high", "moved", "normal 1", "normal 2", "low", "dependent"])
    }
  }

  @Test(
    "PR-1, PR-2: any number is a priority, adjusted towards normal",
    arguments: [
      (10, 8), (8, 8), (10_000, 8), (7, 4), (5, 4), (4, 4), (3, 0), (1, 0), (0, 0), (-1, 0),
      (-3, 0), (-4, -4), (-5, -4), (-7, -4), (-8, -8), (-10, -8),
    ])
  func priorityFromNumber(number: Int, expected: Int) {
    #expect(Operation.QueuePriority(rawValue: number)?.rawValue == expected)
  }

  @Test("F-11, PR-6: quality of service does not change the order")
  func qualityOfService() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<QualityOfService>()
      let levels: [QualityOfService] = [.background, .userInteractive, .utility]
      for level in levels {
        let operation = BlockOperation { log.note(level) }
        operation.qualityOfService = level
        #expect(operation.qualityOfService == level)
        queue.addOperation(operation)
      }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == levels)
    }
  }
}

private final class SelfDeclaredAsynchronous: PlainSubclass, @unchecked Sendable {
  override var isAsynchronous: Bool { true }
}

func ownThreadName() -> String {
  let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
  defer { close(file) }
  return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
    let count = read(file, buffer.baseAddress, buffer.count)
    return String(decoding: buffer.prefix(max(0, count - 1)), as: UTF8.self)
  }
}

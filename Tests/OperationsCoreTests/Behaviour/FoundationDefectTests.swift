// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// Tests for the defects of Foundation on Linux that no other test covers, one test for each
/// defect. If a defect breaks a documented rule, the test of that rule names the defect beside the
/// rule.
///
/// If a test hangs, the watchdog of `onOwnThread` makes it fail.
@Suite("Defects of Foundation on Linux", .oneAtATime)
struct FoundationDefectTests {
  @Test("F-4, DE-9: removing a dependency of a cancelled operation leaves it ready")
  func removingADependencyOfACancelledOne() async throws {
    try await onOwnThread {
      let dependency = Operation()
      let operation = Operation()
      operation.addDependency(dependency)
      operation.cancel()
      operation.removeDependency(dependency)
      #expect(operation.isReady && operation.dependencies.isEmpty)
      dependency.start()
      #expect(operation.isReady)
      OperationQueue().addOperations([operation], waitUntilFinished: true)
      #expect(operation.isFinished)
    }
  }

  @Test("F-4, DE-9: after a finished dependency is removed, it still waits for the others")
  func removingAFinishedDependency() {
    let dependencies = (0..<3).map { _ in Operation() }
    let operation = Operation()
    for dependency in dependencies { operation.addDependency(dependency) }
    dependencies[0].start()
    operation.removeDependency(dependencies[0])
    operation.removeDependency(dependencies[1])
    #expect(!operation.isReady)
    dependencies[2].start()
    #expect(operation.isReady)
  }

  @Test("F-5, DE-7: depending on itself blocks no thread, and its lock is free afterwards")
  func selfDependency() async throws {
    try await onOwnThread {
      let operation = Operation()
      let mistakes = OperationMisuse.catching { operation.addDependency(operation) }
      #expect(mistakes.map(\.kind) == [.selfDependency])
      operation.addDependency(Operation())
      #expect(operation.dependencies.count == 1)
    }
  }

  @Test("F-8: overrides are called without a lock: they may use the queue")
  func overridesUseTheQueue() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      for _ in 0..<Effort.scaled(200) {
        let dependency = BlockOperation {}
        let operation = InquisitiveOperation(queue)
        operation.addDependency(dependency)
        queue.addOperations([operation, dependency], waitUntilFinished: false)
        let cancelled = InquisitiveOperation(queue)
        cancelled.addDependency(operation)
        queue.addOperation(cancelled)
        cancelled.queuePriority = .high
        cancelled.cancel()
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.operationCount == 0)
    }
  }

  @Test("F-9, CB-3, H-5: an operation that its completion block captures is freed, queued or not")
  func completionBlockCapturesItsOperation() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for isQueued in [true, false] {
        let log = EventLog<String>()
        do {
          let operation = PlainSubclass(atDeinit: { log.note("freed") })
          operation.completionBlock = { log.note(operation.isFinished ? "finished" : "early") }
          if isQueued { queue.addOperation(operation) } else { operation.start() }
        }
        log.wait(for: "freed")
        #expect(log.events == ["finished", "freed"])
      }
    }
  }

  @Test("F-11, PR-5, PR-6: a priority set after adding counts, whatever the quality of service")
  func priorityWithQualityOfService() async throws {
    try await onOwnThread {
      for width in [1, 2] {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let gate = Gate()
        for _ in 0..<width { queue.addOperation { gate.pass() } }
        gate.waitForArrivals(width)
        let log = EventLog<Int>()
        let operations = QualityOfService.allCases.enumerated().map { index, level in
          let operation = BlockOperation { log.note(index) }
          operation.qualityOfService = level
          return operation
        }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.maxConcurrentOperationCount = 1
        operations[3].queuePriority = .veryHigh
        operations[0].queuePriority = .veryLow
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == [3, 1, 2, 4, 0])
      }
    }
  }

  @Test("F-16: every operation is counted once when it has finished")
  func countsOfFinishedOperations() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let cancelled: [Operation] = [
        BlockOperation {}, PlainSubclass(), LockedAsynchronousOperation(),
        InvocationOperation { 1 },
      ]
      let run: [Operation] = [
        BlockOperation {}, PlainSubclass(), LockedAsynchronousOperation(),
        InvocationOperation { 1 },
      ]
      queue.addOperations(cancelled + run, waitUntilFinished: false)
      for operation in cancelled { operation.cancel() }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      let counts = queue.takeChanges(for: CollectorID(), limit: 0).counts
      #expect(counts.total == 8 && counts.finished == 4 && counts.cancelled == 4)
    }
  }

  @Test("F-20: the missing members: isConcurrent, threadPriority, invocation, value by name")
  func missingMembers() throws {
    let operation = InvocationOperation { 3 }
    #expect(!operation.isConcurrent && operation.threadPriority == 0.5)
    operation.start()
    try #expect(operation.result == 3)
    #expect(operation.value(forKey: "finished") as? Bool == true)
  }

  @Test("F-21, OP-7: name, priority and completion block set and read while it runs and finishes")
  func propertiesWhileItRuns() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for _ in 0..<Effort.scaled(200) {
        let operation = PlainSubclass()
        let calls = EventLog<Int>()
        onThreads(3) { thread in
          if thread == 0 { queue.addOperation(operation) }
          for round in 0..<20 {
            operation.name = "\(thread).\(round)"
            operation.queuePriority = round.isMultiple(of: 2) ? .low : .veryHigh
            // If the operation has finished, it discards a new completion block and reports a
            // diagnostic.
            if thread == 0, !operation.isFinished { operation.completionBlock = { calls.note(1) } }
            _ = (operation.name, operation.queuePriority, operation.completionBlock)
            _ = operation.isExecuting || operation.isFinished
          }
        }
        operation.waitUntilFinished()
        #expect(calls.events.count <= 1)
      }
    }
  }

  @Test("F-22: 50,000 empty blocks complete")
  func emptyBlocks() async throws {
    try await onOwnThread {
      let count = Effort.scaled(50_000)
      let queue = OperationQueue()
      for _ in 0..<count { queue.addOperation {} }
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.takeChanges(for: CollectorID(), limit: 0).counts.finished == count)
    }
  }
}

/// An operation that reads properties of its queue whenever one of its own is read.
private final class InquisitiveOperation: Operation, @unchecked Sendable {
  private let queue: OperationQueue

  init(_ queue: OperationQueue) {
    self.queue = queue
    super.init()
  }

  override var isReady: Bool {
    useQueue()
    return super.isReady
  }

  override var isExecuting: Bool {
    useQueue()
    return super.isExecuting
  }

  override var isFinished: Bool {
    useQueue()
    return super.isFinished
  }

  override var isCancelled: Bool {
    useQueue()
    return super.isCancelled
  }

  override func willChangeValue(forKey key: String) {
    useQueue()
    super.willChangeValue(forKey: key)
  }

  override func didChangeValue(forKey key: String) {
    useQueue()
    super.didChangeValue(forKey: key)
  }

  private func useQueue() {
    _ = (queue.operationCount, queue.operations, queue.isSuspended, queue.name)
    queue.maxConcurrentOperationCount = 2
  }
}

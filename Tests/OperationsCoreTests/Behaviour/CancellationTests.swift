// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Cancellation")
struct CancellationTests {
  @Test("CA-1, CA-8: an executing operation continues, and sees the flag")
  func cancellingWhileExecuting() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let operation = BlockOperation { gate.pass() }
      queue.addOperation(operation)
      gate.waitForArrivals(1)
      operation.cancel()
      #expect(operation.isCancelled && operation.isExecuting && !operation.isFinished)
      gate.open()
      operation.waitUntilFinished()
      #expect(operation.isCancelled && operation.isFinished)
    }
  }

  @Test("CA-2, CA-3: cancelling a finished operation, or twice, has no effect")
  func cancellingLate() {
    let operation = Operation()
    operation.start()
    operation.cancel()
    #expect(!operation.isCancelled)
  }

  @Test("CA-4: an operation that waits becomes ready, and its dependencies stay listed")
  func cancellingAWaitingOne() {
    let dependency = Operation()
    let operation = Operation()
    operation.addDependency(dependency)
    #expect(!operation.isReady && operation.state == .waiting)
    operation.cancel()
    #expect(operation.isReady && operation.isCancelled)
    #expect(operation.dependencies == [dependency])
  }

  @Test("CA-6: in a queue a cancelled operation leaves without running, ahead of ready ones")
  func cancelledOnesGoFirst() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let high = BlockOperation { log.note("high") }
      high.queuePriority = .veryHigh
      let waiting = BlockOperation { log.note("waiting") }
      waiting.addDependency(Operation())
      waiting.completionBlock = { log.note("retired") }
      let gate = Gate()
      high.addExecutionBlock { gate.pass() }
      queue.addOperations([high, waiting], waitUntilFinished: false)
      waiting.cancel()
      #expect(!waiting.isFinished && queue.operationCount == 2, "MX-7: suspended retires nothing")
      queue.isSuspended = false
      waiting.waitUntilFinished()
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      log.wait(forCount: 2)
      #expect(Set(log.events) == ["high", "retired"])
    }
  }

  @Test("CA-9: cancelling a dependency does not satisfy it, finishing does")
  func cancelledDependency() {
    let dependency = Operation()
    let operation = Operation()
    operation.addDependency(dependency)
    dependency.cancel()
    #expect(!operation.isReady)
    dependency.start()
    #expect(operation.isReady)
  }

  @Test("CA-10: a dependency added after cancelling is listed and delays nothing")
  func dependencyAfterCancelling() {
    let operation = Operation()
    operation.cancel()
    operation.addDependency(Operation())
    #expect(operation.isReady && operation.dependencies.count == 1)
  }

  @Test(
    "#1229, CA-11: cancelling from inside main, a completion block and an operation of the queue")
  func cancellingFromEverywhere() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      let other = Operation()
      let blocked = BlockOperation { log.note("never") }
      blocked.addDependency(other)
      final class CancelsItself: Operation, @unchecked Sendable {
        override func main() { cancel() }
      }
      let own = CancelsItself()
      own.completionBlock = {
        blocked.cancel()
        log.note("completion")
      }
      queue.addOperation(blocked)
      queue.addOperation(own)
      log.wait(for: "completion")
      queue.waitUntilAllOperationsAreFinished()
      #expect(own.isCancelled && own.isFinished && blocked.isFinished)
      let last = BlockOperation { queue.cancelAllOperations() }
      queue.addOperation(last)
      queue.waitUntilAllOperationsAreFinished()
      #expect(last.isCancelled && log.events == ["completion"])
    }
  }

  @Test("CA-12: an override of cancel without super takes effect by its announcement")
  func cancelWithoutSuper() {
    final class OwnFlag: Operation, @unchecked Sendable {
      private let flag = Flag()
      override var isCancelled: Bool { flag.isRaised }
      override func cancel() {
        willChangeValue(forKey: "isCancelled")
        flag.raise()
        didChangeValue(forKey: "isCancelled")
      }
    }
    let operation = OwnFlag()
    operation.addDependency(Operation())
    operation.cancel()
    #expect(operation.isReady && operation.state == .ready)
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("Q-4: adding a cancelled operation is legal; it finishes without running")
  func addingACancelledOne() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      for operation in [
        BlockOperation { log.note("never") }, PlainSubclass { log.note("never") },
      ] {
        operation.addDependency(Operation())
        operation.cancel()
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.isFinished && !operation.isExecuting)
      }
      #expect(log.events.isEmpty)
    }
  }

  @Test("Q-11: cancelAllOperations cancels waiting and running operations, and removes none")
  func cancelAll() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let gate = Gate()
      let operations = (0..<5).map { _ in BlockOperation { gate.pass() } }
      queue.addOperations(operations, waitUntilFinished: false)
      gate.waitForArrivals(1)
      queue.cancelAllOperations()
      #expect(operations.allSatisfy(\.isCancelled) && queue.operationCount == 5)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(gate.arrivedCount == 1 && operations.allSatisfy(\.isFinished))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Timeouts", .timeLimit(.minutes(5)))
struct TimeoutOperationTests {
  @Test("Work that ends in time has its result, and the clock is released")
  func inTime() async throws {
    let clock = ManualClock()
    let operation = TimeoutOperation(after: .seconds(5), clock: clock) { AsyncOperation { 1 } }
    OperationQueue().addOperation(operation)
    #expect(try await operation.value == 1)
    #expect(clock.sleeperCount == 0)
  }

  @Test("Work that takes too long is cancelled, and the result is a timeout error")
  func tooLong() async throws {
    try await onOwnThread {
      let clock = ManualClock()
      let gate = AsyncGate()
      let child = Monitored<Operation?>(nil)
      let operation = TimeoutOperation(after: .seconds(5), clock: clock) {
        let operation = AsyncOperation { try await gate.passUnlessCancelled() }
        child.change { $0 = operation }
        return operation
      }
      OperationQueue().addOperation(operation)
      gate.waitForArrivals(1)
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(4))
      #expect(operation.isExecuting && child.value?.isCancelled == false)
      clock.advance(by: .seconds(1))
      operation.waitUntilFinished()
      let error = OperationTimeoutError(limit: .seconds(5))
      #expect(throws: error) { try operation.result?.get() }
      #expect(operation.error as? OperationTimeoutError == error)
      #expect(child.value?.isCancelled == true && child.value?.isFinished == true)
      #expect(child.value?.error as? OperationTimeoutError == error)
      #expect(!operation.isCancelled)
      #expect("\(error)" == "The operation has not finished within 5.0 seconds.")
    }
  }

  @Test("Work that ignores the cancellation keeps its slot, and its value is dropped")
  func ignoring() async throws {
    try await onOwnThread {
      let clock = ManualClock()
      let gate = AsyncGate()
      let isCancelled = Gate()
      let operation = TimeoutOperation(after: .seconds(5), clock: clock) {
        AsyncOperation {
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            isCancelled.open()
          }
          return 1
        }
      }
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.addOperation(operation)
      gate.waitForArrivals(1)
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(5))
      #expect(isCancelled.waitUntilOpen())
      #expect(operation.isExecuting && queue.operationCount == 1)
      gate.open()
      operation.waitUntilFinished()
      #expect(throws: OperationTimeoutError.self) { try operation.result?.get() }
    }
  }

  @Test("Time in a queue does not count")
  func timeInTheQueue() async throws {
    let clock = ManualClock()
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = TimeoutOperation(after: .seconds(5), clock: clock) { AsyncOperation { 1 } }
    queue.addOperation(operation)
    clock.advance(by: .seconds(100))
    queue.isSuspended = false
    #expect(try await operation.value == 1)
  }

  @Test("CA-8: cancelling it cancels the work, and stops the clock")
  func cancelled() async throws {
    try await onOwnThread {
      let clock = ManualClock()
      let gate = AsyncGate()
      let operation = TimeoutOperation(after: .seconds(5), clock: clock) {
        AsyncOperation { try await gate.passUnlessCancelled() }
      }
      operation.start()
      gate.waitForArrivals(1)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(throws: CancellationError.self) { try operation.result?.get() }
      #expect(clock.sleeperCount == 0 && operation.error == nil)
    }
  }

  @Test("The end of the time races the end of the work: one of them is the result")
  func timeRacesTheWork() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(500) {
        let clock = ManualClock()
        let gate = AsyncGate()
        let operation = TimeoutOperation(after: .seconds(5), clock: clock) {
          AsyncOperation {
            await gate.pass()
            return 1
          }
        }
        operation.start()
        clock.waitForSleeps(1)
        let isOpened = Gate()
        startThread {
          gate.open()
          isOpened.open()
        }
        clock.advance(by: .seconds(5))
        operation.waitUntilFinished()
        switch operation.result {
        case .success(let value): #expect(value == 1)
        case .failure(let error): #expect(error is OperationTimeoutError)
        case nil: Issue.record("No result")
        }
        #expect(isOpened.waitUntilOpen())
      }
    }
  }

  @Test("In a retry, each attempt has its own time limit, in one slot")
  func retryOfTimeouts() async throws {
    try await onOwnThread {
      let clock = ManualClock()
      let gate = AsyncGate()
      let operation = RetryOperation(maximumAttempts: 3) { attempt in
        TimeoutOperation(after: .seconds(5), clock: clock) {
          AsyncOperation {
            if attempt < 3 { try await gate.passUnlessCancelled() }
            return attempt
          }
        }
      }
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.addOperation(operation)
      for attempt in 1...2 {
        gate.waitForArrivals(attempt)
        clock.waitForSleeps(attempt)
        clock.advance(by: .seconds(5))
      }
      operation.waitUntilFinished()
      try #expect(operation.result?.get() == 3)
    }
  }
}

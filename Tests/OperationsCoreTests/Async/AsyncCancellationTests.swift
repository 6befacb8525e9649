// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("Cancelling asynchronous operations", .timeLimit(.minutes(5)))
struct AsyncCancellationTests {
  @Test("CA-8: cancelling also cancels the task, and the operation finishes when the work ends")
  func passesOn() async throws {
    try await onOwnThread {
      let gate = AsyncGate()
      let operation = OperationQueue().addAsyncOperation { try await gate.passUnlessCancelled() }
      gate.waitForArrivals(1)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(operation.isCancelled && operation.isFinished)
      #expect(throws: CancellationError.self) { try operation.result?.get() }
    }
  }

  @Test("CA-8: work that returns although it was cancelled keeps its value")
  func ignored() async throws {
    try await onOwnThread {
      let gate = AsyncGate()
      let operation = OperationQueue().addAsyncOperation {
        await gate.pass()
        return Task.isCancelled
      }
      gate.waitForArrivals(1)
      operation.cancel()
      #expect(operation.isExecuting, "The operation continues, and holds its slot")
      gate.open()
      operation.waitUntilFinished()
      try #expect(operation.result?.get() == true)
    }
  }

  @Test("CA-6, SA-2: cancelled before its start, it does not run, and leaves its queue")
  func beforeTheStart() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = queue.addAsyncOperation { Issue.record("It ran") }
    operation.cancel()
    #expect(!operation.isFinished && operation.result == nil)
    queue.isSuspended = false
    await #expect(throws: CancellationError.self) { try await operation.value }
    #expect(queue.operationCount == 0)
  }

  @Test("CA-7: cancelled outside a queue, it finishes when it is started")
  func inNoQueue() async {
    let operation = AsyncOperation { 1 }
    operation.cancel()
    #expect(!operation.isFinished)
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("CA-2: cancelling it after its finish has no effect")
  func afterTheEnd() async throws {
    let operation = AsyncOperation { 1 }
    operation.start()
    _ = try await operation.value
    operation.cancel()
    try #expect(!operation.isCancelled && operation.result?.get() == 1)
  }

  @Test(
    "CA-8, K-24: cancelled between the claim of the start and the task, the work sees it at once")
  func betweenClaimAndTask() async throws {
    for _ in 0..<Effort.scaled(500) {
      let operation = AsyncOperation { Task.isCancelled }
      let observation = operation.observe(\.isExecuting, options: .new) { operation, change in
        if change.newValue == true { operation.cancel() }
      }
      operation.start()
      #expect(try await operation.value)
      observation.invalidate()
    }
  }

  @Test("CA-11: it may cancel itself, in its work and in willFinish")
  func itself() async throws {
    final class SelfCancelling: AsyncOperation<Bool>, @unchecked Sendable {
      override func run() async throws -> Bool {
        cancel()
        return Task.isCancelled
      }
      override func willFinish(_ result: Result<Bool, any Error>) async { cancel() }
    }
    // The test has many rounds, because the task may run before the thread that creates the task
    // has stored it.
    for _ in 0..<Effort.scaled(2_000) {
      let operation = SelfCancelling()
      operation.start()
      #expect(try await operation.value)
      #expect(operation.isCancelled)
    }
  }

  @Test("CA-8: cancel races the start: a task that runs is cancelled, or the work does not run")
  func racesTheStart() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(500) {
        let gate = AsyncGate()
        let operation = AsyncOperation { try await gate.passUnlessCancelled() }
        onThreads(2) { thread in
          if thread == 0 { operation.start() } else { operation.cancel() }
        }
        // The operation waits at a gate that is never opened. If the cancellation had no effect,
        // the test would hang.
        operation.waitUntilFinished()
        #expect(throws: CancellationError.self) { try operation.result?.get() }
      }
    }
  }

  @Test("CA-2, CA-8: cancel races the end: it finishes once, and with its value")
  func racesTheEnd() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(2_000) {
        let operation = AsyncOperation { 1 }
        let finishes = Monitored(0)
        let observation = operation.observe(\.isFinished) { _, _ in finishes.change { $0 += 1 } }
        operation.start()
        operation.cancel()
        operation.waitUntilFinished()
        try #expect(operation.result?.get() == 1)
        #expect(finishes.value == 1)
        observation.invalidate()
      }
    }
  }

  @Test("CA-8: a task that begins before it is stored is suspended, and blocks no thread")
  func taskThatBeginsEarly() async {
    let task = Task {}
    var work = AsyncTask()
    // Imitates an executor that runs a job immediately, inside the call that creates the task.
    await withUnsafeContinuation { beginning in
      let isKnown = work.waitsForTask(beginning)
      #expect(!isKnown && work.task == nil)
      let suspended = work.taskWasMade(task)
      #expect(suspended != nil && work.task == task)
      suspended?.resume()
    }
    await withUnsafeContinuation { beginning in
      let isKnown = work.waitsForTask(beginning)
      #expect(isKnown)
      beginning.resume()
    }
    let suspended = work.taskWasMade(task)
    #expect(suspended == nil)
    work.end()
    #expect(work.task == nil)
  }

  @Test("CA-8: if another thread cancels it while its task is created, the work begins cancelled")
  func cancelWhileTheTaskIsMade() async throws {
    try await onOwnThread {
      let pace = Pace()
      let rounds = Effort.scaled(2_000)
      let box = Monitored<AsyncOperation<Bool>?>(nil)
      startThread {
        for round in 0..<rounds {
          pace.await(2 * round + 1)
          for _ in 0..<(round % 61) { _ = box.value }
          box.value?.cancel()
          pace.advance(to: 2 * round + 2)
        }
      }
      for round in 0..<rounds {
        let operation = AsyncOperation {
          // The work ends only after the operation is cancelled.
          while !Task.isCancelled { await Task.yield() }
          return true
        }
        box.change { $0 = operation }
        pace.advance(to: 2 * round + 1)
        operation.start()
        operation.waitUntilFinished()
        pace.await(2 * round + 2)
      }
      #expect(box.value?.isCancelled == true)
    }
  }

  @Test("CA-11: cancelAllOperations in the work of one operation cancels all of them")
  func cancelAll() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    // The queue is suspended, so that it contains all operations before one of them cancels them.
    queue.isSuspended = true
    let gate = AsyncGate()
    let operations = (0..<20).map { index in
      queue.addAsyncOperation {
        if index == 1 { queue.cancelAllOperations() }
        try await gate.passUnlessCancelled()
      }
    }
    queue.isSuspended = false
    #expect(await queue.waitUntilAllOperationsAreFinished())
    #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled })
  }
}

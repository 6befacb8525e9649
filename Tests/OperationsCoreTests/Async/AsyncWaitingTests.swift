// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("Waiting for values and for queues", .timeLimit(.minutes(5)))
struct AsyncWaitingTests {
  @Test("WA-6: cancelling a task that waits for a value does not affect the operation")
  func cancelledWait() async throws {
    let gate = AsyncGate()
    let operation = OperationQueue().addAsyncOperation {
      try await gate.passUnlessCancelled()
      return 1
    }
    let waiting = Task { try await operation.value }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(!operation.isCancelled)
    gate.open()
    #expect(try await operation.value == 1)
  }

  @Test("WA-6: many tasks get the same value")
  func manyWaiters() async throws {
    let operation = AsyncOperation { 7 }
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await operation.value } }
      group.addTask {
        operation.start()
        return 0
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == 350)
  }

  @Test("Q-12: waiting for a queue ends when it is empty, and at once if it is")
  func emptyQueue() async throws {
    let queue = OperationQueue()
    #expect(await queue.waitUntilAllOperationsAreFinished())
    for round in 0..<Effort.scaled(500) {
      let count = Monitored(0)
      for _ in 0..<round % 5 { queue.addAsyncOperation { count.change { $0 += 1 } } }
      queue.addOperation {
        queue.addBarrierBlock { count.change { $0 += 1 } }
      }
      #expect(await queue.waitUntilAllOperationsAreFinished())
      #expect(count.value == round % 5 + 1 && queue.operationCount == 0)
    }
  }

  @Test("Q-12: cancelling a task that waits for a queue does not affect the queue")
  func cancelledWaitForQueue() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = queue.addAsyncOperation { 1 }
    let other = Task { await queue.waitUntilAllOperationsAreFinished() }
    let waiting = Task { await queue.waitUntilAllOperationsAreFinished() }
    waiting.cancel()
    #expect(await waiting.value == false)
    #expect(!operation.isCancelled && queue.operationCount == 1)
    queue.isSuspended = false
    #expect(await other.value)
  }

  @Test("Q-12: cancelling races the queue's becoming empty: each wait ends once")
  func cancellingRacesEmptiness() async throws {
    let queue = OperationQueue()
    for _ in 0..<Effort.scaled(2_000) {
      queue.addOperation {}
      let waits = (0..<3).map { _ in Task { await queue.waitUntilAllOperationsAreFinished() } }
      for wait in waits.dropFirst() { wait.cancel() }
      for wait in waits.dropFirst() { _ = await wait.value }
      #expect(await waits[0].value)
    }
  }

  @Test("WA-6: a wait ends once, whichever of waking, cancelling and beginning comes first")
  func waitingTask() async {
    for _ in 0..<Effort.scaled(2_000) {
      let waiter = WaitingTask()
      let task = Task { await waiter.wait() }
      async let woken: Void = Task { waiter.wake() }.value
      task.cancel()
      _ = await task.value
      await woken
      waiter.wake()
    }
    let early = WaitingTask()
    early.wake()
    #expect(await early.wait())
  }

  @Test("WA-6: a second wait at the same time is a mistake, which would lose the first one")
  func secondWaitInOwnProcess() async {
    await #expect(processExitsWith: .failure) {
      let waiter = WaitingTask()
      async let isWoken = waiter.wait()
      async let isWokenToo = waiter.wait()
      _ = await (isWoken, isWokenToo)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

/// Tests of a subclass that is a sample in a blog post (MyAsyncOperation.swift), in situations in
/// which it hangs, crashes or runs twice with Foundation on Linux.
@Suite("The asynchronous sample in situations in which Foundation fails", .oneAtATime)
struct SampleLoopTests {
  @Test("F-1: the sample is added and awaited for 100,000 rounds, with and without a second waiter")
  func addAndWait() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let second = SecondWaiter()
      for round in 0..<Effort.scaled(100_000) {
        let operation = MyAsyncOperation()
        if round.isMultiple(of: 2) { second.wait(for: operation) }
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(queue.operationCount == 0)
      second.end()
    }
  }

  @Test(
    "F-2: cancelled ones leave a suspended queue, and the others run later", arguments: [5, 2_000])
  func cancelledInASuspendedQueue(count: Int) async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(20) {
        let log = EventLog<String>()
        let queue = OperationQueue()
        queue.isSuspended = true
        for index in 0..<count {
          let operation = MyAsyncOperation()
          operation.queuePriority = [.low, .normal, .high][index % 3]
          queue.addOperation(operation)
        }
        queue.addOperation { log.note("the last") }
        for operation in queue.operations where operation is MyAsyncOperation {
          operation.cancel()
        }
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == ["the last"])
      }
    }
  }

  @Test("F-3: finished by its cancel while a worker is about to start it, it completes once")
  func finishedWhileDispatched() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let gate = Gate()
      do {
        let probe = DeinitProbe("freed", in: log)
        let operation = FixtureClass.sampleAsynchronous.make(atStart: { gate.pass() }) {
          probe.touch()
        }
        operation.completionBlock = { log.note("completion") }
        let queue = OperationQueue()
        queue.addOperation(operation)
        gate.waitForArrivals(1)
        operation.cancel()
        #expect(queue.operationCount == 0)
        log.wait(for: "completion")
        gate.open()
      }
      log.wait(for: "freed")
      #expect(log.events == ["completion", "freed"])
    }
  }

  @Test("Q-3: an operation that its cancel has finished cannot be added: adding it traps")
  func cancelledBeforeItIsAddedInOwnProcess() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let operation = MyAsyncOperation()
      operation.cancel()
      OperationQueue().addOperation(operation)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("cannot be added"))
  }
}

/// A thread that waits for an operation at the same time as the thread of the test.
private final class SecondWaiter: Sendable {
  private struct State {
    var operation: Operation?
    var isOver = false
  }

  private let state = Monitored(State())

  init() {
    startThread { [state] in
      while true {
        state.wait(for: "the next operation", limit: 240) { $0.operation != nil || $0.isOver }
        guard let operation = state.change({ $0.operation.take() }) else { return }
        operation.waitUntilFinished()
      }
    }
  }

  /// Makes the thread wait for an operation. If the thread still waits for an older operation, it
  /// waits for the new one after that.
  func wait(for operation: Operation) { state.change { $0.operation = operation } }

  func end() { state.change { $0.isOver = true } }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Operations that continue with a result", .timeLimit(.minutes(5)))
struct ThenTests {
  private struct WorkError: Error, Equatable {}

  @Test("Each operation continues with the previous result, in any queues and order")
  func chain() async throws {
    let first = AsyncOperation { 20 }
    let second = first.then { $0 + 1 }
    let third = second.then { "\($0 * 2)" }
    OperationQueue().addOperation(third)
    OperationQueue().addOperation(second)
    OperationQueue().addOperation(first)
    #expect(try await third.value == "42")
  }

  @Test("The result of an invocation is passed on too, also Void")
  func invocation() async throws {
    let first = InvocationOperation { 20 }
    let second = first.then { $0 + 1 }
    let nothing = InvocationOperation {}
    let third = nothing.then { "done" }
    try OperationQueue().tryAddOperations([first, second, nothing, third])
    #expect(try await second.value == 21)
    #expect(try await third.value == "done")
  }

  @Test("DE-19: a failure cancels all operations that continue with the result")
  func failure() async throws {
    let first = AsyncOperation<Int> { throw WorkError() }
    let second = first.then { _ in Issue.record("It ran") }
    let third = second.then { _ in Issue.record("It ran") }
    let unrelated = AsyncOperation { 1 }
    unrelated.addDependency(first)
    try OperationQueue().tryAddOperations([first, second, third, unrelated])
    let error = await #expect(throws: OperationDependencyError.self) { try await second.value }
    #expect(error?.underlyingError is WorkError)
    await #expect(throws: OperationDependencyError.self) { try await third.value }
    #expect(second.isCancelled && third.isCancelled)
    #expect(try await unrelated.value == 1)
  }

  @Test("A failed invocation cancels the operations that continue with its result")
  func failedInvocation() async throws {
    let first = InvocationOperation<Int> { throw WorkError() }
    let second = first.then { _ in Issue.record("It ran") }
    try OperationQueue().tryAddOperations([first, second])
    await #expect(throws: OperationDependencyError.self) { try await second.value }
  }

  @Test("A cancellation, before or during the work, cancels the operations that continue")
  func cancellation() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let early = AsyncOperation { 1 }
    let afterEarly = early.then { _ in Issue.record("It ran") }
    let running = AsyncOperation {
      withUnsafeCurrentTask { $0?.cancel() }
      return 1
    }
    let afterRunning = running.then { $0 }
    try queue.tryAddOperations([early, afterEarly, running, afterRunning])
    early.cancel()
    queue.isSuspended = false
    await #expect(throws: OperationDependencyError.self) { try await afterEarly.value }
    #expect(try await afterRunning.value == 1, "Its task was cancelled, and not the operation")
  }

  @Test("One result may be passed on to many")
  func many() async throws {
    let first = AsyncOperation { 1 }
    let all = (0..<20).map { index in first.then { $0 + index } }
    try OperationQueue().tryAddOperations(all)
    first.start()
    var sum = 0
    for operation in all { sum += try await operation.value }
    #expect(sum == 20 + 190)
  }

  @Test("H-5: after its execution, the chain is released with the reference to its end")
  func released() async throws {
    let log = EventLog<String>()
    do {
      let probe = DeinitProbe("released", in: log)
      let first = AsyncOperation { probe.touch() }
      let second = first.then { probe.touch() }
      try OperationQueue().tryAddOperations([first, second])
      try await second.value
    }
    try await onOwnThread { _ = log.wait(for: "released") }
  }

  @Test("F-15, DE-15: dropping a chain of 200,000 that never ran needs no stack")
  func longChain() async throws {
    try await onOwnThread(stackSize: 512 * 1024) {
      let first = AsyncOperation { 1 }
      var last = first
      for _ in 0..<Effort.scaled(200_000) { last = last.then { $0 } }
      weak let previous = last.dependencies.first
      #expect(previous != nil)
      last = first
      #expect(previous == nil)
    }
  }

  @Test("F-15, DE-15: the same holds if closures capture dependencies")
  func longChainOfCaptures() async throws {
    try await onOwnThread(stackSize: 512 * 1024) {
      var last = AsyncOperation { 1 }
      for _ in 0..<Effort.scaled(100_000) {
        let next = AsyncOperation { [last] in try await last.value }
        next.addDependency(last)
        last = next
      }
      last = AsyncOperation { 1 }
    }
  }

  @Test("F-15, DE-15: dropping a chain of 20,000 that ran needs no stack")
  func longChainThatRan() async throws {
    try await onOwnThread(stackSize: 512 * 1024) {
      let first = AsyncOperation { 1 }
      var last = first
      let queue = OperationQueue()
      for _ in 0..<Effort.scaled(20_000) {
        let next = last.then { $0 }
        queue.addOperation(next)
        last = next
      }
      queue.addOperation(first)
      queue.waitUntilAllOperationsAreFinished()
      #expect(last.isFinished && !last.isCancelled)
      last = first
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Operations with a result", .timeLimit(.minutes(5)))
struct ResultOperationTests {
  private struct WorkError: Error, Equatable {}

  /// Waits for the value, and returns the error.
  private func error<Output>(of operation: ResultOperation<Output>) async -> (any Error)? {
    do {
      _ = try await operation.value
      return nil
    } catch {
      return error
    }
  }

  @Test("A synchronous operation has the value and the name, and runs on a thread of its queue")
  func value() async throws {
    let queue = OperationQueue(name: "own", maxConcurrentOperationCount: 2)
    #expect(queue.name == "own" && queue.maxConcurrentOperationCount == 2)
    let operation = queue.addOperation(name: "sum") {
      (1 + 1, OperationQueue.current, Operation.current?.id)
    }
    let (sum, current, own) = try await operation.value
    #expect(sum == 2 && current == queue && own == operation.id && operation.name == "sum")
    #expect(try operation.error == nil && operation.result?.get().0 == 2)
    #expect(!operation.isAsynchronous)
  }

  @Test("If the closure throws, the operation fails with this error")
  func failure() async throws {
    let queue = OperationQueue()
    let operation = queue.addOperation(name: nil) { () throws -> Int in throw WorkError() }
    #expect(await error(of: operation) is WorkError)
    #expect(operation.error is WorkError && operation.name == nil && !operation.isCancelled)
  }

  @Test("CA-7: a cancelled operation does not call its closure, and has the reason as its result")
  func cancelledBefore() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operations = (0..<2).map { number in
      queue.addOperation(name: "\(number)") { Issue.record("It ran") }
    }
    operations[0].cancel()
    operations[1].cancel(with: WorkError())
    queue.isSuspended = false
    #expect(await error(of: operations[0]) is CancellationError)
    #expect(await error(of: operations[1]) is WorkError)
  }

  @Test("A closure that throws CancellationError after a cancellation has not failed")
  func cancelledInside() async throws {
    let queue = OperationQueue()
    let (begun, go) = (Gate(), Gate())
    let operation = queue.addOperation(name: "loop") {
      begun.open()
      _ = go.waitUntilOpen()
      if Operation.current?.isCancelled == true { throw CancellationError() }
    }
    try await onOwnThread {
      _ = begun.waitUntilOpen()
      operation.cancel()
      go.open()
    }
    #expect(await error(of: operation) is CancellationError)
    #expect(operation.error == nil && operation.isCancelled)
  }

  @Test("The closure and what it captures are released before waiters continue")
  func release() async throws {
    let queue = OperationQueue()
    for isCancelled in [false, true] {
      let log = EventLog<String>()
      let operation = { () -> ResultOperation<Void> in
        let probe = DeinitProbe("released", in: log)
        return ResultOperation { probe.touch() }
      }()
      if isCancelled { operation.cancel() }
      queue.addOperation(operation)
      await operation.waitUntilFinished()
      #expect(log.events == ["released"])
    }
  }

  @Test("Started directly, it runs on the calling thread; name, priority and dependencies are set")
  func directStart() async throws {
    try await onOwnThread {
      let first = BlockOperation {}
      let operation = ResultOperation(name: "it", priority: .high, dependencies: [first]) { 3 }
      #expect(operation.name == "it" && operation.queuePriority == .high && !operation.isReady)
      first.start()
      operation.start()
      try #expect(operation.isFinished && operation.result?.get() == 3)
      let other = AsyncOperation(name: "other", priority: .low, dependencies: [operation]) { 4 }
      #expect(other.dependencies == [operation] && other.queuePriority == .low && other.isReady)
    }
  }

  @Test(
    "Retry and timeout perform synchronous operations, and the time limit is exact while all threads block"
  )
  func performed() async throws {
    let queue = OperationQueue(name: "narrow", maxConcurrentOperationCount: 1)
    let attempts = Mutex(0)
    let retry = RetryOperation(maximumAttempts: 3) { attempt in
      ResultOperation {
        attempts.withLock { $0 += 1 }
        if attempt < 3 { throw WorkError() }
        return attempt
      }
    }
    queue.addOperation(retry)
    #expect(try await retry.value == 3)
    #expect(attempts.withLock { $0 } == 3)
    let timeout = TimeoutOperation(after: .milliseconds(20)) {
      ResultOperation { while Operation.current?.isCancelled != true {} }
    }
    queue.addOperation(timeout)
    #expect(await error(of: timeout) is OperationTimeoutError)
  }

  @Test("H-6: twelve kinds of closures keep their meaning, in the language modes 5 and 6")
  func closures() throws {
    let program = """
      import OperationsCore
      final class NotSendable {}
      @discardableResult func number() -> Int { 1 }
      @discardableResult func notSendable() -> NotSendable { NotSendable() }
      func throwing() throws -> Int { 1 }
      func asynchronous() async throws -> Int { 1 }
      final class OwnQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { super.addOperation(block) }
      }
      func use(_ queue: OperationQueue, _ own: OwnQueue) throws {
        let a: Void = queue.addOperation {}
        let b: Void = queue.addOperation { number() }
        let c: Void = queue.addOperation { notSendable() }
        let d: Void = queue.addOperation { _ = number(); number() }
        let e: Void = own.addOperation { number() }
        let f: Void = queue.addOperation(BlockOperation {})
        let g: ResultOperation<Void> = queue.addOperation(name: "g") {}
        let h: ResultOperation<Int> = queue.addOperation(name: nil) { number() }
        let i: ResultOperation<Int> = queue.addOperation(name: "i") { try throwing() }
        let j: ResultOperation<Int> = queue.addOperation(name: "j") { _ = number(); return try throwing() }
        let k: AsyncOperation<Int> = queue.addAsyncOperation { try await asynchronous() }
        let l: AsyncOperation<Int> = queue.addAsyncOperation(name: "l") { try throwing() }
        _ = (a, b, c, d, e, f, g, h, i, j, k, l)
      }
      """
    for mode in ["5", "6"] {
      #expect(try Compiler.diagnostics(of: program, languageMode: mode) == [], "mode \(mode)")
    }
  }
}

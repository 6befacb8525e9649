// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import TestSupport
import Testing

/// Tests of `Operation.current`.
@Suite("The current operation", .timeLimit(.minutes(5)))
struct CurrentOperationTests {
  /// An operation that notes the current operation in `start()` and in `main()`.
  private final class Noting: Operation, @unchecked Sendable {
    let seen = EventLog<OperationID?>()
    var inner: Operation?

    override func start() {
      seen.note(Operation.current?.id)
      super.start()
    }

    override func main() {
      inner?.start()
      seen.note(Operation.current?.id)
    }
  }

  private let queue = OperationQueue()

  /// Adds an operation, and waits for it.
  private func run(_ operation: Operation) async throws {
    try await onOwnThread { [queue] in
      queue.addOperations([operation], waitUntilFinished: true)
    }
  }

  @Test("Outside an operation there is none")
  func outside() async throws {
    #expect(Operation.current == nil)
    try await onOwnThread { #expect(Operation.current == nil) }
  }

  @Test("Each block of a block operation finds the operation, on every thread")
  func blocks() async throws {
    let seen = EventLog<OperationID?>()
    let operation = BlockOperation { seen.note(Operation.current?.id) }
    for _ in 0..<4 { operation.addExecutionBlock { seen.note(Operation.current?.id) } }
    try await run(operation)
    #expect(seen.events == Array(repeating: operation.id, count: 5))
  }

  @Test("A subclass is the current operation in start() and main(), also after an inner operation")
  func subclasses() async throws {
    let inner = Noting()
    let outer = Noting()
    outer.inner = inner
    try await run(outer)
    #expect(outer.seen.events == [outer.id, outer.id])
    // The queue starts the outer operation. Its work calls `start()` of the inner one.
    #expect(inner.seen.events == [outer.id, inner.id])
  }

  @Test("An operation that the program starts directly is the current one until start() returns")
  func startedDirectly() async throws {
    let operation = Noting()
    try await onOwnThread {
      operation.start()
      #expect(Operation.current == nil)
    }
    #expect(operation.seen.events == [nil, operation.id])
  }

  @Test("An asynchronous operation is the current one before and after each suspension")
  func suspensions() async throws {
    let seen = EventLog<OperationID?>()
    let gate = AsyncGate()
    let operation = AsyncOperation {
      seen.note(Operation.current?.id)
      await gate.pass()
      seen.note(Operation.current?.id)
      try await Task.sleep(for: .milliseconds(1))
      seen.note(Operation.current?.id)
    }
    queue.addOperation(operation)
    gate.open()
    try await operation.value
    #expect(seen.events == [operation.id, operation.id, operation.id])
  }

  @Test("The tasks that an asynchronous operation creates find it, and a detached task does not")
  func tasks() async throws {
    let operation = AsyncOperation {
      // An operation whose result is the operation itself would never be released.
      async let child = Operation.current?.id
      let group = await withTaskGroup(of: OperationID?.self) { group in
        group.addTask { Operation.current?.id }
        return await group.next() ?? nil
      }
      let unstructured = await Task { Operation.current?.id }.value
      let detached = await Task.detached { Operation.current?.id }.value
      return await [child, group, unstructured, detached]
    }
    queue.addOperation(operation)
    #expect(
      try await operation.value == [operation.id, operation.id, operation.id, nil])
  }

  @Test("An operation that an asynchronous operation starts is the current one in its own work")
  func startedInTask() async throws {
    let operation = AsyncOperation {
      let inner = Noting()
      inner.start()
      let task = AsyncOperation { Operation.current?.id }
      task.start()
      return await [
        inner.seen.events == [Operation.current?.id, inner.id], try task.value == task.id,
      ]
    }
    queue.addOperation(operation)
    #expect(try await operation.value == [true, true])
  }

  @Test("A completion block has no current operation")
  func completionBlocks() async throws {
    let seen = EventLog<OperationID?>()
    let isDone = Gate()
    let operation = BlockOperation {}
    operation.completionBlock = {
      seen.note(Operation.current?.id)
      isDone.open()
    }
    try await run(operation)
    try await onOwnThread { _ = isDone.waitUntilOpen() }
    #expect(seen.events == [nil])
  }

  @Test("Each attempt of a retry is the current operation of its own work")
  func attempts() async throws {
    let operation = RetryOperation(maximumAttempts: 1) { _ in
      AsyncOperation { Operation.current?.id }
    }
    queue.addOperation(operation)
    let current = try await operation.value
    #expect(current != nil && current != operation.id)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("D-23: asynchronous operations that inherit task-local values", .timeLimit(.minutes(5)))
struct TaskLocalValueTests {
  private enum Values {
    @TaskLocal static var number = 0
    @TaskLocal static var probe: DeinitProbe?
  }

  @Test("D-23: the work has the task-local values of the creator, if the initializer asks for them")
  func inheritance() async throws {
    let queue = OperationQueue()
    let (with, without, added) = Values.$number.withValue(7) {
      (
        AsyncOperation(inheritsTaskLocalValues: true) { Values.number },
        AsyncOperation { Values.number },
        queue.addAsyncOperation(inheritsTaskLocalValues: true) {
          await Task.yield()
          return await Task { Values.number }.value
        }
      )
    }
    Values.$number.withValue(8) { queue.addOperations([with, without]) }
    #expect(try await with.value == 7)
    #expect(try await without.value == 0)
    #expect(try await added.value == 7)
  }

  @Test(
    "D-23: such work runs on the queue's threads, is the current operation, and can be cancelled")
  func properties() async throws {
    let queue = OperationQueue()
    queue.name = "inheriting"
    let gate = AsyncGate()
    let operation = AsyncOperation(inheritsTaskLocalValues: true) {
      #expect(OperationQueue.current === queue)
      let isCurrent = Operation.current != nil
      try await gate.passUnlessCancelled()
      return isCurrent
    }
    queue.addOperation(operation)
    try await onOwnThread { gate.waitForArrivals(1) }
    operation.cancel()
    await #expect(throws: CancellationError.self) { try await operation.value }
    let other = AsyncOperation(inheritsTaskLocalValues: true) { Operation.current?.id }
    queue.addOperation(other)
    #expect(try await other.value == other.id)
  }

  @Test(
    "D-23: an operation that never runs releases the task-local values", arguments: [true, false])
  func release(isAdded: Bool) async throws {
    let log = EventLog<String>()
    Values.$probe.withValue(DeinitProbe("values", in: log)) {
      let operation = AsyncOperation(inheritsTaskLocalValues: true) {}
      if isAdded {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.addOperation(operation)
        operation.cancel()
        queue.isSuspended = false
      }
    }
    try await onOwnThread { _ = log.wait(for: "values") }
  }

  @Test("D-23: race: an inheriting operation that is cancelled at its start finishes")
  func cancellationRace() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let queue = OperationQueue()
    for _ in 0..<Effort.scaled(2_000) {
      let operation = AsyncOperation(inheritsTaskLocalValues: true) { await Task.yield() }
      queue.addOperation(operation)
      for _ in 0..<Int.random(in: 0..<200, using: &random) { _ = random.next() }
      operation.cancel()
    }
    #expect(await queue.waitUntilAllOperationsAreFinished())
  }
}

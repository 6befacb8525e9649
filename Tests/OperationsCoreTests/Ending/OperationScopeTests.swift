// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Scopes of operations", .timeLimit(.minutes(5)))
struct OperationScopeTests {
  private struct Failure: Error, Equatable {}

  @Test(
    "withOperations returns the value of its body, after all operations of the scope have finished")
  func value() async throws {
    let queue = OperationQueue()
    let log = EventLog<Int>()
    let total = try await queue.withOperations { scope in
      let values = (1...3).map { number in scope.addAsyncOperation { number * 2 } }
      let named = scope.addOperation(name: "named") { 10 }
      scope.addOperation { log.note(0) }
      scope.addOperation(PlainSubclass { log.note(1) })
      scope.addOperations([BlockOperation { log.note(2) }, BlockOperation { log.note(3) }])
      var total = try await named.value
      for value in values { total += try await value.value }
      return total
    }
    #expect(total == 22 && queue.operationCount == 0)
    #expect(log.events.sorted() == [0, 1, 2, 3])
  }

  @Test("Operations that operations of the scope add are awaited too; other operations are not")
  func addedByOperations() async throws {
    let queue = OperationQueue()
    let gate = Gate()
    let log = EventLog<String>()
    let other = BlockOperation { gate.pass() }
    queue.addOperation(other)
    try await queue.withOperations { scope in
      scope.addAsyncOperation {
        for number in 1...3 {
          scope.addOperation {
            _ = scope.addOperation { log.note("grandchild \(number)") }
          }
        }
      }
    }
    #expect(log.events.count == 3 && !other.isFinished)
    gate.open()
    await queue.waitUntilAllOperationsAreFinished()
  }

  @Test("If the body throws, the operations are cancelled and awaited, and the error is thrown")
  func throwingBody() async throws {
    let queue = OperationQueue()
    let gate = AsyncGate()
    let log = EventLog<String>()
    await #expect(throws: Failure()) {
      try await queue.withOperations { scope in
        scope.addAsyncOperation {
          do { try await gate.passUnlessCancelled() } catch { log.note("cancelled") }
          scope.addOperation { log.note("added to a cancelled scope") }
        }
        try await onOwnThread { gate.waitForArrivals(1) }
        throw Failure()
      }
    }
    #expect(log.events == ["cancelled"] && queue.operationCount == 0)
  }

  @Test("If the task is cancelled, the operations are cancelled while the body runs")
  func cancelledTask() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let gate = AsyncGate()
    let log = EventLog<String>()
    let task = Task {
      try await queue.withOperations { scope in
        let first = scope.addAsyncOperation { try await gate.passUnlessCancelled() }
        let second = scope.addOperation { log.note("ran") }
        await first.finishedInAnyCase()
        log.note(scope.isCancelled && second.isCancelled ? "cancelled" : "not cancelled")
      }
    }
    try await onOwnThread { gate.waitForArrivals(1) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(log.events == ["cancelled"] && queue.operationCount == 0)
  }

  @Test("A scope whose task was cancelled before it has operations cancels them, and throws")
  func cancelledBefore() async throws {
    let queue = OperationQueue()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await queue.withOperations { scope in
        scope.addOperation { Issue.record("An operation of a cancelled scope has run") }
      }
    }
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    let empty = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await queue.withOperations { _ in 7 }
    }
    #expect(try await empty.value == 7, "no operation was cancelled")
  }

  @Test("A failed operation cancels nothing and is not thrown; its value has the error")
  func failures() async throws {
    let queue = OperationQueue()
    let log = EventLog<String>()
    let failed = try await queue.withOperations { scope in
      let failed = scope.addAsyncOperation { () -> Int in throw Failure() }
      let after = BlockOperation { log.note("after") }
      after.addDependency(failed)
      scope.addOperation(after)
      return failed
    }
    #expect(log.events == ["after"])
    await #expect(throws: Failure()) { try await failed.value }
  }

  @Test("cancelAll cancels the operations of the scope only, and throws nothing")
  func cancelAll() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let other = BlockOperation {}
    queue.addOperation(other)
    let own = BlockOperation {}
    try await queue.withOperations { scope in
      scope.addOperation(own)
      scope.cancelAll()
      queue.isSuspended = false
    }
    await queue.waitUntilAllOperationsAreFinished()
    #expect(own.isCancelled && !other.isCancelled)
  }

  @Test("Scopes can be nested: the error of the inner one ends the outer one")
  func nested() async throws {
    let outer = OperationQueue()
    let inner = OperationQueue()
    let log = EventLog<String>()
    await #expect(throws: Failure()) {
      try await outer.withOperations { outerScope in
        try await inner.withOperations { innerScope in
          innerScope.addOperation { log.note("inner") }
          outerScope.addOperation { log.note("outer") }
        }
        #expect(log.events.contains("inner"))
        try await outer.withOperations { _ in throw Failure() }
      }
    }
    #expect(outer.operationCount == 0 && inner.operationCount == 0)
  }

  @Test("The scope of a closed queue ends, because its operations are refused")
  func closedQueueInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      OperationDiagnostic.handler = { _ in }
      let queue = OperationQueue()
      await queue.shutdown()
      let operation = try await queue.withOperations { scope in scope.addOperation {} }
      #expect(operation.error is OperationQueueClosedError)
    }
  }

  @Test("A scope retains no operation that has finished, and nothing after its end")
  func lifetime() async throws {
    let queue = OperationQueue()
    let log = EventLog<String>()
    let scope = try await queue.withOperations { scope in
      let probe = DeinitProbe("during", in: log)
      let first = scope.addOperation { probe.touch() }
      await first.waitUntilFinished()
      for number in 0..<3 {
        let probe = DeinitProbe("end \(number)", in: log)
        scope.addOperation(PlainSubclass { probe.touch() })
      }
      return scope
    }
    try await onOwnThread { _ = log.wait(forCount: 4) }
    #expect(!scope.isCancelled)
  }

  @Test("The body runs on the caller's actor")
  @MainActor func isolation() async throws {
    let queue = OperationQueue()
    var count = 0
    try await queue.withOperations { scope in
      MainActor.assertIsolated()
      count += 1
      scope.addOperation {}
    }
    #expect(count == 1)
  }

  @Test("Additions, cancellations and ends of scopes may come in any order", .oneAtATime)
  func races() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(300) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = [1, 2, -1].randomElement(using: &random) ?? 1
      let ran = Monitored(0)
      let isOver = Monitored(false)
      let width = Int.random(in: 1...8, using: &random)
      let task = Task {
        try await queue.withOperations { scope in
          for _ in 0..<width {
            scope.addAsyncOperation {
              await Task.yield()
              let body: @Sendable () -> Void = {
                #expect(!isOver.value)
                ran.change { $0 += 1 }
              }
              scope.addOperation(body)
            }
          }
        }
      }
      let isCancelled = Bool.random(using: &random)
      for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
      if isCancelled { task.cancel() }
      let result = await task.result
      #expect(queue.operationCount == 0)
      isOver.change { $0 = true }
      if case .success = result { #expect(ran.value == width) } else { #expect(isCancelled) }
    }
  }
}

extension Operation {
  /// Waits until the operation has finished, even if the calling task is cancelled.
  fileprivate final func finishedInAnyCase() async {
    _ = await Task.detached { await self.waitUntilFinished() }.value
  }
}

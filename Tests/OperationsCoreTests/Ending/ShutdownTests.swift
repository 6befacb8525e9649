// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("Closing a queue", .timeLimit(.minutes(5)))
struct ShutdownTests {
  @Test("A queue that is drained runs all of its operations and barriers, and is then closed")
  func drain() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      #expect(!queue.isClosed && !queue.snapshot().isClosed)
      queue.addOperation { log.note("one") }
      queue.addBarrierBlock { log.note("barrier") }
      let last = BlockOperation { log.note("two") }
      queue.addOperation(last)
      queue.shutdown()
      #expect(log.events == ["one", "barrier", "two"] && !last.isCancelled)
      #expect(queue.isClosed && queue.snapshot().isClosed && queue.operationCount == 0)
    }
  }

  /// Shuts a queue down on another thread.
  ///
  /// - Returns: A gate that opens when the call has returned.
  private func shutDown(_ queue: OperationQueue, _ mode: OperationQueueShutdownMode = .drain)
    -> Gate
  {
    let isDone = Gate()
    startThread {
      queue.shutdown(mode)
      isDone.open()
    }
    return isDone
  }

  @Test(
    "The mode decides about operations that execute or have not started",
    arguments: OperationQueueShutdownMode.allCases)
  func modes(mode: OperationQueueShutdownMode) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let gate = Gate()
      let executing = BlockOperation { gate.pass() }
      let pending = BlockOperation {}
      queue.addOperations([executing, pending])
      gate.waitForArrivals(1)
      let isDone = shutDown(queue, mode)
      waitUntil(queue.isClosed && pending.isCancelled == (mode != .drain))
      #expect(!pending.isFinished)
      gate.open()
      #expect(isDone.waitUntilOpen())
      #expect(pending.isFinished && executing.isFinished)
      #expect(pending.isCancelled == (mode != .drain))
      #expect(executing.isCancelled == (mode == .cancelAll))
    }
  }

  @Test(
    "Every way to add to a closed queue is refused: the work never runs, and the operation finishes"
  )
  func refusalsInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let diagnostics = EventLog<OperationDiagnostic>()
      OperationDiagnostic.handler = { diagnostics.note($0) }
      let queue = OperationQueue(name: "net")
      await queue.shutdown()
      let log = EventLog<String>()
      let block = BlockOperation { log.note("block") }
      let subclass = PlainSubclass { log.note("subclass") }
      let batch = [BlockOperation { log.note("batch") }, PlainSubclass { log.note("batch") }]
      let group = GroupOperation([BlockOperation { log.note("member") }])
      queue.addOperation { log.note("closure") }
      queue.addOperation(block)
      #expect(block.isCancelled)
      queue.addOperation(subclass)
      try queue.tryAddOperation(group)
      queue.addOperations(batch)
      queue.addBarrierBlock { log.note("barrier") }
      let named = queue.addOperation(name: "named") { log.note("named") }
      let async = queue.addAsyncOperation { log.note("async") }
      let next = BlockOperation {}.nextAfter(block)
      let other = OperationQueue()
      other.addOperation(next)
      let first = other.addOperation(name: "first") { 1 }
      let then = first.then(on: queue) { _ in log.note("then") }
      await next.waitUntilFinished()
      for operation: Operation in [block, subclass, group, named, async, then] + batch {
        await operation.waitUntilFinished()
        #expect(operation.isCancelled)
        let error = operation.error as? OperationQueueClosedError
        #expect(error == OperationQueueClosedError(queue: queue.id, name: "net"))
      }
      #expect(!next.isCancelled && log.events.isEmpty && queue.operationCount == 0)
      #expect(diagnostics.events.count == 10)
      #expect(diagnostics.events.allSatisfy { $0.kind == .addsToClosedQueue })
      let text = diagnostics.events[1].description
      #expect(text.contains("was added to the queue “net”, which is closed"))
      await #expect(throws: OperationQueueClosedError.self) { try await async.value }
      #expect(
        "\(OperationQueueClosedError(queue: queue.id, name: "net"))".hasPrefix(
          "the queue “net” is closed"))
    }
  }

  @Test(
    "A refused operation finishes even if the closed queue is suspended, and its completion block runs"
  )
  func refusalOfSuspendedQueue() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.shutdown()
      queue.isSuspended = true
      let gate = Gate()
      let operation = LockedAsynchronousOperation { Issue.record("A refused operation has run") }
      operation.completionBlock = { gate.open() }
      queue.addOperation(operation)
      operation.waitUntilFinished()
      #expect(gate.waitUntilOpen())
    }
  }

  @Test("Operations and barriers that are pushed while another thread closes the queue are refused")
  func lateRefusalInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let diagnostics = EventLog<OperationDiagnostic.Kind>()
      OperationDiagnostic.handler = { diagnostics.note($0.kind) }
      let queue = OperationQueue()
      queue.closeForScheduler()
      let operations = [
        BlockOperation { Issue.record("A refused block has run") },
        PlainSubclass { Issue.record("A refused operation has run") },
        StubbornOperation { Issue.record("A refused operation has run") },
        LockedAsynchronousOperation { Issue.record("A refused operation has run") },
      ]
      queue.addOperations(operations)
      queue.addBarrierBlock { Issue.record("A refused barrier has run") }
      for operation in operations {
        await operation.waitUntilFinished()
        #expect(operation.isCancelled && operation.error is OperationQueueClosedError)
      }
      await queue.waitUntilAllOperationsAreFinished()
      try await onOwnThread { _ = diagnostics.wait(forCount: 5) }
      #expect(diagnostics.events.allSatisfy { $0 == .addsToClosedQueue })
    }
  }

  @Test("An operation that is refused late stays withheld if pending operations are cancelled")
  func lateRefusalAndCancellation() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.closeForScheduler()
      let operation = SlowStubbornOperation { Issue.record("A refused operation has run") }
      queue.addOperation(operation)
      // Reading `operationCount` makes the queue process the operation.
      #expect(queue.operationCount == 1)
      operation.arrived.waitForArrivals(1)
      queue.cancelPendingOperations()
      let counts = queue.snapshot().counts
      #expect(counts.waiting == 1 && counts.ready == 0)
      operation.arrived.open()
      waitUntil(operation.isCancelled)
      queue.isSuspended = false
      operation.waitUntilFinished()
    }
  }

  @Test("A refused operation whose cancel has no effect does not run")
  func stubbornRefusal() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.shutdown()
      let operation = StubbornOperation { Issue.record("A refused operation has run") }
      queue.addOperation(operation)
      operation.waitUntilFinished()
      #expect(operation.isCancelled)
    }
  }

  @Test("An operation of a queue that is being closed can add no operation to the queue")
  func addingWhileDraining() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      let added = BlockOperation { log.note("added") }
      queue.addOperation {
        gate.pass()
        queue.addOperation(added)
        log.note(added.isCancelled ? "refused" : "accepted")
      }
      gate.waitForArrivals(1)
      let isDone = shutDown(queue)
      waitUntil(queue.isClosed)
      gate.open()
      #expect(isDone.waitUntilOpen())
      added.waitUntilFinished()
      #expect(log.events == ["refused"])
    }
  }

  @Test("A suspended queue of width 0 is resumed; the pending operations run only if it is drained")
  func suspendedQueue() async throws {
    try await onOwnThread {
      for mode in OperationQueueShutdownMode.allCases {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.maxConcurrentOperationCount = 0
        let log = EventLog<String>()
        queue.addOperation { log.note("ran") }
        queue.addOperation(PlainSubclass { log.note("ran") })
        queue.shutdown(mode)
        #expect(log.events == (mode == .drain ? ["ran", "ran"] : []))
      }
    }
  }

  @Test("A second call with a stronger mode ends the first one")
  func secondCall() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let never = BlockOperation { Issue.record("An operation with an unmet dependency has run") }
      never.addDependency(Operation())
      queue.addOperation(never)
      let isDone = shutDown(queue)
      waitUntil(queue.isClosed)
      #expect(queue.operationCount == 1)
      queue.shutdown(.cancelPending)
      #expect(isDone.waitUntilOpen())
      queue.shutdown()
      #expect(never.isCancelled)
    }
  }

  @Test("A running group of a queue that is drained can add members to itself")
  func groupMembers() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      let group = GroupOperation()
      group.addOperation(
        BlockOperation { [unowned group] in
          gate.pass()
          group.addOperation(BlockOperation { log.note("added") })
        })
      queue.addOperation(group)
      gate.waitForArrivals(1)
      let isDone = shutDown(queue)
      waitUntil(queue.isClosed)
      gate.open()
      #expect(isDone.waitUntilOpen())
      #expect(log.events == ["added"])
    }
  }

  @Test(
    "Closing a queue inside one of its own operations is a misuse, and does not close the queue")
  func insideOwnQueue() async throws {
    let queue = OperationQueue()
    let kinds = EventLog<OperationMisuse.Kind>()
    queue.addOperation {
      for misuse in OperationMisuse.catching({ queue.shutdown(.cancelAll) }) {
        kinds.note(misuse.kind)
      }
    }
    await queue.waitUntilAllOperationsAreFinished()
    #expect(kinds.events == [.waitInsideOwnQueue] && !queue.isClosed)
  }

  @Test("The main queue cannot be closed, and the attempt is reported")
  func mainQueueInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let log = EventLog<OperationDiagnostic.Kind>()
      OperationDiagnostic.handler = { log.note($0.kind) }
      await OperationQueue.main.shutdown(.cancelAll)
      #expect(!OperationQueue.main.isClosed && log.events == [.shutsDownMainQueue])
    }
  }

  @Test("The asynchronous form waits too, and the cancellation of its task does not end the wait")
  func asynchronousForm() async throws {
    let queue = OperationQueue()
    let gate = AsyncGate()
    let log = EventLog<String>()
    let operation = queue.addAsyncOperation {
      await gate.pass()
      log.note("operation")
    }
    let task = Task {
      await queue.shutdown()
      log.note("shutdown")
    }
    try await onOwnThread {
      waitUntil(queue.isClosed)
      gate.waitForArrivals(1)
    }
    task.cancel()
    gate.open()
    await task.value
    #expect(log.events == ["operation", "shutdown"] && !operation.isCancelled)
  }
}

/// Blocks the calling thread until a condition holds. Records an issue if it does not hold in time.
private func waitUntil(_ condition: @autoclosure () -> Bool) {
  let isTrue = poll(for: .seconds(60), pausing: true, until: condition)
  #expect(isTrue, "The condition does not hold in time")
}

extension Operation {
  /// Adds a dependency, and returns the operation.
  fileprivate func nextAfter(_ dependency: Operation) -> Self {
    addDependency(dependency)
    return self
  }
}

extension OperationQueue {
  /// Closes the queue for its scheduler only. So an adding thread reads no mark, as if it had read the marks before
  /// the queue was closed.
  fileprivate final func closeForScheduler() {
    core.withScheduler { scheduler, _ in
      scheduler.isClosed = true
      scheduler.watchAdditions()
    }
  }
}

private final class StubbornOperation: PlainSubclass, @unchecked Sendable {
  override func cancel() {}
}

/// An operation whose `cancel()` has no effect, and whose first `cancel()` waits at a gate.
private final class SlowStubbornOperation: PlainSubclass, @unchecked Sendable {
  let arrived = Gate()

  override func cancel() { if arrived.arrivedCount == 0 { arrived.pass() } }
}

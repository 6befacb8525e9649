// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// The notifications for observers of an asynchronous operation.
@Suite("Changes of asynchronous operations", .timeLimit(.minutes(5)))
struct AsyncChangeTests {
  private static let whole = [
    "will isExecuting", "isExecuting false→true", "run",
    "will isExecuting", "will isFinished", "isExecuting true→false", "isFinished false→true",
  ]

  @Test(
    "K-1, D-11: the sequence is that of a synchronous one, by hand and in a queue",
    arguments: [false, true])
  func wholeLife(inQueue: Bool) async {
    let log = Monitored<ChangeLog?>(nil)
    let operation = AsyncOperation {
      await Task.yield()
      log.value?.note("run")
    }
    let changes = ChangeLog(operation)
    log.change { $0 = changes }
    if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
    await operation.waitUntilFinished()
    #expect(changes.events == Self.whole)
  }

  @Test("K-1: the sequence is the same if the work fails")
  func failure() async {
    let operation = AsyncOperation { throw CancellationError() }
    let changes = ChangeLog(operation)
    operation.start()
    await operation.waitUntilFinished()
    #expect(changes.events == Self.whole.filter { $0 != "run" })
  }

  @Test("K-16: when isExecuting becomes false, it has finished and has its result")
  func atomicEnd() async throws {
    let operation = AsyncOperation { 5 }
    let log = EventLog<String>()
    let observation = operation.observe(\.isExecuting, options: .new) { operation, change in
      let value = (try? operation.result?.get()) ?? -1
      log.note("\(change.newValue == true) \(operation.isFinished) \(value)")
    }
    operation.start()
    await operation.waitUntilFinished()
    #expect(log.events == ["true false -1", "false true 5"])
    observation.invalidate()
  }

  @Test("K-2, K-4: cancelled before the start, observers see it finish and never execute")
  func cancelledBefore() async {
    let operation = AsyncOperation { Issue.record("It ran") }
    let changes = ChangeLog(operation)
    operation.cancel()
    operation.start()
    #expect(
      changes.events == [
        "will isCancelled", "isCancelled false→true", "will isReady", "isReady true→true",
        "will isFinished", "isFinished false→true",
      ])
    #expect(throws: CancellationError.self) { try operation.result?.get() }
  }

  @Test("K-5: a cancellation during the execution is reported once, and the end as usual")
  func cancelledWhileExecuting() async throws {
    let gate = AsyncGate()
    let operation = AsyncOperation { try await gate.passUnlessCancelled() }
    let changes = ChangeLog(operation)
    operation.start()
    // The operation's work must wait at the gate before the test cancels the operation. Otherwise,
    // the operation could finish before `cancel()` has sent all its notifications.
    try await onOwnThread { gate.waitForArrivals(1) }
    operation.cancel()
    operation.cancel()
    await operation.waitUntilFinished()
    #expect(
      changes.events == [
        "will isExecuting", "isExecuting false→true", "will isCancelled", "isCancelled false→true",
        "will isExecuting", "will isFinished", "isExecuting true→false", "isFinished false→true",
      ])
  }

  @Test("ST-2: no reader sees a started operation that neither executes nor has finished")
  func noGap() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(300) {
        let operation = AsyncOperation { await Task.yield() }
        let hasStarted = Flag()
        onThreads(2) { thread in
          if thread == 0 {
            operation.start()
            hasStarted.raise()
            return operation.waitUntilFinished()
          }
          while !operation.isFinished {
            let isStarted = hasStarted.isRaised
            let (isExecuting, isFinished) = (operation.isExecuting, operation.isFinished)
            if isStarted { #expect(isExecuting || isFinished) }
          }
        }
      }
    }
  }

  @Test("states: waiting, ready, executing, finished, as of any operation")
  func states() async {
    let dependency = Operation()
    let operation = AsyncOperation { await Task.yield() }
    operation.addDependency(dependency)
    let states = operation.states
    OperationQueue().addOperation(operation)
    dependency.start()
    var seen: [OperationState] = []
    for await state in states { seen.append(state) }
    #expect(seen == [.waiting, .ready, .executing, .finished])
  }

  @Test("willFinish: the operation is not finished before the method returns")
  func willFinish() async throws {
    final class Closing: AsyncOperation<Int>, @unchecked Sendable {
      let gate = AsyncGate()
      let log = EventLog<String>()
      override func run() async throws -> Int { 3 }
      override func willFinish(_ result: Result<Int, any Error>) async {
        await gate.pass()
        log.note("closed \((try? result.get()) ?? -1)")
      }
    }
    try await onOwnThread {
      let operation = Closing()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let dependent = BlockOperation { operation.log.note("dependent") }
      dependent.addDependency(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      operation.gate.waitForArrivals(1)
      #expect(operation.isExecuting && operation.result == nil && !dependent.isReady)
      operation.gate.open()
      dependent.waitUntilFinished()
      #expect(operation.log.events == ["closed 3", "dependent"])
    }
  }

  @Test("willFinish: also called after failures, but not if the work did not run")
  func willFinishWhenCancelled() async throws {
    final class Reporting: AsyncOperation<Void>, @unchecked Sendable {
      let log = EventLog<String>()
      override func run() async throws { throw CancellationError() }
      override func willFinish(_ result: Result<Void, any Error>) async {
        if case .failure(let error) = result { log.note("\(error is CancellationError)") }
      }
    }
    let failing = Reporting()
    failing.start()
    await failing.waitUntilFinished()
    #expect(failing.log.events == ["true"])
    let cancelled = Reporting()
    cancelled.cancel()
    cancelled.start()
    #expect(cancelled.isFinished && cancelled.log.events.isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("D-23: operations whose work is an asynchronous function", .timeLimit(.minutes(5)))
struct AsyncOperationTests {
  private struct WorkError: Error, Equatable {
    let number: Int
  }

  @Test("D-23: a closure runs in a queue, and its value is available after the finish")
  func value() async throws {
    let gate = AsyncGate()
    let queue = OperationQueue()
    let operation = queue.addAsyncOperation(name: "answer") {
      await gate.pass()
      return 42
    }
    #expect(operation.name == "answer" && operation.isAsynchronous && operation.isConcurrent)
    try await onOwnThread { gate.waitForArrivals(1) }
    #expect(operation.isExecuting && operation.result == nil)
    gate.open()
    #expect(try await operation.value == 42)
    #expect(operation.isFinished && !operation.isExecuting && queue.operationCount == 0)
    try #expect(operation.result?.get() == 42, "It may be asked for again")
    #expect(try await operation.value == 42)
  }

  @Test("D-4: the error of the work is its result, and the operation finishes")
  func error() async throws {
    let operation = OperationQueue().addAsyncOperation { throw WorkError(number: 7) }
    await #expect(throws: WorkError(number: 7)) { try await operation.value }
    #expect(operation.isFinished && !operation.isCancelled)
    #expect(throws: WorkError(number: 7)) { try operation.result?.get() }
  }

  @Test("D-4: the error is recorded before willFinish; a cancellation needs a reason for an error")
  func recordedError() async throws {
    final class Failing: AsyncOperation<Int>, @unchecked Sendable {
      let seen = Monitored<(any Error)?>(nil)
      override func run() async throws -> Int { throw WorkError(number: 1) }
      override func willFinish(_ result: Result<Int, any Error>) async {
        seen.change { $0 = error }
      }
    }
    let failing = Failing()
    failing.start()
    await failing.waitUntilFinished()
    #expect(failing.error is WorkError && failing.seen.value is WorkError)

    for reason in [WorkError(number: 2), nil] {
      for isStarted in [true, false] {
        let gate = AsyncGate()
        let operation = AsyncOperation { try await gate.passUnlessCancelled() }
        if isStarted { operation.start() }
        if let reason { operation.cancel(with: reason) } else { operation.cancel() }
        if !isStarted { operation.start() }
        await operation.waitUntilFinished()
        #expect(operation.error as? WorkError == reason)
        let thrown = #expect(throws: (any Error).self) { try operation.result?.get() }
        #expect(thrown as? WorkError == reason && (reason != nil || thrown is CancellationError))
      }
    }
  }

  @Test("D-4: an error of the work comes before the reason of a late cancellation")
  func errorBeforeReason() async throws {
    final class Failing: AsyncOperation<Int>, @unchecked Sendable {
      override func run() async throws -> Int { throw WorkError(number: 1) }
      override func willFinish(_ result: Result<Int, any Error>) async {
        cancel(with: WorkError(number: 2))
      }
    }
    let operation = Failing()
    operation.start()
    await #expect(throws: WorkError(number: 1)) { try await operation.value }
    #expect(operation.error as? WorkError == WorkError(number: 1) && operation.isCancelled)
  }

  @Test("D-23: a subclass overrides run, and may await super.run")
  func subclass() async throws {
    class Fetching: AsyncOperation<String>, @unchecked Sendable {
      override func run() async throws -> String {
        await Task.yield()
        return "fetched"
      }
    }
    final class Shouting: Fetching, @unchecked Sendable {
      override func run() async throws -> String { try await super.run().uppercased() }
    }
    let operation = Shouting()
    OperationQueue().addOperation(operation)
    #expect(try await operation.value == "FETCHED")
  }

  @Test("D-23: work that is isolated to an actor runs on the actor")
  func mainActor() async throws {
    final class Showing: AsyncOperation<Bool>, @unchecked Sendable {
      @MainActor override func run() async throws -> Bool {
        MainActor.assertIsolated()
        return true
      }
    }
    let operation = Showing()
    OperationQueue().addOperation(operation)
    #expect(try await operation.value)
  }

  @Test("SA-1, OP-6: started by hand, it begins at once, and only once")
  func startedByHand() async throws {
    let count = Monitored(0)
    let operation = AsyncOperation { count.change { $0 += 1 } }
    operation.start()
    try await operation.value
    operation.start()
    operation.main()
    #expect(count.value == 1)
  }

  @Test("SA-3: starting it again while it executes is refused")
  func startedTwice() async throws {
    let gate = AsyncGate()
    let operation = AsyncOperation { await gate.pass() }
    operation.start()
    let mistakes = OperationMisuse.catching { operation.start() }
    #expect(mistakes.map(\.kind) == [.receiverAlreadyExecuting])
    gate.open()
    #expect(await operation.waitUntilFinished())
  }

  @Test("SA-4: starting it before it is ready is refused, and it may be started later")
  func startedEarly() async throws {
    let dependency = Operation()
    let operation = AsyncOperation { 1 }
    operation.addDependency(dependency)
    #expect(OperationMisuse.catching { operation.start() }.map(\.kind) == [.receiverNotReady])
    dependency.start()
    operation.start()
    #expect(try await operation.value == 1)
  }

  @Test("SA-6: in a queue, only the queue can start it")
  func startedInAQueue() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = queue.addAsyncOperation { 1 }
    #expect(
      OperationMisuse.catching { operation.start() }.map(\.kind) == [.startOfEnqueuedOperation])
    queue.isSuspended = false
    #expect(try await operation.value == 1)
  }

  @Test("SA-5: many threads start it at once: one of them does, and the work runs once")
  func startsRace() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(300) {
        let count = Monitored(0)
        let operation = AsyncOperation { count.change { $0 += 1 } }
        onThreads(3) { _ in _ = OperationMisuse.catching { operation.start() } }
        operation.waitUntilFinished()
        #expect(count.value == 1)
      }
    }
  }

  @Test("MX-1: it holds its slot until it has finished")
  func slot() async throws {
    try await onOwnThread {
      let gate = AsyncGate()
      let log = EventLog<Int>()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.addAsyncOperation {
        await gate.pass()
        log.note(1)
      }
      queue.addOperation { log.note(2) }
      gate.waitForArrivals(1)
      #expect(queue.operationCount == 2)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [1, 2])
    }
  }

  @Test("DE-1, DE-11: others wait for it, it waits for others, and across queues")
  func dependencies() async throws {
    let log = EventLog<Int>()
    let first = BlockOperation { log.note(1) }
    let second = AsyncOperation {
      await Task.yield()
      log.note(2)
    }
    let third = BlockOperation { log.note(3) }
    second.addDependency(first)
    third.addDependency(second)
    OperationQueue().addOperation(third)
    OperationQueue().addOperation(second)
    OperationQueue().addOperation(first)
    await third.waitUntilFinished()
    #expect(log.events == [1, 2, 3])
  }

  @Test("CB-1, WA-1: the completion block runs once, and threads may wait")
  func completionAndThreads() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = AsyncOperation { await Task.yield() }
      operation.completionBlock = { log.note("completion") }
      OperationQueue().addOperation(operation)
      operation.waitUntilFinished()
      #expect(operation.isFinished)
      log.wait(forCount: 1)
      #expect(log.events == ["completion"])
    }
  }

  @Test("BA-1: a barrier waits for its end, and not for its start")
  func barrier() async throws {
    try await onOwnThread {
      let gate = AsyncGate()
      let log = EventLog<Int>()
      let queue = OperationQueue()
      queue.addAsyncOperation {
        await gate.pass()
        log.note(1)
      }
      queue.addBarrierBlock { log.note(2) }
      gate.waitForArrivals(1)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [1, 2])
    }
  }

  @Test("MI-1: a subclass without its own work gets a misuse report if mistakes do not trap")
  func nothingToRunInOwnProcess() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Forgetful: AsyncOperation<Int>, @unchecked Sendable {}
      let operation = Forgetful()
      operation.start()
      _ = try await operation.value
    }
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(printed.contains("has nothing to run"))
  }

  @Test("MX-10: inside the work, the current operation, queue and quality of service are its own")
  func currentQueue() async throws {
    let queue = OperationQueue(name: "own")
    queue.qualityOfService = .utility
    let operation = queue.addAsyncOperation {
      // The result has the id, because an operation that retains itself would never be released.
      var seen: [(OperationQueue?, OperationID?, QualityOfService)] = []
      for _ in 0..<3 {
        seen.append((OperationQueue.current, Operation.current?.id, QualityOfService.current))
        await Task.yield()
      }
      await MainActor.run {
        seen.append((OperationQueue.current, Operation.current?.id, QualityOfService.current))
      }
      async let child = (OperationQueue.current, Operation.current?.id, QualityOfService.current)
      return await seen + [child]
    }
    for (current, own, level) in try await operation.value {
      #expect(current == queue && own == operation.id && level == .utility)
    }
  }
}

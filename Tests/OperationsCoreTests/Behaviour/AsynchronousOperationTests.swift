// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// The situations in which ``AsynchronousOperationTests`` tests an operation: whether and when the
/// operation is cancelled.
enum Scenario: String, CaseIterable, Sendable {
  case plain, cancelledBeforeTheQueue, cancelledWhileSuspended, cancelledWhileWaiting
  case cancelledTwice, cancelledWhileRunning, cancelledBehindAFullQueue
}

@Suite("K-14, K-15: asynchronous subclasses with a lock and flags of their own")
struct AsynchronousOperationTests {
  @Test(
    "In each situation: finished, dependents released, completion once, queue empty, deallocated",
    arguments: Scenario.allCases)
  func matrix(scenario: Scenario) async throws {
    try await onOwnThread {
      for _ in 0..<50 { run(scenario) }
    }
  }

  @Test(
    "D-10, DE-13: finishing before the start, out of any queue, releases waiters and dependents")
  func finishBeforeStart() async throws {
    try await onOwnThread {
      let operation = LockedAsynchronousOperation()
      let dependent = Operation()
      dependent.addDependency(operation)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(dependent.isReady && operation.state == .finished)
    }
  }

  @Test("K-20: a finish that is announced only by didChangeValue takes effect")
  func didWithoutWill() async throws {
    final class Blunt: Operation, @unchecked Sendable {
      private let flag = Flag()
      override var isFinished: Bool { flag.isRaised }
      override func start() {
        flag.raise()
        didChangeValue(forKey: "finished")
      }
    }
    try await onOwnThread {
      let queue = OperationQueue()
      queue.addOperation(Blunt())
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("K-17: a finish announced while isFinished is still false does nothing")
  func announcedTooEarly() async throws {
    final class Early: Operation, @unchecked Sendable {
      let gate = Gate()
      private let flag = Flag()
      override var isFinished: Bool { flag.isRaised }
      override func start() {
        didChangeValue(forKey: "isFinished")
        gate.pass()
        flag.raise()
        didChangeValue(forKey: "isFinished")
      }
    }
    try await onOwnThread {
      let queue = OperationQueue()
      let operation = Early()
      queue.addOperation(operation)
      operation.gate.waitForArrivals(1)
      #expect(queue.operationCount == 1 && operation.state == .executing)
      operation.gate.open()
      operation.waitUntilFinished()
      #expect(queue.operationCount == 0)
    }
  }
}

/// Runs a scenario, and checks the conditions that must be true in every scenario.
private func run(_ scenario: Scenario) {
  let log = EventLog<String>()
  let queue = OperationQueue()
  let gate = Gate()
  var runs = 0
  do {
    let operation = TrackedAsynchronousOperation(log: log, gate: gate)
    operation.completionBlock = { log.note("completion") }
    let dependent = BlockOperation { log.note("dependent") }
    dependent.addDependency(operation)
    runs = play(scenario, operation, queue, gate)
    queue.addOperation(dependent)
    gate.open()
    dependent.waitUntilFinished()
    operation.waitUntilFinished()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished && !operation.isExecuting && operation.state == .finished)
    #expect(operation.isCancelled == (scenario != .plain))
    #expect(queue.operationCount == 0)
  }
  log.wait(for: "released")
  log.wait(for: "completion")
  #expect(log.events.count { $0 == "completion" } == 1, "\(scenario)")
  #expect(log.events.count { $0 == "dependent" } == 1, "\(scenario)")
  #expect(log.events.count { $0 == "work" } == runs, "\(scenario)")
}

/// Adds the operation to the queue, and cancels it as the scenario specifies.
///
/// - Returns: How often the operation's work must run.
private func play(
  _ scenario: Scenario, _ operation: LockedAsynchronousOperation, _ queue: OperationQueue,
  _ gate: Gate
) -> Int {
  switch scenario {
  case .plain:
    queue.addOperation(operation)
    return 1
  case .cancelledBeforeTheQueue:
    // The operation has finished, so it can no longer be added. Starting it has no effect.
    operation.cancel()
    operation.start()
    return 0
  case .cancelledWhileSuspended, .cancelledTwice:
    queue.isSuspended = true
    queue.addOperation(operation)
    operation.cancel()
    if scenario == .cancelledTwice { operation.cancel() }
    #expect(queue.operationCount == 0)
    queue.isSuspended = false
    return 0
  case .cancelledWhileWaiting:
    operation.addDependency(Operation())
    queue.addOperation(operation)
    operation.cancel()
    return 0
  case .cancelledWhileRunning:
    queue.addOperation(operation)
    gate.waitForArrivals(1)
    operation.cancel()
    return 1
  case .cancelledBehindAFullQueue:
    queue.maxConcurrentOperationCount = 1
    let full = Gate()
    queue.addOperation { full.pass() }
    full.waitForArrivals(1)
    queue.addOperation(operation)
    operation.cancel()
    full.open()
    return 0
  }
}

private final class TrackedAsynchronousOperation: LockedAsynchronousOperation, @unchecked Sendable {
  private let log: EventLog<String>

  init(log: EventLog<String>, gate: Gate) {
    self.log = log
    super.init {
      gate.pass()
      log.note("work")
    }
  }

  deinit { log.note("released") }
}

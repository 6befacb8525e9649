// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

/// The situations in which each subclass is tested: whether and when the operation is cancelled.
enum Situation: String, CaseIterable, Sendable {
  case plain
  case cancelledBeforeTheQueue
  case cancelledInASuspendedQueue
  case cancelledWhileWaitingForDependencies
  case cancelledWhileDispatched
  case cancelledInASuspendedDispatchQueue
  case cancelledWhileRunning
  case cancelledTwice
}

@Suite("The subclassing contract: each class in each situation")
struct SubclassMatrixTests {
  @Test(
    "CA-12, D-8, D-9, D-10, D-22, F-3: completes once, releases all, leaves the queue and is freed",
    arguments: FixtureClass.allCases, Situation.allCases)
  func matrix(fixture: FixtureClass, situation: Situation) async throws {
    try await onOwnThread {
      for round in 0..<Effort.scaled(20) {
        let isObserved = fixture.canBeObserved && round.isMultiple(of: 2)
        Play(fixture, situation, isObserved: isObserved).run()
      }
    }
  }
}

/// One round of the test: creates an operation of a subclass, cancels it as the situation
/// specifies, and then checks all requirements.
private struct Play {
  private let fixture: FixtureClass
  private let situation: Situation
  private let isObserved: Bool
  private let log = EventLog<String>()
  private let queue = OperationQueue()
  private let startGate = Gate()
  private let workGate = Gate()

  init(_ fixture: FixtureClass, _ situation: Situation, isObserved: Bool) {
    self.fixture = fixture
    self.situation = situation
    self.isObserved = isObserved
  }

  func run() {
    var observations: [NSKeyValueObservation] = []
    do {
      let operation = make()
      if isObserved { observations = observe(operation) }
      operation.completionBlock = { [log] in log.note("completion") }
      let dependent = BlockOperation { [log] in log.note("dependent") }
      dependent.addDependency(operation)
      OperationQueue().addOperation(dependent)
      waitElsewhere(for: operation)
      play(operation)
      operation.waitUntilFinished()
      dependent.waitUntilFinished()
      queue.waitUntilAllOperationsAreFinished()
      check(operation)
    }
    // When the operation has been released, its completion block cannot be called again.
    log.wait(for: "released")
    log.wait(for: "completion")
    log.wait(for: "waiter")
    for event in ["completion", "dependent", "waiter"] { #expect(count(event) == 1) }
    #expect(count("work") == (runs ? 1 : 0))
    guard isObserved else { return }
    #expect(count("isFinished false→true") == 1)
    #expect(count("isCancelled false→true") == (situation == .plain ? 0 : 1))
    for observation in observations { observation.invalidate() }
  }

  private func observe(_ operation: Operation) -> [NSKeyValueObservation] {
    let options: NSKeyValueObservingOptions = [.initial, .prior, .old, .new]
    let keys: [(KeyPath<Operation, Bool> & Sendable, String)] = [
      (\.isReady, "isReady"), (\.isExecuting, "isExecuting"), (\.isFinished, "isFinished"),
      (\.isCancelled, "isCancelled"),
    ]
    return keys.map { keyPath, name in
      operation.observe(keyPath, options: options) { [log] _, change in
        guard let old = change.oldValue, let new = change.newValue else { return }
        log.note("\(name) \(old)→\(new)")
      }
    }
  }

  private func make() -> Operation {
    let probe = DeinitProbe("released", in: log)
    return fixture.make(
      atStart: { [situation, startGate] in
        if situation == .cancelledWhileDispatched { startGate.pass() }
      },
      work: { [log, workGate] in
        probe.touch()
        workGate.pass()
        log.note("work")
      })
  }

  private var runs: Bool {
    fixture.runsWhenCancelled || situation == .plain || situation == .cancelledWhileRunning
  }

  private func count(_ event: String) -> Int { log.events.count { $0 == event } }

  private func waitElsewhere(for operation: Operation) {
    let isThere = Gate()
    startThread { [log] in
      isThere.open()
      operation.waitUntilFinished()
      log.note("waiter")
    }
    #expect(isThere.waitUntilOpen())
  }

  private func play(_ operation: Operation) {
    // The gate for the work is opened early in most situations, so that it does not block an
    // operation that does its work although it was cancelled.
    if situation != .cancelledWhileRunning { workGate.open() }
    switch situation {
    case .plain: queue.addOperation(operation)
    case .cancelledBeforeTheQueue:
      operation.cancel()
      // A finished operation cannot be added. Starting it has no effect.
      if fixture.finishesOnCancel { operation.start() } else { queue.addOperation(operation) }
    case .cancelledInASuspendedQueue, .cancelledTwice:
      cancelInASuspendedQueue(operation)
    case .cancelledWhileWaitingForDependencies:
      operation.addDependency(Operation())
      queue.addOperation(operation)
      operation.cancel()
    case .cancelledWhileDispatched:
      queue.addOperation(operation)
      startGate.waitForArrivals(1)
      operation.cancel()
      // If `cancel()` finishes the operation, the operation leaves the queue although a worker is
      // still inside its `start()`.
      if fixture.finishesOnCancel { operation.waitUntilFinished() }
      #expect(queue.operationCount == (fixture.finishesOnCancel ? 0 : 1))
      startGate.open()
    case .cancelledInASuspendedDispatchQueue:
      let underlying = DispatchQueue(label: "suspended")
      queue.underlyingQueue = underlying
      underlying.suspend()
      queue.addOperation(operation)
      operation.cancel()
      #expect(queue.operationCount == (fixture.finishesOnCancel ? 0 : 1))
      underlying.resume()
    case .cancelledWhileRunning:
      queue.addOperation(operation)
      workGate.waitForArrivals(1)
      operation.cancel()
      if fixture.finishesOnCancel { operation.waitUntilFinished() }
      #expect(queue.operationCount == (fixture.finishesOnCancel ? 0 : 1))
      workGate.open()
    }
  }

  private func cancelInASuspendedQueue(_ operation: Operation) {
    queue.isSuspended = true
    queue.addOperation(operation)
    operation.cancel()
    if situation == .cancelledTwice { operation.cancel() }
    #expect(queue.operationCount == (fixture.finishesOnCancel ? 0 : 1))
    queue.isSuspended = false
  }

  private func check(_ operation: Operation) {
    #expect(operation.isFinished && !operation.isExecuting && operation.state == .finished)
    #expect(operation.isCancelled == (situation != .plain))
    #expect(queue.operationCount == 0 && queue.operations.isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations
import TestSupport
import Testing

@Suite("The subclassing contract: the guarantees for subclasses")
struct SubclassContractTests {
  @Test("K-14: the sample announces its finish in its own order, and the library adds nothing")
  func finishOfTheSample() async throws {
    try await onOwnThread {
      let operation = MyAsyncOperation()
      let changes = FlagChanges(of: operation)
      OperationQueue().addOperations([operation], waitUntilFinished: true)
      #expect(
        changes.log.events == [
          "will isExecuting", "isExecuting false→true", "will isFinished", "will isExecuting",
          "isExecuting true→false", "isFinished false→true",
        ])
    }
  }

  @Test("K-15, D-10: the sample cancelled before its start announces both, and its start nothing")
  func cancelOfTheSample() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = MyAsyncOperation()
      let changes = FlagChanges(of: operation)
      queue.addOperation(operation)
      operation.cancel()
      #expect(queue.operationCount == 0)
      operation.start()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(
        changes.log.events == [
          "will isCancelled", "isCancelled false→true", "will isFinished", "isFinished false→true",
        ])
    }
  }

  @Test("D-8, K-17: a second announcement that it executes reaches observers, and changes nothing")
  func gazelle() async throws {
    try await onOwnThread {
      let operation = GazelleOperation()
      let log = EventLog<String>()
      operation.work = { log.note("checked for predators, \(operation.state)") }
      let changes = FlagChanges(of: operation)
      operation.start()
      operation.work = {}
      #expect(log.events == ["checked for predators, executing"])
      #expect(changes.log.events.count { $0.hasPrefix("isExecuting") } == 4)
      #expect(changes.log.events.last == "isFinished false→true")
    }
  }

  @Test("SA-1, D-22: base start leaves the finish to work that continues, which finishes it once")
  func superStartOfAnAsynchronousOne() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let gate = Gate()
      do {
        let operation = LateFinishedOperation(gate: gate, log: log)
        operation.completionBlock = { log.note("completion") }
        let dependent = BlockOperation { log.note("dependent") }
        dependent.addDependency(operation)
        let queue = OperationQueue()
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        gate.waitForArrivals(1)
        #expect(operation.state == .executing && queue.operationCount == 2)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.state == .finished && queue.operationCount == 0)
      }
      log.wait(for: "freed")
      log.wait(for: "completion")
      #expect(log.events.count { $0 == "completion" } == 1)
      #expect(log.events.count { $0 == "dependent" } == 1)
    }
  }

  @Test(
    "ST-6: an override that is false after the start has no effect")
  func notReadyAfterTheStart() async throws {
    try await onOwnThread {
      for fixture in [FixtureClass.state, .derivedState] {
        let gate = Gate()
        let operation = fixture.make(atStart: {}) { gate.pass() }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let next = BlockOperation {}
        queue.addOperations([operation, next], waitUntilFinished: false)
        gate.waitForArrivals(1)
        #expect(!operation.isReady && operation.isExecuting && operation.state == .executing)
        #expect(queue.operationCount == 2 && next.state == .ready)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("MX-1: in a queue of width 1, one operation of each class is unfinished at a time")
  func oneAtATime() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let now = Monitored(0)
      let counts = EventLog<Int>()
      for fixture in FixtureClass.allCases + FixtureClass.allCases {
        queue.addOperation(
          fixture.make(atStart: {}) {
            counts.note(
              now.change {
                $0 += 1; return $0
              })
            now.change { $0 -= 1 }
          })
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(counts.events == Array(repeating: 1, count: 2 * FixtureClass.allCases.count))
    }
  }

  @Test("CA-12, CA-6: cancelled by its own flag, it starts before ready operations, and runs")
  func ownCancelFlag() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      queue.addOperation { log.note("ready") }
      let operation = OwnCancelFlagOperation()
      operation.work = { log.note("work") }
      operation.completionBlock = { log.note("completion") }
      operation.addDependency(Operation())
      operation.queuePriority = .veryLow
      let after = BlockOperation { log.note("dependent") }
      after.queuePriority = .veryHigh
      after.addDependency(operation)
      queue.addOperations([operation, after], waitUntilFinished: false)
      operation.cancel()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      log.wait(for: "completion")
      #expect(log.events.filter { $0 != "completion" } == ["work", "dependent", "ready"])
    }
  }
}

/// An operation that continues its work after `super.start()` has run `main()` and returned, and
/// announces its finish at the end.
private final class LateFinishedOperation: Operation, @unchecked Sendable {
  private let gate: Gate
  private let log: EventLog<String>
  private let lock = NSLock()
  private var finished = false

  init(gate: Gate, log: EventLog<String>) {
    self.gate = gate
    self.log = log
  }

  deinit { log.note("freed") }

  override var isFinished: Bool { lock.withLock { finished } }
  override var isAsynchronous: Bool { true }

  override func start() {
    guard !isCancelled else { return }
    super.start()
  }

  override func main() {
    DispatchQueue.global().async { [self] in
      gate.pass()
      willChangeValue(forKey: "isFinished")
      lock.withLock { finished = true }
      didChangeValue(forKey: "isFinished")
    }
  }
}

/// Returns the notifications that observers of an operation's flags receive.
private final class FlagChanges: Sendable {
  let log = EventLog<String>()
  private let observations = Monitored<[NSKeyValueObservation]>([])

  init(of operation: Operation) {
    watch(operation, \.isReady, "isReady")
    watch(operation, \.isExecuting, "isExecuting")
    watch(operation, \.isFinished, "isFinished")
    watch(operation, \.isCancelled, "isCancelled")
  }

  private func watch(_ operation: Operation, _ keyPath: KeyPath<Operation, Bool>, _ name: String) {
    let observation = operation.observe(keyPath, options: [.old, .new, .prior]) { [log] _, change in
      if change.isPrior { return log.note("will \(name)") }
      guard let old = change.oldValue, let new = change.newValue else {
        return log.note("\(name) lacks a value")
      }
      log.note("\(name) \(old)→\(new)")
    }
    observations.change { $0.append(observation) }
  }
}

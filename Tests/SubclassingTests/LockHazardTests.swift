// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Operations
import Synchronization
import TestSupport
import Testing

@Suite("Locks of subclasses that are held while changes are announced")
struct LockHazardTests {
  @Test(
    "H-1, H-2: finishing an operation under its lock does not read isReady of dependents")
  func dependentsAreAskedElsewhere() async throws {
    try await onOwnThread {
      let dependency = MyAsyncOperation()
      let dependent = GatedReadinessOperation()
      dependent.addDependency(dependency)
      let queue = OperationQueue()
      queue.addOperation(dependent)
      dependent.isShut.change { $0 = true }
      // `cancel()` finishes the dependency while this thread holds the dependency's lock. If this
      // thread evaluated the dependent's `isReady`, it would block, because the gate is closed.
      dependency.cancel()
      #expect(dependency.state == .finished && !dependent.isFinished)
      dependent.gate.waitForArrivals(1)
      dependent.gate.open()
      dependent.waitUntilFinished()
    }
  }

  @Test("H-2: one lock held while finishing, the other while cancelling: no deadlock")
  func finishingRacesCancellingAcrossObjects() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for _ in 0..<Effort.scaled(2_000) {
        let dependency = MyAsyncOperation()
        let dependent = LockedReadinessOperation()
        dependent.addDependency(dependency)
        // The flag `isAboutToFinish` makes this thread cancel the dependency just before the other
        // thread finishes the dependency.
        let isAboutToFinish = Atomic<Bool>(false)
        dependency.work = { isAboutToFinish.store(true, ordering: .releasing) }
        queue.addOperation(dependency)
        queue.addOperation(dependent)
        dependent.lock.withLock {
          while !isAboutToFinish.load(ordering: .acquiring) { sched_yield() }
          dependency.cancel()
        }
        dependent.waitUntilFinished()
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("H-3: an observer that cancels the sample under its lock after any notification")
  func cancelledByAnObserver() async throws {
    let keys: [KeyPath<Operation, Bool> & Sendable] = [\.isExecuting, \.isFinished, \.isCancelled]
    for key in keys {
      try await onOwnThread {
        let log = EventLog<String>()
        do {
          let operation = MyAsyncOperation()
          operation.completionBlock = { log.note("completion") }
          let probe = DeinitProbe("freed", in: log)
          operation.work = { probe.touch() }
          let observation = operation.observe(key, options: [.prior, .old, .new]) { operation, _ in
            operation.cancel()
          }
          let queue = OperationQueue()
          queue.addOperation(operation)
          queue.waitUntilAllOperationsAreFinished()
          #expect(operation.state == .finished && queue.operationCount == 0)
          withExtendedLifetime(observation) {}
        }
        log.wait(for: "freed")
        #expect(log.events == ["completion", "freed"])
      }
    }
  }

  @Test("H-3: a chain of 50,000 that finish inside their start grows no stack")
  func chainOfInstantOperations() async throws {
    try await onOwnThread(stackSize: 512 * 1024) {
      let length = Effort.scaled(50_000)
      let count = Monitored(0)
      let first = Operation()
      var chain: [Operation] = [first]
      for _ in 0..<length {
        let next = InstantOperation { count.change { $0 += 1 } }
        next.addDependency(chain[chain.count - 1])
        chain.append(next)
      }
      let queue = OperationQueue()
      queue.addOperations(Array(chain.dropFirst()), waitUntilFinished: false)
      first.start()
      queue.waitUntilAllOperationsAreFinished()
      #expect(count.value == length)
    }
  }

  @Test("H-4: a non-recursive lock is held during the announcement of a coming change")
  func plainLock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for _ in 0..<Effort.scaled(500) {
        let operation = PlainLockOperation()
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(!operation.isExecuting && operation.isFinished)
      }
      #expect(queue.operationCount == 0)
    }
  }

  @Test("H-4, D-24: without observers, only the changed property is read")
  func whatIsRead() {
    let operation = ReadCountingOperation()
    operation.willChangeValue(forKey: "isFinished")
    operation.willChangeValue(forKey: "isExecuting")
    #expect(operation.log.events.isEmpty)
    operation.didChangeValue(forKey: "isExecuting")
    operation.didChangeValue(forKey: "isFinished")
    #expect(operation.log.events == ["isExecuting", "isFinished"])
  }
}

/// An operation whose `isReady` blocks while the gate is closed.
private final class GatedReadinessOperation: Operation, @unchecked Sendable {
  let isShut = Monitored(false)
  let gate = Gate()

  override var isReady: Bool {
    let answer = super.isReady
    if isShut.value { gate.pass() }
    return answer
  }
}

private final class LockedReadinessOperation: Operation, @unchecked Sendable {
  let lock = NSRecursiveLock()

  override var isReady: Bool { lock.withLock { super.isReady } }
}

/// An operation that executes and finishes inside `start()`.
private final class InstantOperation: Operation, @unchecked Sendable {
  private let lock = NSRecursiveLock()
  private let work: @Sendable () -> Void
  private var finished = false

  init(work: @escaping @Sendable () -> Void) { self.work = work }

  override var isFinished: Bool { lock.withLock { finished } }

  override func start() {
    work()
    lock.withLock {
      willChangeValue(forKey: "isFinished")
      finished = true
      didChangeValue(forKey: "isFinished")
    }
  }
}

private final class ReadCountingOperation: Operation, @unchecked Sendable {
  let log = EventLog<String>()

  override var isExecuting: Bool {
    log.note("isExecuting")
    return super.isExecuting
  }

  override var isFinished: Bool {
    log.note("isFinished")
    return super.isFinished
  }
}

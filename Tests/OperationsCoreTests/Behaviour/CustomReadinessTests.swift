// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Subclasses that override isReady")
struct CustomReadinessTests {
  @Test("DE-18: it runs only after the override is true and has announced that")
  func heldUntilAnnounced() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operation = ConditionalOperation()
      queue.addOperation(operation)
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(!operation.isFinished && operation.state == .waiting)
      operation.allow()
      operation.waitUntilFinished()
    }
  }

  @Test("DE-18: after its dependencies, the override is read again, and its value takes effect")
  func heldAfterItsDependencies() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let dependency = Operation()
      let operation = ConditionalOperation()
      operation.addDependency(dependency)
      queue.addOperation(operation)
      dependency.start()
      // After the dependency has finished, the worker chooses the operation and reads `false` from
      // its `isReady`. So the operation stays in the queue.
      operation.noes.wait(for: "the worker's question") { $0 >= 2 }
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(!operation.isFinished)
      operation.allow()
      operation.waitUntilFinished()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("DE-18: a condition that becomes false after the addition is read at the last moment")
  func turnedFalse() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = ConditionalOperation()
      operation.allow()
      queue.addOperation(operation)
      operation.forbid()
      queue.isSuspended = false
      operation.noes.wait(for: "the worker's question") { $0 >= 1 }
      #expect(!operation.isFinished)
      operation.allow()
      operation.waitUntilFinished()
    }
  }

  @Test("DE-16: a false that was read just before the last dependency finished is not kept")
  func staleAnswer() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let dependency = Operation()
      let operation = SlowlyAnsweringOperation()
      operation.addDependency(dependency)
      operation.isSlow.raise()
      startThread { queue.addOperation(operation) }
      // The thread that adds the operation has read `isReady` as `false`, but has not stored the
      // value yet.
      operation.gate.waitForArrivals(1)
      dependency.start()
      operation.gate.open()
      operation.waitUntilFinished()
    }
  }

  @Test("DE-18: an override that ignores super ignores the dependencies")
  func withoutSuper() async throws {
    try await onOwnThread {
      final class Ignoring: Operation, @unchecked Sendable {
        override var isReady: Bool { true }
      }
      let queue = OperationQueue()
      let operation = Ignoring()
      operation.addDependency(Operation())
      queue.addOperation(operation)
      operation.waitUntilFinished()
    }
  }

  @Test("ST-6: an override that is false after the start is ignored")
  func noAfterTheStart() async throws {
    try await onOwnThread {
      final class ReadyOnce: Operation, @unchecked Sendable {
        let hasStarted = Flag()
        override var isReady: Bool { super.isReady && !hasStarted.isRaised }
        override func main() {
          hasStarted.raise()
          willChangeValue(forKey: "isReady")
          didChangeValue(forKey: "isReady")
        }
      }
      let queue = OperationQueue()
      let operation = ReadyOnce()
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.isFinished)
    }
  }

  @Test("K-15, D-10, BA-1: finished while its queue reads isReady, it leaves for good")
  func finishedWhileAsked() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = EarlyFinishingOperation()
      queue.addOperation(operation)
      operation.isSlow.raise()
      queue.isSuspended = false
      // A worker has chosen the operation and now evaluates its `isReady`.
      operation.gate.waitForArrivals(1)
      operation.finish()
      operation.waitUntilFinished()
      let log = EventLog<String>()
      queue.addBarrierBlock { log.note("barrier") }
      operation.gate.open()
      log.wait(for: "barrier")
      #expect(queue.operationCount == 0)
    }
  }

  @Test(
    "DE-18, H-2: outside a queue, isReady is read on another thread at the last finish",
    arguments: [false, true])
  func outsideAQueue(isObserved: Bool) async throws {
    try await onOwnThread {
      let dependencies = [Operation(), Operation()]
      let operation = AskedOperation()
      for dependency in dependencies { operation.addDependency(dependency) }
      let observation = isObserved ? operation.observe(\.isReady) { _, _ in } : nil
      operation.begin()
      dependencies[0].start()
      #expect(operation.log.events.isEmpty)
      // The last dependency finishes while this thread holds a lock that the operation's `isReady`
      // also acquires.
      operation.flagsLock.withLock { _ in dependencies[1].start() }
      operation.log.wait(for: "asked on another thread")
      #expect(operation.isReady)
      withExtendedLifetime(observation) {}
    }
  }

  /// A reason why a queue cannot start an operation immediately.
  enum Obstruction: CaseIterable { case suspension, fullWidth, barrier }

  @Test(
    "DE-18, H-2: while its queue cannot start it, isReady is read at the last finish",
    arguments: Obstruction.allCases, [false, true])
  func inAnObstructedQueue(obstruction: Obstruction, isObserved: Bool) async throws {
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      switch obstruction {
      case .suspension: queue.isSuspended = true
      case .fullWidth: queue.addOperation { gate.pass() }
      case .barrier: queue.addBarrierBlock { gate.pass() }
      }
      if obstruction != .suspension { gate.waitForArrivals(1) }
      let dependency = Operation()
      let operation = AskedOperation()
      operation.addDependency(dependency)
      queue.addOperation(operation)
      let observation = isObserved ? operation.observe(\.isReady) { _, _ in } : nil
      operation.begin()
      // The dependency finishes while this thread holds a lock that the operation's `isReady` also
      // acquires.
      operation.flagsLock.withLock { _ in dependency.start() }
      operation.log.wait(for: "asked on another thread")
      #expect(operation.state == .ready)
      gate.open()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      withExtendedLifetime(observation) {}
    }
  }

  @Test(
    "DE-18: isReady is read at the last finish, even if the same queue starts another one",
    arguments: [false, true])
  func behindAnotherInItsQueue(isSubclass: Bool) async throws {
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let dependency = isSubclass ? PlainSubclass() : BlockOperation {}
      let urgent = BlockOperation { gate.pass() }
      urgent.queuePriority = .high
      let operations = (0..<3).map { _ in AskedOperation() }
      for dependent in operations + [urgent] { dependent.addDependency(dependency) }
      queue.addOperations([dependency, urgent] + operations, waitUntilFinished: false)
      for operation in operations { operation.begin() }
      queue.isSuspended = false
      for operation in operations { operation.log.wait(for: "asked on another thread") }
      #expect(operations.allSatisfy { $0.state == .ready })
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("CA-6: a cancelled operation is retired regardless of its condition")
  func cancelled() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operation = ConditionalOperation()
      queue.addOperation(operation)
      operation.cancel()
      operation.waitUntilFinished()
    }
  }
}

/// An operation that is not ready until the test calls `allow()`.
private final class ConditionalOperation: Operation, @unchecked Sendable {
  private let isAllowed = Monitored(false)
  /// The number of times that `isReady` has returned `false`.
  let noes = Monitored(0)

  override var isReady: Bool {
    let answer = super.isReady && isAllowed.value
    if !answer { noes.change { $0 += 1 } }
    return answer
  }

  func allow() { set(true) }

  /// Makes the operation not ready again, without announcing the change of `isReady`.
  func forbid() { isAllowed.change { $0 = false } }

  private func set(_ isAllowed: Bool) {
    willChangeValue(forKey: "isReady")
    self.isAllowed.change { $0 = isAllowed }
    didChangeValue(forKey: "isReady")
  }
}

/// An operation whose `isReady` reads the base class's `isReady`, and then blocks before it returns
/// the value for the first time.
private final class SlowlyAnsweringOperation: Operation, @unchecked Sendable {
  let isSlow = Flag()
  let gate = Gate()

  override var isReady: Bool {
    let answer = super.isReady
    if isSlow.isRaised, !answer { gate.pass() }
    return answer
  }
}

/// An operation that is not ready after it has finished, and whose `isReady` returns slowly.
private final class EarlyFinishingOperation: Operation, @unchecked Sendable {
  let isSlow = Flag()
  let gate = Gate()
  private let isOver = Flag()

  override var isAsynchronous: Bool { true }
  override var isFinished: Bool { isOver.isRaised }

  override var isReady: Bool {
    if isSlow.isRaised { gate.pass() }
    return super.isReady && !isFinished
  }

  func finish() {
    willChangeValue(forKey: "isFinished")
    isOver.raise()
    didChangeValue(forKey: "isFinished")
  }
}

/// An operation that records the threads that evaluate `isReady` after its dependencies have finished.
private final class AskedOperation: Operation, @unchecked Sendable {
  let flagsLock = Locked(())
  let log = EventLog<String>()
  private let hasBegun = Flag()
  private let caller = pthread_self()

  /// Begins to record the threads that read `isReady`.
  func begin() { hasBegun.raise() }

  override var isReady: Bool {
    let isOnCaller = pthread_equal(pthread_self(), caller) != 0
    if hasBegun.isRaised, super.isReady, !isOnCaller {
      flagsLock.withLock { _ in }
      log.note("asked on another thread")
    }
    return super.isReady
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import TestSupport
import Testing

private struct Mishap: Error, Equatable {
  var number = 1
}

@Suite("Dependencies with required success")
struct RequirementTests {
  @Test("A successful dependency is awaited like any other")
  func success() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let first = BlockOperation { log.note("first") }
      let second = BlockOperation { log.note("second") }
      second.addDependency(first, requires: .success)
      #expect(second.dependencies == [first] && !second.isReady)
      OperationQueue().addOperations([second, first], waitUntilFinished: true)
      #expect(log.events == ["first", "second"])
      #expect(!second.isCancelled && second.error == nil)
    }
  }

  @Test("A failed dependency cancels the dependent, which does not run and has the error")
  func failure() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let first = InvocationOperation<Int> { throw Mishap() }
      let second = BlockOperation { log.note("second") }
      second.addDependency(first, requires: .success)
      OperationQueue().addOperations([second, first], waitUntilFinished: true)
      #expect(first.error as? Mishap == Mishap() && !first.isCancelled)
      #expect(second.isCancelled && log.events.isEmpty)
      let error = try #require(second.error as? OperationDependencyError)
      #expect(error.dependency.id == first.id && error.underlyingError as? Mishap == Mishap())
      #expect("\(error)" == "operation \(first.id) failed: Mishap(number: 1)")
    }
  }

  @Test("A cancelled dependency cancels its dependents through a chain of a thousand")
  func cancelledChain() async throws {
    try await onOwnThread {
      let log = EventLog<Int>()
      let operations = (0..<1_000).map { index in BlockOperation { log.note(index) } }
      for (dependency, dependent) in zip(operations, operations.dropFirst()) {
        dependent.addDependency(dependency, requires: .success)
      }
      operations[0].cancel()
      OperationQueue().addOperations(operations, waitUntilFinished: true)
      #expect(operations.allSatisfy { $0.isCancelled } && log.events.isEmpty)
      #expect(operations[0].error == nil)
      let first = try #require(operations[1].error as? OperationDependencyError)
      #expect(first.underlyingError == nil)
      #expect("\(first)" == "operation \(operations[0].id) was cancelled")
      let second = try #require(operations[2].error as? OperationDependencyError)
      #expect(second.dependency.id == operations[1].id && second.underlyingError == nil)
      // The error of each operation names the operation that was cancelled first, and retains none
      // of the operations between the two.
      let last = try #require(operations[999].error as? OperationDependencyError)
      #expect(last.origin.id == operations[0].id)
      #expect(
        "\(last)"
          == "operation \(operations[998].id) was cancelled because operation \(operations[0].id) was "
          + "cancelled")
    }
  }

  @Test("A dependent that fails early does not wait for its other dependencies")
  func othersAreNotWaitedFor() async throws {
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let endless = BlockOperation { gate.pass() }
      let failing = InvocationOperation<Int> { throw Mishap() }
      let dependent = BlockOperation { Issue.record("It ran") }
      dependent.addDependency(endless, requires: .success)
      dependent.addDependency(failing, requires: .success)
      queue.addOperations([endless, failing, dependent], waitUntilFinished: false)
      dependent.waitUntilFinished()
      #expect(dependent.isCancelled && !endless.isFinished)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("An already failed dependency cancels at once; a successful one delays nothing")
  func finishedBefore() {
    let failed = InvocationOperation<Int> { throw Mishap() }
    failed.start()
    let succeeded = Operation()
    succeeded.start()
    let dependent = Operation()
    dependent.addDependency(succeeded, requires: .success)
    #expect(dependent.isReady && !dependent.isCancelled)
    dependent.addDependency(failed, requires: .success)
    #expect(
      dependent.isReady && dependent.isCancelled && dependent.error is OperationDependencyError)
    #expect(dependent.dependencies == [succeeded, failed])
  }

  @Test("A failed plain dependency has no effect unless its success is required later")
  func plainAndMore() {
    let failing = InvocationOperation<Int> { throw Mishap() }
    let dependents = (0..<3).map { _ in Operation() }
    for dependent in dependents { dependent.addDependency(failing) }
    dependents[1].addDependency(failing, requires: .success)
    dependents[1].addDependency(failing, requires: .success)
    dependents[2].addDependency(failing, requires: .completion)
    #expect(dependents[1].dependencies == [failing])
    failing.start()
    dependents[1].waitForCancellation()
    #expect(dependents.allSatisfy { $0.isReady })
    #expect(dependents.map(\.isCancelled) == [false, true, false])
  }

  @Test("Removing a dependency removes its requirement")
  func removed() {
    let failing = InvocationOperation<Int> { throw Mishap() }
    let dependent = Operation()
    dependent.addDependency(failing, requires: .success)
    dependent.removeDependency(failing)
    #expect(dependent.isReady && dependent.dependencies.isEmpty)
    failing.start()
    #expect(dependent.isReady && !dependent.isCancelled)
  }

  @Test("An executing operation is not cancelled by a dependency that is added then")
  func tooLate() async throws {
    try await onOwnThread {
      let gate = Gate()
      let failing = InvocationOperation<Int> { throw Mishap() }
      let dependent = BlockOperation { gate.pass() }
      let queue = OperationQueue()
      queue.addOperation(dependent)
      gate.waitForArrivals(1)
      dependent.addDependency(failing, requires: .success)
      failing.start()
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(!dependent.isCancelled && dependent.error == nil)
    }
  }

  @Test("K-2: observers see not ready, ready, and ready again at the cancellation")
  func announcements() {
    let log = EventLog<Bool>()
    let dependency = Operation()
    let dependent = Operation()
    let observation = dependent.observe(\.isReady, options: .new) { _, change in
      if let isReady = change.newValue { log.note(isReady) }
    }
    dependent.addDependency(dependency, requires: .success)
    #expect(log.events == [false])
    dependency.start()
    #expect(log.events == [false, true])
    // If the dependency has already failed, the dependent is cancelled immediately. Only its
    // cancellation and its readiness are announced.
    let failed = InvocationOperation<Int> { throw Mishap() }
    failed.start()
    dependent.addDependency(failed, requires: .success)
    #expect(log.events == [false, true, true] && dependent.isCancelled)
    observation.invalidate()
  }

  @Test("Requiring the same success on two threads counts once, and one removal removes it")
  func requiredTwiceAtOnce() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(2_000) {
        let dependency = Operation()
        let dependent = Operation()
        dependent.addDependency(dependency)
        onThreads(3) { thread in
          if thread == 2 {
            dependent.removeDependency(dependency)
          } else {
            dependent.addDependency(dependency, requires: .success)
          }
        }
        dependent.removeDependency(dependency)
        #expect(dependent.isReady && dependent.dependencies.isEmpty)
        dependency.cancel()
        dependency.start()
        #expect(!dependent.isCancelled)
      }
    }
  }

  @Test("DE-18: a subclass that starts before its dependency has finished is not cancelled")
  func startedBefore() async throws {
    try await onOwnThread {
      let gate = Gate()
      let dependency = InvocationOperation<Int> { throw Mishap() }
      let hasty = HastyOperation(gate)
      hasty.addDependency(dependency, requires: .success)
      let queue = OperationQueue()
      queue.addOperation(hasty)
      gate.waitForArrivals(1)
      queue.addOperations([dependency], waitUntilFinished: true)
      // The next operation and its completion block run after the dependency's finish is processed.
      // A wrong implementation would have cancelled the dependent by then.
      let after = Gate()
      let next = BlockOperation {}
      next.completionBlock = { after.open() }
      queue.addOperation(next)
      after.pass()
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(!hasty.isCancelled && hasty.error == nil)
    }
  }

  @Test("K-24: isCancelled of a finishing operation is not read under its lock")
  func noGetterIsCalled() {
    let failing = AskedOperation()
    let dependent = Operation()
    dependent.addDependency(failing, requires: .success)
    failing.cancel()
    let before = failing.questions.events.count
    failing.endNow()
    #expect(failing.questions.events.count == before)
    dependent.waitForCancellation()
  }

  @Test("A dependency does not retain its requiring dependents, alive or released")
  func lifetimes() throws {
    let log = EventLog<String>()
    let dependency = Operation()
    for _ in 0..<1_000 {
      let dependent = PlainSubclass(atDeinit: { log.note("freed") })
      dependent.addDependency(dependency, requires: .success)
    }
    #expect(log.events.count == 1_000)
    dependency.start()
  }

  @Test("H-2: a thread without locks of the failing operation cancels its dependents")
  func noLockIsHeld() async throws {
    try await onOwnThread {
      let failing = LockedAsynchronousOperation()
      let threads = EventLog<Bool>()
      let dependent = CancelWatcher(csystem_thread_number(), threads)
      dependent.addDependency(failing, requires: .success)
      let queue = OperationQueue()
      queue.addOperation(dependent)
      // `cancel()` finishes the dependency on this thread, which holds the dependency's lock.
      failing.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(dependent.isCancelled && threads.events == [false])
    }
  }

  @Test(
    "A dependent that has not started when success is required never runs after a failure",
    arguments: [false, true])
  func race(fails: Bool) async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(2_000) {
        let log = EventLog<String>()
        let pace = Pace()
        let obstacle = BlockOperation {}
        let dependency = InvocationOperation<Int> { if fails { throw Mishap() } else { 1 } }
        let dependent = BlockOperation { log.note("ran") }
        dependent.addDependency(obstacle)
        let queue = OperationQueue()
        queue.addOperation(dependent)
        onThreads(2) { thread in
          pace.advance(to: 1)
          if thread == 0 {
            dependency.start()
          } else {
            dependent.addDependency(dependency, requires: .success)
          }
        }
        obstacle.start()
        queue.waitUntilAllOperationsAreFinished()
        #expect(dependent.isCancelled == fails && log.events == (fails ? [] : ["ran"]))
      }
    }
  }
}

@Suite("Recorded errors")
struct RecordedErrorTests {
  @Test("The first error before the finish is kept")
  func firstAndInTime() {
    let operation = Operation()
    #expect(operation.error == nil)
    #expect(operation.fail(with: Mishap(number: 1)))
    #expect(!operation.fail(with: Mishap(number: 2)))
    operation.start()
    #expect(operation.error as? Mishap == Mishap(number: 1) && !operation.isCancelled)
    let late = Operation()
    late.start()
    #expect(!late.fail(with: Mishap()) && late.error == nil)
  }

  @Test("cancel(with:) cancels, and keeps the reason")
  func reason() {
    let operation = Operation()
    operation.cancel(with: Mishap())
    operation.cancel(with: Mishap(number: 2))
    #expect(operation.isCancelled && operation.error as? Mishap == Mishap())
    let finished = Operation()
    finished.start()
    finished.cancel(with: Mishap())
    #expect(!finished.isCancelled && finished.error == nil)
  }

  @Test("A reason that comes after the finish is not an error of the operation")
  func reasonAtTheEnd() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(2_000) {
        let operation = InvocationOperation { 1 }
        onThreads(2) { thread in
          if thread == 0 { operation.start() } else { operation.cancel(with: Mishap()) }
        }
        #expect((operation.error != nil) == operation.isCancelled)
      }
    }
  }

  @Test("A subclass may declare its own error; the base class has the library's")
  func ownProperty() {
    let operation = FailingSubclass()
    operation.fail(with: Mishap())
    #expect(operation.error == "mine" && (operation as Operation).error is Mishap)
  }
}

/// An operation that is ready regardless of its dependencies.
private final class HastyOperation: Operation, @unchecked Sendable {
  private let gate: Gate

  init(_ gate: Gate) {
    self.gate = gate
    super.init()
  }

  override var isReady: Bool { true }
  override func main() { gate.pass() }
}

/// An operation that records the thread on which it is cancelled.
private final class CancelWatcher: Operation, @unchecked Sendable {
  private let thread: UInt64
  private let log: EventLog<Bool>

  init(_ thread: UInt64, _ log: EventLog<Bool>) {
    self.thread = thread
    self.log = log
    super.init()
  }

  override func cancel() {
    log.note(thread == csystem_thread_number())
    super.cancel()
  }
}

/// An operation that records each read of its cancelled flag, and ends when a test requests it.
private final class AskedOperation: Operation, @unchecked Sendable {
  let questions = EventLog<String>()
  private let hasEnded = Flag()

  override var isCancelled: Bool {
    questions.note("isCancelled?")
    return super.isCancelled
  }

  override var isFinished: Bool { hasEnded.isRaised }

  func endNow() {
    willChangeValue(forKey: "isFinished")
    hasEnded.raise()
    didChangeValue(forKey: "isFinished")
  }
}

private final class FailingSubclass: Operation, @unchecked Sendable {
  let error = "mine"
}

extension Operation {
  /// Blocks the calling thread until another thread has cancelled this operation, and then until
  /// the operation is ready.
  fileprivate func waitForCancellation() {
    let isReady = Monitored(false)
    let observation = observe(\.isReady, options: [.initial, .new]) { operation, _ in
      if operation.isCancelled, operation.isReady { isReady.change { $0 = true } }
    }
    isReady.wait(for: "the cancellation to take effect") { $0 }
    observation.invalidate()
  }
}

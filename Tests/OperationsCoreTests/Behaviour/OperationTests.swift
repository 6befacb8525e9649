// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Single operations")
struct OperationTests {
  @Test("OP-1, OP-2, OP-3: a new operation's properties")
  func newOperation() {
    let operation = Operation()
    #expect(operation.isReady)
    #expect(!operation.isExecuting && !operation.isFinished && !operation.isCancelled)
    #expect(!operation.isAsynchronous && !operation.isConcurrent)
    #expect(operation.dependencies.isEmpty && operation.queuePriority == .normal)
    #expect(operation.completionBlock == nil && operation.name == nil)
    #expect(operation.qualityOfService == .default && operation.state == .ready)
  }

  @Test("F-20, OP-4: overriding isAsynchronous changes isConcurrent")
  func asynchronousFlag() {
    #expect(LockedAsynchronousOperation().isConcurrent)
  }

  @Test("OP-4: overriding only isConcurrent changes isAsynchronous, through super too")
  func concurrentFlag() {
    final class OnlyConcurrent: Operation, @unchecked Sendable {
      override var isConcurrent: Bool { true }
    }
    final class ByTheOther: Operation, @unchecked Sendable {
      override var isConcurrent: Bool { isAsynchronous }
    }
    final class BySuper: BlockOperation, @unchecked Sendable {
      override var isAsynchronous: Bool { super.isAsynchronous }
      override var isConcurrent: Bool { super.isConcurrent }
    }
    /// An operation whose `isConcurrent` returns the value of another operation.
    final class Wrapper: Operation, @unchecked Sendable {
      let inner = OnlyConcurrent()
      override var isConcurrent: Bool { inner.isAsynchronous }
    }
    #expect(OnlyConcurrent().isAsynchronous && OnlyConcurrent().isConcurrent)
    #expect(OnlyConcurrent().value(forKey: "asynchronous") as? Bool == true)
    #expect(Wrapper().isAsynchronous && Wrapper().isConcurrent)
    for operation in [PlainSubclass(), ByTheOther(), BySuper(), BlockOperation {}] {
      #expect(!operation.isAsynchronous && !operation.isConcurrent)
    }
  }

  @Test("OP-5, SA-1: main of the base class does nothing, and start finishes on the calling thread")
  func baseMain() {
    let operation = Operation()
    operation.main()
    #expect(!operation.isFinished)
    operation.start()
    #expect(operation.isFinished && !operation.isExecuting && operation.isReady)
  }

  @Test("OP-6, SA-2: a finished operation does not run again")
  func singleShot() {
    let log = EventLog<String>()
    let operation = PlainSubclass { log.note("main") }
    operation.start()
    operation.start()
    #expect(log.events == ["main"])
  }

  @Test("F-21, OP-7: properties may be set and read by many threads at once")
  func hammering() async throws {
    try await onOwnThread {
      let operation = BlockOperation {}
      let dependencies = (0..<4).map { _ in Operation() }
      onThreads(4) { thread in
        for round in 0..<500 {
          operation.name = "\(thread).\(round)"
          operation.queuePriority = round.isMultiple(of: 2) ? .high : .low
          operation.qualityOfService = .utility
          operation.completionBlock = {}
          operation.addDependency(dependencies[thread])
          _ = operation.description + operation.debugDescription
          _ = (operation.dependencies, operation.isReady, operation.state, operation.id)
          operation.removeDependency(dependencies[thread])
          if round == 400 { operation.cancel() }
        }
      }
      #expect(operation.dependencies.isEmpty && operation.isReady && operation.isCancelled)
    }
  }

  @Test("Identity: an operation is equal only to itself, and has its own id")
  func identity() {
    let first = Operation()
    let second = Operation()
    #expect(first == first && first != second && first.id != second.id && first.id == first.id)
    #expect(Set([first, second, first]).count == 2)
    first.name = "resize"
    #expect(first.description.contains("resize") && first.description.contains("\(first.id)"))
  }

  @Test("ST-1, ST-2, BL-6: executing inside main, then finished")
  func flagsDuringMain() {
    let log = EventLog<[Bool]>()
    let note: @Sendable (Operation) -> Void = {
      log.note([$0.isReady, $0.isExecuting, $0.isFinished])
    }
    let operation = SelfReportingOperation(report: note)
    note(operation)
    operation.start()
    note(operation)
    #expect(log.events == [[true, false, false], [true, true, false], [true, false, true]])
  }

  @Test("ST-2: no reader sees a started operation that neither executes nor has finished")
  func noGapBetweenExecutingAndFinished() async throws {
    try await onOwnThread {
      for _ in 0..<300 {
        let operation = PlainSubclass()
        let hasStarted = Flag()
        let gaps = Monitored(0)
        onThreads(2) { thread in
          if thread == 0 {
            operation.start()
          } else {
            while !operation.isFinished {
              if operation.isExecuting { hasStarted.raise() }
              // One read of `state` is consistent: it must not return `.ready` after the operation
              // has begun to execute.
              if hasStarted.isRaised, operation.state == .ready { gaps.change { $0 += 1 } }
            }
          }
        }
        #expect(gaps.value == 0)
      }
    }
  }

  @Test("SA-9: start that calls super still runs main")
  func startWithSuper() {
    final class Starting: PlainSubclass, @unchecked Sendable {
      override func start() { super.start() }
    }
    let log = EventLog<String>()
    let operation = Starting { log.note("main") }
    operation.start()
    #expect(log.events == ["main"] && operation.isFinished)
  }

  @Test("SA-10: isAsynchronous alone changes nothing: start blocks")
  func asynchronousFlagAlone() {
    final class Claiming: PlainSubclass, @unchecked Sendable {
      override var isAsynchronous: Bool { true }
    }
    let operation = Claiming()
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("SA-2: a cancelled operation finishes without main and runs its completion block")
  func startOfACancelledOne() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = PlainSubclass { log.note("main") }
      operation.completionBlock = { log.note("completion") }
      operation.cancel()
      #expect(!operation.isFinished, "CA-7, D-2: cancelling alone does not finish it")
      operation.start()
      #expect(operation.isFinished && operation.isCancelled)
      log.wait(for: "completion")
      #expect(log.events == ["completion"])
    }
  }

  @Test("SA-7: starting a finished operation has no effect, even with a new dependency")
  func startOfAFinishedOneWithADependency() {
    let operation = Operation()
    operation.start()
    operation.addDependency(Operation())
    operation.start()
    #expect(operation.isFinished && operation.isReady)
  }

  @Test("SA-11: inside a start by hand the current queue is the caller's")
  func currentQueueOfANestedStart() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<Bool>()
      let inner = PlainSubclass { log.note(OperationQueue.current === queue) }
      queue.addOperation { inner.start() }
      let outside = PlainSubclass { log.note(OperationQueue.current == nil) }
      queue.waitUntilAllOperationsAreFinished()
      outside.start()
      #expect(log.events == [true, true])
    }
  }
}

/// An operation that reads its own state from inside `main()`.
private final class SelfReportingOperation: Operation, @unchecked Sendable {
  private let report: @Sendable (Operation) -> Void

  init(report: @escaping @Sendable (Operation) -> Void) {
    self.report = report
    super.init()
  }

  override func main() { report(self) }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Subclasses whose main returns before the work has finished")
struct LateFinishTests {
  /// The two ways in which the tested subclasses start their work: in `main()`, or after
  /// `super.start()` has returned.
  enum Shape: String, CaseIterable, Sendable {
    case main, superStartFirst

    func make(_ work: @escaping @Sendable () -> Void = {}) -> LateOperation {
      switch self {
      case .main: LateOperation(work: work)
      case .superStartFirst: SuperStartFirstOperation(work: work)
      }
    }
  }

  @Test(
    "SA-1, SA-10, K-15: no dependent starts before isFinished is true, and each starts once",
    arguments: Shape.allCases, [1, 4, -1])
  func dependents(shape: Shape, width: Int) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let early = Atomic<Int>(0)
      let runs = Atomic<Int>(0)
      let completions = Monitored(0)
      let count = 800
      for index in 0..<count {
        let operation = shape.make()
        operation.completionBlock = { completions.change { $0 += 1 } }
        let note: @Sendable () -> Void = {
          if !operation.isFinished { early.wrappingAdd(1, ordering: .relaxed) }
          runs.wrappingAdd(1, ordering: .relaxed)
        }
        let dependent =
          index.isMultiple(of: 2) ? BlockOperation(block: note) : PlainSubclass(work: note)
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
      }
      queue.waitUntilAllOperationsAreFinished()
      completions.wait(for: "the completion blocks") { $0 == count }
      #expect(early.load(ordering: .relaxed) == 0 && runs.load(ordering: .relaxed) == count)
    }
  }

  @Test("SA-1: started by hand, it executes after start has returned, until its announcement")
  func byHand() async throws {
    try await onOwnThread {
      for shape in Shape.allCases {
        let gate = Gate()
        let log = EventLog<String>()
        let operation = shape.make { gate.pass() }
        operation.completionBlock = { log.note("completion") }
        let dependent = Operation()
        dependent.addDependency(operation)
        operation.start()
        #expect(!operation.isFinished && operation.isExecuting && operation.state == .executing)
        #expect(!dependent.isReady)
        let refusals = OperationMisuse.catching { operation.start() }
        #expect(refusals.map(\.kind) == [.receiverAlreadyExecuting])
        gate.open()
        operation.waitUntilFinished()
        #expect(operation.isFinished && !operation.isExecuting && operation.state == .finished)
        #expect(dependent.isReady)
        log.wait(for: "completion")
      }
    }
  }

  @Test("SA-1, MX-1: it holds its slot until it has finished")
  func slot() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let gate = Gate()
      let operation = LateOperation { gate.pass() }
      let next = BlockOperation {}
      queue.addOperations([operation, next], waitUntilFinished: false)
      gate.waitForArrivals(1)
      #expect(queue.operationCount == 2 && next.state == .ready)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.isFinished && next.isFinished)
    }
  }

  @Test("SA-1: isFinished is read once, after main, on the thread that ran it, without a lock")
  func question() {
    let operation = AskedOperation()
    operation.start()
    #expect(operation.log.events == ["main", "asked"])
    #expect(operation.isFinished && operation.state == .finished)
  }

  @Test("SA-1: an override that returns super's value finishes when main returns")
  func throughSuper() {
    final class Through: PlainSubclass, @unchecked Sendable {
      override var isFinished: Bool { super.isFinished && !super.isExecuting }
    }
    let operation = Through()
    operation.start()
    #expect(operation.isFinished && operation.state == .finished)
  }

  @Test("SA-1: an override that adds a condition to super's value finishes when both are true")
  func conditionBesideSuper() async throws {
    try await onOwnThread {
      let operation = ConditionOperation()
      let changes = ChangeLog(operation)
      OperationQueue().addOperation(operation)
      operation.waitUntilFinished()
      #expect(operation.isFinished && !operation.isExecuting)
      #expect(changes.events.last == "isFinished false→true")
    }
  }

  @Test("SA-1: a flag that main sets without announcing it is enough")
  func unannounced() {
    let operation = UnannouncedOperation()
    operation.start()
    #expect(operation.isFinished && operation.state == .finished)
  }

  @Test("SA-1, K-15: a finish that main announces itself is announced once")
  func announcedInMain() async throws {
    try await onOwnThread {
      let operation = LateOperation(isSynchronous: true)
      let changes = ChangeLog(operation)
      OperationQueue().addOperations([operation], waitUntilFinished: true)
      #expect(changes.events == Self.sequence)
    }
  }

  @Test("K-1, K-14, K-16: isExecuting ends with the finish that a subclass announces late")
  func announcements() async throws {
    try await onOwnThread {
      for isQueued in [true, false] {
        let gate = Gate()
        let operation = LateOperation { gate.pass() }
        let changes = ChangeLog(operation)
        if isQueued { OperationQueue().addOperation(operation) } else { operation.start() }
        gate.waitForArrivals(1)
        #expect(operation.isExecuting && !operation.isFinished)
        gate.open()
        operation.waitUntilFinished()
        #expect(changes.events == Self.sequence)
      }
    }
  }

  @Test("K-14: the library does not announce isExecuting for a subclass that announces it")
  func ownExecuting() async throws {
    try await onOwnThread {
      let operation = SuperStartFirstOperation()
      let changes = ChangeLog(operation)
      operation.start()
      operation.waitUntilFinished()
      let executing = changes.events.filter { $0 == "isExecuting true→false" }
      #expect(executing.count == 1)
      #expect(changes.events.suffix(2) == ["isExecuting true→false", "isFinished false→true"])
    }
  }

  @Test(
    "SA-2, CA-6: cancelled before its start, it leaves its queue without running",
    arguments: Shape.allCases)
  func cancelled(shape: Shape) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let runs = Atomic<Int>(0)
      let operation = shape.make { runs.wrappingAdd(1, ordering: .relaxed) }
      let dependent = BlockOperation {}
      dependent.addDependency(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      operation.cancel()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      operation.waitUntilFinished()
      #expect(runs.load(ordering: .relaxed) == 0 && dependent.isFinished)
    }
  }

  @Test("BL-5, BL-7: a block operation that finishes late keeps its slot, then releases its blocks")
  func blockOperation() async throws {
    final class LateBlock: BlockOperation, @unchecked Sendable {
      private let isOver = Flag()
      override var isFinished: Bool { isOver.isRaised }
      func finish() {
        willChangeValue(forKey: "isFinished")
        isOver.raise()
        didChangeValue(forKey: "isFinished")
      }
    }
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = LateBlock()
      do {
        let probe = DeinitProbe("released", in: log)
        operation.addExecutionBlock {
          probe.touch()
          log.note("run")
        }
      }
      let queue = OperationQueue()
      queue.addOperation(operation)
      log.wait(for: "run")
      #expect(queue.operationCount == 1)
      operation.finish()
      operation.waitUntilFinished()
      #expect(queue.operationCount == 0)
      log.wait(for: "released")
    }
  }

  @Test("SA-1, CB-1: a finish that races the end of main completes the operation once")
  func finishRacesMain() async throws {
    try await onOwnThread {
      let completions = Monitored(0)
      let rounds = Effort.scaled(5_000)
      let queue = OperationQueue()
      for _ in 0..<rounds {
        let operation = RacingOperation()
        operation.completionBlock = { completions.change { $0 += 1 } }
        startThread { operation.finishWhenReached() }
        queue.addOperation(operation)
        operation.waitUntilFinished()
      }
      completions.wait(for: "the completion blocks") { $0 >= rounds }
      #expect(completions.value == rounds && queue.operationCount == 0)
    }
  }

  private static let sequence = [
    "will isExecuting", "isExecuting false→true", "will isFinished", "will isExecuting",
    "isExecuting true→false", "isFinished false→true",
  ]
}

/// An operation that overrides `main()` and `isFinished` and keeps the base `start()`: `main()`
/// returns at once, and another thread announces the finish.
class LateOperation: Operation, @unchecked Sendable {
  fileprivate let isOver = Flag()
  private let isSynchronous: Bool
  private let work: @Sendable () -> Void

  init(isSynchronous: Bool = false, work: @escaping @Sendable () -> Void = {}) {
    self.isSynchronous = isSynchronous
    self.work = work
  }

  override var isAsynchronous: Bool { true }
  override var isFinished: Bool { isOver.isRaised }

  override func main() {
    if isSynchronous { return finish() }
    DispatchQueue.global().async {
      self.work()
      self.finish()
    }
  }

  fileprivate func finish() {
    willChangeValue(forKey: "isFinished")
    isOver.raise()
    didChangeValue(forKey: "isFinished")
  }
}

/// An operation that calls `super.start()` first, and begins its work after that.
private final class SuperStartFirstOperation: LateOperation, @unchecked Sendable {
  private let runs = Atomic<Bool>(false)

  override var isExecuting: Bool { runs.load(ordering: .acquiring) }

  override func start() {
    super.start()
    if isCancelled { return }
    willChangeValue(forKey: "isExecuting")
    runs.store(true, ordering: .releasing)
    didChangeValue(forKey: "isExecuting")
    super.main()
  }

  override func main() {}

  override fileprivate func finish() {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    isOver.raise()
    runs.store(false, ordering: .releasing)
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}

/// An operation that records each read of `isFinished`. During a read on the thread of the test,
/// another thread uses the operation.
private final class AskedOperation: Operation, @unchecked Sendable {
  let log = EventLog<String>()
  private let caller = pthread_self()

  override func main() { log.note("main") }

  override var isFinished: Bool {
    if state == .finished { return true }
    if pthread_equal(pthread_self(), caller) == 0 {
      log.note("asked on another thread")
      return false
    }
    log.note("asked")
    let isUsed = Gate()
    startThread { [self] in
      name = "used"
      addDependency(Operation())
      isUsed.open()
    }
    return isUsed.waitUntilOpen()
  }
}

/// An operation that is finished when the base class has finished and its own condition is met.
/// Another thread changes the condition.
private final class ConditionOperation: Operation, @unchecked Sendable {
  private let isMet = Flag()
  override var isFinished: Bool { super.isFinished && isMet.isRaised }

  override func main() {
    DispatchQueue.global().async {
      self.willChangeValue(forKey: "isFinished")
      self.isMet.raise()
      self.didChangeValue(forKey: "isFinished")
    }
  }
}

private final class UnannouncedOperation: Operation, @unchecked Sendable {
  private let isOver = Flag()
  override var isFinished: Bool { isOver.isRaised }
  override func main() { isOver.raise() }
}

/// An operation that has finished when `main()` has returned and the operation's own condition is
/// met. Another thread sets the condition and announces the change while `main()` returns.
private final class RacingOperation: Operation, @unchecked Sendable {
  private let isOver = Flag()
  private let hasReturned = Flag()
  override var isFinished: Bool { super.isFinished && isOver.isRaised }
  override func main() { hasReturned.raise() }

  func finishWhenReached() {
    while !hasReturned.isRaised { sched_yield() }
    willChangeValue(forKey: "isFinished")
    isOver.raise()
    didChangeValue(forKey: "isFinished")
  }
}

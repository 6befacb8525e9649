// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("The effects of cancelling")
struct CancellationEffectTests {
  private static let kinds: [@Sendable () -> Operation] = [
    { Operation() }, { BlockOperation {} }, { PlainSubclass() },
  ]

  @Test("CA-3: a second call changes and announces nothing", arguments: kinds.indices)
  func twice(kind: Int) {
    let operation = Self.kinds[kind]()
    operation.cancel()
    let changes = ChangeLog(operation)
    operation.cancel()
    #expect(operation.isCancelled && operation.isReady && changes.events.isEmpty)
    operation.start()
    operation.cancel()
    #expect(operation.isCancelled && operation.isFinished)
  }

  @Test("CA-2: a finished operation is not even marked", arguments: kinds.indices)
  func late(kind: Int) {
    let operation = Self.kinds[kind]()
    operation.start()
    let changes = ChangeLog(operation)
    operation.cancel()
    #expect(!operation.isCancelled && changes.events.isEmpty)
  }

  @Test(
    "CA-7: outside a queue, it stays unfinished until it is started, and its dependents wait",
    arguments: kinds.indices)
  func inNoQueue(kind: Int) {
    let operation = Self.kinds[kind]()
    let dependent = Operation()
    operation.addDependency(Operation())
    dependent.addDependency(operation)
    operation.cancel()
    #expect(operation.isCancelled && operation.isReady && !operation.isFinished)
    #expect(operation.state == .ready && !dependent.isReady)
    operation.start()
    #expect(operation.isFinished && dependent.isReady)
  }

  @Test("CA-11: an observer may cancel the observed operation and its dependents")
  func insideObservers() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let runs = Monitored(0)
      let operations = (0..<3).map { _ in PlainSubclass { runs.change { $0 += 1 } } }
      operations[1].addDependency(operations[0])
      operations[2].addDependency(operations[1])
      let observations = [
        operations[0].observe(\.isExecuting) { operation, _ in operation.cancel() },
        operations[0].observe(\.isFinished) { _, _ in operations[1].cancel() },
        operations[1].observe(\.isCancelled) { _, _ in operations[2].cancel() },
      ]
      queue.addOperations(operations, waitUntilFinished: false)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(operations.allSatisfy { $0.isCancelled && $0.isFinished } && runs.value == 1)
      withExtendedLifetime(observations) {}
    }
  }

  @Test("CA-11: an operation may cancel its whole queue while others do the same")
  func cancellingAllFromInside() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(200) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3
        for index in 0..<10 {
          queue.addOperation { if !index.isMultiple(of: 3) { queue.cancelAllOperations() } }
        }
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.operationCount == 0)
      }
    }
  }

  @Test("CA-12, CA-4, CA-6: with its own cancelled flag, it stops waiting, and its main runs")
  func ownFlag() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      let operation = OwnFlagOperation { log.note("main") }
      let dependent = BlockOperation { log.note("dependent") }
      dependent.addDependency(operation)
      operation.addDependency(Operation())
      let changes = ChangeLog(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: false)
      operation.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["main", "dependent"])
      #expect(operation.isCancelled && operation.isFinished)
      #expect(changes.events.contains("isReady false→true"))
      #expect(changes.events.contains("isExecuting false→true"))
    }
  }

  @Test("CA-12: its main cleans up and finishes it, started by hand and by a queue")
  func ownFlagAndOwnFinish() async throws {
    try await onOwnThread {
      for isQueued in [true, false] {
        let log = EventLog<String>()
        let operation = OwnFlagOperation(finishesItself: true) { log.note("clean-up") }
        operation.cancel()
        if isQueued { OperationQueue().addOperation(operation) } else { operation.start() }
        operation.waitUntilFinished()
        #expect(log.events == ["clean-up"] && operation.isFinished)
      }
    }
  }

  @Test("CA-12, SA-2: the flag of the base class alone keeps its main from running")
  func ownFlagAndSuper() {
    let log = EventLog<String>()
    let operation = OwnFlagOperation { log.note("main") }
    operation.cancel()
    operation.cancelBase()
    operation.start()
    #expect(operation.isFinished && log.events.isEmpty)
  }

  @Test("CA-12: cancelled by its own flag, it still waits for its exclusions")
  func ownFlagAndExclusion() async throws {
    try await onOwnThread {
      let exclusion = MutualExclusion(name: "own flag")
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      let holder = BlockOperation {
        gate.pass()
        log.note("holder")
      }
      let operation = OwnFlagOperation { log.note("main") }
      for each in [holder, operation] { each.exclusions = [exclusion] }
      queue.addOperation(holder)
      gate.waitForArrivals(1)
      operation.cancel()
      queue.addOperation(operation)
      for _ in 0..<10 { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["holder", "main"])
    }
  }

  @Test("CA-12, DE-18: cancelled by its own flag, it still waits for its own isReady")
  func ownFlagAndOwnReadiness() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      let operation = OwnFlagOperation { log.note("main") }
      operation.hasOwnCondition.raise()
      operation.addDependency(Operation())
      queue.addOperation(operation)
      operation.cancel()
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(!operation.isFinished && log.events.isEmpty)
      operation.allow()
      operation.waitUntilFinished()
      #expect(log.events == ["main"])
    }
  }
}

/// An operation with its own cancelled flag, whose `cancel()` does not call `super.cancel()`.
private final class OwnFlagOperation: PlainSubclass, @unchecked Sendable {
  /// Whether `isReady` of the operation also depends on a condition of the subclass.
  let hasOwnCondition = Flag()
  private let isAllowed = Flag()
  private let isWithdrawn = Flag()
  private let isOver = Flag()
  private let finishesItself: Bool

  init(finishesItself: Bool = false, work: @escaping @Sendable () -> Void) {
    self.finishesItself = finishesItself
    super.init(work: work)
  }

  override var isCancelled: Bool { isWithdrawn.isRaised }
  override var isFinished: Bool { finishesItself ? isOver.isRaised : super.isFinished }
  override var isReady: Bool {
    super.isReady && (!hasOwnCondition.isRaised || isAllowed.isRaised)
  }

  override func main() {
    super.main()
    guard finishesItself else { return }
    willChangeValue(forKey: "isFinished")
    isOver.raise()
    didChangeValue(forKey: "isFinished")
  }

  override func cancel() {
    willChangeValue(forKey: "isCancelled")
    isWithdrawn.raise()
    didChangeValue(forKey: "isCancelled")
  }

  func cancelBase() { super.cancel() }

  func allow() {
    willChangeValue(forKey: "isReady")
    isAllowed.raise()
    didChangeValue(forKey: "isReady")
  }
}

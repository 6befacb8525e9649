// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("What cancelling does, and does not")
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
    "CA-7: in no queue it stays unfinished until it is started, and so long others wait",
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

  @Test("CA-11: an observer may cancel what it observes, and what waits for that")
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

  @Test("CA-12, CA-4, CA-6: one that keeps its own flag is retired, and does not run")
  func ownFlag() async throws {
    final class OwnFlag: PlainSubclass, @unchecked Sendable {
      private let flag = Flag()
      override var isCancelled: Bool { flag.isRaised }
      override func cancel() {
        willChangeValue(forKey: "isCancelled")
        flag.raise()
        didChangeValue(forKey: "isCancelled")
      }
    }
    try await onOwnThread {
      let queue = OperationQueue()
      let operation = OwnFlag { Issue.record("It ran although it was cancelled") }
      operation.addDependency(Operation())
      let changes = ChangeLog(operation)
      queue.addOperation(operation)
      operation.cancel()
      operation.waitUntilFinished()
      queue.waitUntilAllOperationsAreFinished()
      #expect(!changes.events.contains { $0.contains("isExecuting") })
      #expect(changes.events.contains("isReady false→true"))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

/// Defects of Foundation: costs that grow with the square of the number of operations.
extension FoundationDefectTests {
  @Test("F-12: a chain runs in linear time")
  func chainIsLinear() async throws {
    try await expectLinear { count, meter in
      let operations = (0..<count).map { _ in BlockOperation { meter.lap() } }
      for (dependency, dependent) in zip(operations, operations.dropFirst()) {
        dependent.addDependency(dependency)
      }
      OperationQueue().addOperations(operations, waitUntilFinished: true)
    }
  }

  @Test("F-12: ready operations behind as many waiting ones run in linear time")
  func readyBehindWaitingIsLinear() async throws {
    try await expectLinear { count, meter in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let obstacle = Operation()
      for _ in 0..<count {
        let waiting = BlockOperation { meter.lap() }
        waiting.addDependency(obstacle)
        queue.addOperation(waiting)
      }
      let ready = (0..<count).map { _ in BlockOperation { meter.lap() } }
      queue.addOperations(ready, waitUntilFinished: true)
      obstacle.start()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("F-12: in a chain, readiness is not evaluated repeatedly")
  func readinessIsNotAskedAgain() async throws {
    try await onOwnThread {
      let length = 1_000
      let questions = QuestionCount()
      let operations = (0..<length).map { _ in CountedReadinessOperation(questions) }
      for (dependency, dependent) in zip(operations, operations.dropFirst()) {
        dependent.addDependency(dependency)
      }
      OperationQueue().addOperations(operations, waitUntilFinished: true)
      // The queue reads `isReady` of an operation three times: when it adds the operation, when a
      // dependency of the operation has finished, and when it chooses the operation. The limit is
      // twice this number.
      #expect(questions.count <= 6 * length)
    }
  }

  @Test("F-13: adding dependencies to one operation takes linear time")
  func addingDependenciesIsLinear() async throws {
    try await expectLinear { count, _ in
      let operation = Operation()
      for _ in 0..<count { operation.addDependency(Operation()) }
      #expect(!operation.isReady)
    }
  }

  @Test("F-13, PR-5: changing the priorities of queued operations takes linear time")
  func changingPrioritiesIsLinear() async throws {
    try await expectLinear { count, meter in
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.maxConcurrentOperationCount = 1
      let operations = (0..<count).map { _ in BlockOperation { meter.lap() } }
      queue.addOperations(operations, waitUntilFinished: false)
      for operation in operations { operation.queuePriority = .high }
      for operation in operations.reversed() { operation.queuePriority = .low }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "F-15, DE-15: releasing many dependents of one operation does not grow the stack")
  func freeingAFan() async throws {
    try await onOwnThread(stackSize: 512 * 1024) {
      let log = EventLog<String>()
      do {
        let root = PlainSubclass(atDeinit: { log.note("root freed") })
        var layers: [[Operation]] = [[root]]
        for _ in 0..<Effort.scaled(20_000) {
          let layer = [Operation(), Operation()]
          for operation in layer {
            for dependency in layers[layers.count - 1] { operation.addDependency(dependency) }
          }
          layers = [layer]
        }
        #expect(log.events.isEmpty)
      }
      #expect(log.events == ["root freed"])
    }
  }
}

private final class QuestionCount: Sendable {
  private let questions = Atomic<Int>(0)

  var count: Int { questions.load(ordering: .relaxed) }

  func increase() { questions.wrappingAdd(1, ordering: .relaxed) }
}

private final class CountedReadinessOperation: Operation, @unchecked Sendable {
  private let questions: QuestionCount

  init(_ questions: QuestionCount) {
    self.questions = questions
    super.init()
  }

  override var isReady: Bool {
    questions.increase()
    return super.isReady
  }
}

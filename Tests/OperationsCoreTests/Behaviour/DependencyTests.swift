// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Dependencies")
struct DependencyTests {
  @Test("DE-1, DE-3: ready once all dependencies have finished")
  func readiness() {
    let dependencies = (0..<12).map { _ in Operation() }
    let operation = Operation()
    for dependency in dependencies { operation.addDependency(dependency) }
    for dependency in dependencies.shuffled() {
      #expect(!operation.isReady)
      dependency.start()
    }
    #expect(operation.isReady)
  }

  @Test("DE-2: dependencies are listed in order of addition, finished ones too")
  func listing() {
    let dependencies = (0..<20).map { _ in Operation() }
    let operation = Operation()
    for dependency in dependencies { operation.addDependency(dependency) }
    for dependency in dependencies { dependency.start() }
    #expect(operation.dependencies == dependencies)
    operation.removeDependency(dependencies[0])
    operation.removeDependency(dependencies[7])
    #expect(operation.dependencies == Array(dependencies[1...6] + dependencies[8...]))
  }

  @Test("DE-4: a finished dependency delays nothing")
  func finishedDependency() {
    let dependency = Operation()
    dependency.start()
    let operation = Operation()
    operation.addDependency(dependency)
    #expect(operation.isReady && operation.dependencies == [dependency])
  }

  @Test("DE-5, ST-3: added while executing or finished it is listed and changes nothing")
  func lateDependency() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let operation = BlockOperation { gate.pass() }
      queue.addOperation(operation)
      gate.waitForArrivals(1)
      operation.addDependency(Operation())
      #expect(operation.isReady && operation.isExecuting && operation.dependencies.count == 1)
      gate.open()
      operation.waitUntilFinished()
      operation.addDependency(Operation())
      #expect(operation.isReady && operation.isFinished && operation.dependencies.count == 2)
    }
  }

  @Test("DE-6: a duplicate is one entry, and one removal suffices", arguments: [0, 1, 2, 5, 40])
  func duplicates(otherCount: Int) {
    let others = (0..<otherCount).map { _ in Operation() }
    let dependency = Operation()
    let operation = Operation()
    for other in others + [dependency] + others + [dependency] { operation.addDependency(other) }
    #expect(operation.dependencies.count == otherCount + 1)
    for other in others { other.start() }
    operation.removeDependency(dependency)
    #expect(operation.isReady && operation.dependencies == others)
    dependency.start()
  }

  @Test("DE-8: a cycle is broken by cancelling one of its members")
  func brokenCycle() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let queue = OperationQueue()
      let operations = ["one", "two", "three"].map { name in BlockOperation { log.note(name) } }
      operations[1].addDependency(operations[0])
      operations[2].addDependency(operations[1])
      operations[0].addDependency(operations[2])
      queue.addOperations(operations, waitUntilFinished: false)
      #expect(operations.allSatisfy { !$0.isReady })
      operations[2].cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["one", "two"])
      // The operations of a dependency cycle retain each other, so the test must break the cycle.
      operations[0].removeDependency(operations[2])
    }
  }

  @Test("F-4, DE-9: removing the last unfinished dependency makes it ready, and a queued one runs")
  func removal() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let never = Operation()
      for operation in [BlockOperation {}, PlainSubclass()] {
        operation.addDependency(never)
        queue.addOperation(operation)
        #expect(!operation.isReady && !operation.isFinished)
        operation.removeDependency(never)
        operation.waitUntilFinished()
      }
    }
  }

  @Test("DE-10: removing an operation that is not a dependency changes nothing")
  func removalOfAStranger() {
    let dependency = Operation()
    let operation = Operation()
    operation.addDependency(dependency)
    operation.removeDependency(Operation())
    #expect(!operation.isReady && operation.dependencies == [dependency])
  }

  @Test("DE-11: dependencies work across queues")
  func acrossQueues() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let gate = Gate()
      let queues = [OperationQueue(), OperationQueue()]
      let first = BlockOperation {
        gate.pass()
        log.note("first")
      }
      let second = BlockOperation { log.note("second") }
      second.addDependency(first)
      queues[1].addOperation(second)
      queues[0].addOperation(first)
      gate.waitForArrivals(1)
      #expect(!second.isReady)
      gate.open()
      second.waitUntilFinished()
      #expect(log.events == ["first", "second"])
    }
  }

  @Test("DE-12, DE-13: an unqueued dependency releases by hand or by announcement")
  func unqueuedDependency() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let byHand = Operation()
      let announced = LockedAsynchronousOperation()
      let operation = BlockOperation {}
      operation.addDependency(byHand)
      operation.addDependency(announced)
      queue.addOperation(operation)
      byHand.start()
      #expect(!operation.isReady)
      announced.cancel()
      operation.waitUntilFinished()
    }
  }

  @Test("DE-17: a dependency added to a queued operation that has not started takes effect")
  func addedWhileQueued() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      for operation in [BlockOperation {}, PlainSubclass()] {
        let dependency = Operation()
        queue.addOperation(operation)
        operation.addDependency(dependency)
        queue.isSuspended = false
        let after = BlockOperation {}
        queue.addOperation(after)
        after.waitUntilFinished()
        #expect(!operation.isFinished && operation.state == .waiting)
        dependency.start()
        operation.waitUntilFinished()
        queue.isSuspended = true
      }
    }
  }

  @Test("DE-19: a cancelled dependency that has finished satisfies like any other")
  func cancelledAndFinished() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let dependency = BlockOperation {}
      let operation = BlockOperation {}
      operation.addDependency(dependency)
      dependency.cancel()
      queue.addOperations([operation, dependency], waitUntilFinished: true)
      #expect(operation.isFinished && !operation.isCancelled)
    }
  }

  @Test("DE-2: duplicates are found after many additions and removals")
  func manyAdditionsAndRemovals() {
    var random = SeededGenerator(seed: 7)
    let pool = (0..<40).map { _ in Operation() }
    let operation = Operation()
    var model: [Operation] = []
    for _ in 0..<2_000 {
      let one = pool[Int.random(in: 0..<pool.count, using: &random)]
      if Bool.random(using: &random) {
        operation.addDependency(one)
        if !model.contains(one) { model.append(one) }
      } else {
        operation.removeDependency(one)
        model.removeAll { $0 === one }
      }
      #expect(operation.isReady == model.isEmpty)
    }
    #expect(operation.dependencies == model)
    for one in pool { one.start() }
    #expect(operation.isReady)
  }
}

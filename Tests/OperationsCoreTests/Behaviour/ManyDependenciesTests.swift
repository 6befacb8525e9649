// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// Operations with many dependencies or dependents. The numbers are on both sides of each limit at which an
/// operation stores its dependencies in another way.
@Suite("Many dependencies")
struct ManyDependenciesTests {
  @Test(
    "DE-6, DE-9, DE-10: dependencies that are added and removed at random keep their order",
    arguments: [3, 9, 20, 40, 70, 300])
  func dependenciesKeepTheirOrder(count: Int) {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let others = (0..<count).map { _ in Operation() }
    // A name is stored in another object, which takes over the dependencies when the name is set.
    for round in 0..<4 {
      let operation = Operation()
      var expected: [Operation] = []
      for step in 0..<4 * count {
        if step == round * count { operation.name = "operation" }
        let other = others.randomElement(using: &random)!
        if Int.random(in: 0..<5, using: &random) < 3 {
          operation.addDependency(other)
          if !expected.contains(where: { $0 === other }) { expected.append(other) }
        } else {
          operation.removeDependency(other)
          expected.removeAll { $0 === other }
        }
        if step % 16 == 0 {
          #expect(
            operation.dependencies.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init)
          )
        }
        #expect(operation.isReady == expected.isEmpty)
      }
      #expect(
        operation.dependencies.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init))
    }
  }

  @Test(
    "DE-3, DE-9: an operation is ready when the last of many dependencies has finished or was removed",
    arguments: [3, 9, 20, 40, 70, 300])
  func readyAfterTheLastDependency(count: Int) {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let dependencies = (0..<count).map { _ in Operation() }
    let operation = Operation()
    for dependency in dependencies { operation.addDependency(dependency) }
    for dependency in dependencies.shuffled(using: &random) {
      #expect(!operation.isReady)
      if Bool.random(using: &random) {
        dependency.start()
      } else {
        operation.removeDependency(dependency)
      }
    }
    #expect(operation.isReady)
    let areFinished = operation.dependencies.allSatisfy { $0.isFinished }
    #expect(areFinished)
  }

  @Test(
    "DE-1, DE-9: many dependents run in the order in which they began to depend on the operation",
    arguments: [3, 9, 20, 40, 70, 300])
  func dependentsKeepTheirOrder(count: Int) {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let log = EventLog<Int>()
    let dependency = Operation()
    let dependents = (0..<count).map { index in BlockOperation { log.note(index) } }
    var expected: [Int] = []
    for index in dependents.indices {
      dependents[index].addDependency(dependency)
      expected.append(index)
      guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
      let moved = Int.random(in: 0...index, using: &random)
      dependents[moved].removeDependency(dependency)
      dependents[moved].addDependency(dependency)
      expected.removeAll { $0 == moved }
      expected.append(moved)
    }
    let queue = OperationQueue(name: "dependents", maxConcurrentOperationCount: 1)
    queue.addOperations(dependents, waitUntilFinished: false)
    // Reading `operationCount` makes the queue process the operations.
    #expect(queue.operationCount == count)
    dependency.start()
    queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == expected)
  }

  @Test(
    "DE-14: an operation with many dependencies and dependents releases all of them",
    arguments: [3, 9, 20, 40, 70, 300])
  func manyEdgesAreReleased(count: Int) {
    let log = EventLog<Int>()
    do {
      let middle = Operation()
      var kept: [Operation] = []
      for index in 0..<count {
        let dependency = PlainSubclass(atDeinit: { log.note(index) })
        middle.addDependency(dependency)
        let dependent = PlainSubclass(atDeinit: { log.note(count + index) })
        dependent.addDependency(middle)
        if index.isMultiple(of: 2) { kept.append(dependent) }
        if index == count / 2 { middle.completionBlock = {} }
      }
      #expect(log.events == (0..<count).filter { !$0.isMultiple(of: 2) }.map { count + $0 })
      withExtendedLifetime((middle, kept)) {}
    }
    #expect(Set(log.events).count == 2 * count && log.events.count == 2 * count)
  }

  @Test(
    "DE-9: removing the dependencies of one operation takes linear time", arguments: [true, false])
  func removingDependenciesIsLinear(inOrder: Bool) async throws {
    try await expectLinear { count, _ in
      let operation = Operation()
      let dependencies = (0..<count).map { _ in Operation() }
      for dependency in dependencies { operation.addDependency(dependency) }
      for dependency in inOrder ? dependencies : dependencies.reversed() {
        operation.removeDependency(dependency)
      }
    }
  }

  @Test(
    "DE-9: removing the dependents of one operation takes linear time", arguments: [true, false])
  func removingDependentsIsLinear(inOrder: Bool) async throws {
    try await expectLinear { count, _ in
      let dependency = Operation()
      let dependents = (0..<count).map { _ in Operation() }
      for dependent in dependents { dependent.addDependency(dependency) }
      for dependent in inOrder ? dependents : dependents.reversed() {
        dependent.removeDependency(dependency)
      }
    }
  }

  @Test("DE-9, DE-14: an operation that is being destroyed can remove its dependencies")
  func removingInDeinit() {
    let gate = Operation()
    let kept = Operation()
    kept.addDependency(gate)
    do {
      let destroyed = RemovingSubclass()
      destroyed.addDependency(gate)
    }
    gate.start()
    #expect(kept.isReady)
  }

  @Test(
    "DE-15: a long graph with several dependencies for each operation is released without recursion"
  )
  func longGraphIsReleased() async throws {
    let count = Effort.scaled(100_000)
    // A recursive release needs more than 64 bytes of stack for each operation.
    try await onOwnThread(stackSize: 1 << 18) {
      var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
      var operations: [BlockOperation] = []
      for index in 0..<max(10_000, count) {
        let operation = BlockOperation {}
        for _ in 0..<min(3, index) {
          let first = max(0, index - 1_000)
          operation.addDependency(operations[Int.random(in: first..<index, using: &random)])
        }
        // The operations are a chain too.
        if let previous = operations.last { operation.addDependency(previous) }
        operations.append(operation)
      }
      weak let first = operations.first
      #expect(first != nil)
      operations = [operations[operations.count - 1]]
      #expect(first != nil)
      operations = []
      #expect(first == nil)
    }
  }
}

/// An operation that removes its dependencies when it is destroyed, after its dependencies have got other dependents.
private final class RemovingSubclass: Operation, @unchecked Sendable {
  deinit {
    for dependency in dependencies {
      for _ in 0..<10 { Operation().addDependency(dependency) }
      removeDependency(dependency)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Finding cycles of dependencies", .oneAtATime)
struct DeadlockTests {
  /// Makes each operation depend on the next operation, and the last operation depend on the first.
  private func ring(_ operations: [Operation]) {
    for (operation, next) in zip(operations, operations.dropFirst() + operations.prefix(1)) {
      operation.addDependency(next)
    }
  }

  private func makeRing(_ count: Int) -> [Operation] {
    let operations = (0..<count).map { _ in BlockOperation {} }
    ring(operations)
    return operations
  }

  /// Returns the operations of each dependency cycle that a queue reports.
  private func cycles(of queue: OperationQueue) -> Set<Set<OperationID>> {
    Set(
      queue.deadlocks().compactMap {
        if case .cycle(let members) = $0 { return Set(members.map(\.id)) }
        return nil
      })
  }

  private func ids(_ operations: [Operation]) -> Set<OperationID> { Set(operations.map(\.id)) }

  /// Removes the dependencies of a cycle. The operations of a cycle retain each other, so a test
  /// that creates a cycle must break it.
  private func takeApart(_ operations: [Operation]) {
    for operation in operations {
      for dependency in operation.dependencies { operation.removeDependency(dependency) }
    }
  }

  @Test("DE-8: each member finds its cycle, itself first, and so do its dependents")
  func members() {
    let operations = makeRing(3)
    let waiting = Operation()
    let waitsLonger = Operation()
    waitsLonger.addDependency(waiting)
    waiting.addDependency(Operation())
    waiting.addDependency(operations[1])
    #expect(operations[0].dependencyCycle() == operations)
    #expect(operations[2].dependencyCycle() == [operations[2], operations[0], operations[1]])
    #expect(Set(waitsLonger.dependencyCycle() ?? []) == Set(operations))
    takeApart(operations)
    #expect(waitsLonger.dependencyCycle() == nil && operations[0].dependencyCycle() == nil)
  }

  @Test("DE-8: with several cycles, the operation's own cycle is reported")
  func ownCycleFirst() {
    let own = makeRing(4)
    let other = makeRing(2)
    // The dependency on the other cycle comes first in the list of dependencies, so that a
    // depth-first search finds the other cycle before the operation's own cycle.
    own[0].removeDependency(own[1])
    own[0].addDependency(other[0])
    own[0].addDependency(own[1])
    #expect(own[0].dependencyCycle() == own)
    takeApart(own + other)
  }

  @Test("DE-8: an operation that waits for a possible event is in no cycle")
  func noFalseAlarm() {
    let neverStarted = Operation()
    let waiting = Operation()
    let diamond = [Operation(), Operation()]
    for operation in diamond {
      operation.addDependency(neverStarted)
      waiting.addDependency(operation)
    }
    #expect(waiting.dependencyCycle() == nil)

    let cancelled = makeRing(3)
    cancelled[1].cancel()
    #expect(cancelled.allSatisfy { $0.dependencyCycle() == nil })
    takeApart(cancelled)

    // An asynchronous operation may announce that it has finished without having been started.
    let announced = LockedAsynchronousOperation()
    let finished = [Operation(), announced, Operation()]
    ring(finished)
    #expect(finished[0].dependencyCycle() == finished)
    announced.cancel()
    #expect(finished.allSatisfy { $0.dependencyCycle() == nil })
    takeApart(finished)
  }

  @Test("DE-8, DE-18: a member whose own isReady ignores its dependencies is in no cycle")
  func ownReadiness() async throws {
    final class Ignoring: Operation, @unchecked Sendable {
      override var isReady: Bool { true }
    }
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operations = [Ignoring(), Operation()]
      ring(operations)
      queue.addOperations(operations, waitUntilFinished: false)
      #expect(queue.deadlocks().isEmpty)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      takeApart(operations)
    }
  }

  @Test("DE-8: a queue reports each deadlock once, including those through other queues")
  func deadlocks() async throws {
    try await onOwnThread {
      let queues = [OperationQueue(), OperationQueue()]
      let inside = makeRing(2)
      let across = makeRing(4)
      let elsewhere = makeRing(2)
      let waiting = BlockOperation {}
      waiting.addDependency(inside[0])
      waiting.addDependency(across[3])
      #expect(queues[0].deadlocks().isEmpty)
      queues[0].addOperations(
        inside + [across[0], across[2], waiting, BlockOperation {}], waitUntilFinished: false)
      queues[1].addOperations([across[1], across[3]] + elsewhere, waitUntilFinished: false)
      #expect(cycles(of: queues[0]) == [ids(inside), ids(across)])
      #expect(cycles(of: queues[1]) == [ids(elsewhere), ids(across)])
      across[1].cancel()
      #expect(cycles(of: queues[0]) == [ids(inside)])
      inside[0].cancel()
      elsewhere[0].cancel()
      for queue in queues {
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.deadlocks().isEmpty)
      }
      takeApart(inside + across + elsewhere)
    }
  }

  @Test("DE-8: a search of 250,000 operations needs a small stack, with or without a cycle")
  func longCycle() async throws {
    let count = Effort.scaled(250_000)
    try await onOwnThread(stackSize: 512 * 1024) {
      let operations = (0..<count).map { _ in BlockOperation() }
      for index in 1..<count { operations[index - 1].addDependency(operations[index]) }
      #expect(operations[0].dependencyCycle() == nil)
      operations[count - 1].addDependency(operations[0])
      #expect(operations[0].dependencyCycle()?.count == count)
      let waiting = Operation()
      waiting.addDependency(operations[count / 2])
      #expect(waiting.dependencyCycle()?.count == count)
      operations[count - 1].removeDependency(operations[0])
    }
  }

  @Test("DE-8: a dependency that is reversed during the search is not reported as a cycle")
  func turningADependencyRound() async throws {
    try await onOwnThread {
      let rounds = Effort.scaled(20_000)
      let pace = Pace()
      let pair = Monitored<[Operation]>([])
      startThread {
        for round in 0..<rounds {
          pace.await(2 * round + 1)
          let operations = pair.value
          operations[0].removeDependency(operations[1])
          operations[1].addDependency(operations[0])
          pace.advance(to: 2 * round + 2)
        }
      }
      var falseAlarms = 0
      for round in 0..<rounds {
        let operations = [Operation(), Operation()]
        operations[0].addDependency(operations[1])
        pair.change { $0 = operations }
        pace.advance(to: 2 * round + 1)
        if operations[0].dependencyCycle() != nil { falseAlarms += 1 }
        pace.await(2 * round + 2)
      }
      #expect(falseAlarms == 0)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

@Suite("The start order of operations with a common exclusion")
struct ExclusionOrderTests {
  private let catalogue = MutualExclusion(name: "catalogue")

  @Test("An operation that gets a dependency while it waits in line leaves the line")
  func lateDependency() async throws {
    let exclusion = catalogue
    try await onOwnThread(within: .seconds(60)) {
      let gate = Gate()
      let log = EventLog<String>()
      let holder = BlockOperation { gate.pass() }
      let waiting = BlockOperation { log.note("waiting") }
      let dependency = BlockOperation { log.note("dependency") }
      for operation in [holder, waiting, dependency] { operation.exclusions = [exclusion] }
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      queue.addOperation(holder)
      gate.waitForArrivals(1)
      queue.addOperation(waiting)
      // When the operation that is added here executes, the queue has already chosen the waiting
      // operation, and the mutual exclusion has refused it.
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(waiting.state == .waiting)
      waiting.addDependency(dependency)
      gate.open()
      holder.waitUntilFinished()
      queue.addOperation(dependency)
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["dependency", "waiting"])
    }
  }

  /// Operations of this subclass are ready although their dependencies have not finished.
  private final class Impatient: Operation, @unchecked Sendable {
    override var isReady: Bool { true }
  }

  @Test("DE-18: an operation that is ready before its dependency starts in its turn")
  func readyBeforeTheDependency() async throws {
    let exclusion = catalogue
    try await onOwnThread(within: .seconds(60)) {
      let gate = Gate()
      let holder = BlockOperation { gate.pass() }
      let dependency = BlockOperation {}
      let impatient = Impatient()
      impatient.addDependency(dependency)
      for operation in [holder, impatient, dependency] { operation.exclusions = [exclusion] }
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      queue.addOperation(holder)
      gate.waitForArrivals(1)
      queue.addOperations([impatient, dependency], waitUntilFinished: false)
      // When the operation that is added here executes, the queue has already chosen both waiting
      // operations, and the mutual exclusion has refused them.
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(impatient.isFinished && dependency.isFinished)
    }
  }

  @Test(
    "DE-18: requiring success of a listed dependency makes the queue read isReady again")
  func requirementOfListedDependency() async throws {
    try await onOwnThread(within: .seconds(60)) {
      let dependency = Operation()
      let impatient = Impatient()
      impatient.addDependency(dependency)
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation(impatient)
      #expect(impatient.state == .ready)
      impatient.addDependency(dependency, requires: .success)
      #expect(impatient.state == .ready)
      queue.isSuspended = false
      // The operation executes without waiting for its dependency, which is never started.
      impatient.waitUntilFinished()
    }
  }

  /// An operation that is ready while the test allows it, regardless of its dependencies.
  private final class Switched: Operation, @unchecked Sendable {
    let isAllowed = Atomic(true)
    override var isReady: Bool { isAllowed.load(ordering: .sequentiallyConsistent) }
  }

  @Test("An operation that is not ready when success is required leaves its line")
  func requirementOfListedDependencyInLine() async throws {
    let exclusion = catalogue
    try await onOwnThread(within: .seconds(60)) {
      let gate = Gate()
      let holder = BlockOperation { gate.pass() }
      let dependency = Operation()
      let operation = Switched()
      operation.addDependency(dependency)
      for one in [holder, operation] { one.exclusions = [exclusion] }
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      queue.addOperation(holder)
      gate.waitForArrivals(1)
      queue.addOperation(operation)
      // When the operation that is added here executes, the queue has already chosen the waiting
      // operation, and the mutual exclusion has refused it.
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(Exclusions.shared.obstacle(of: operation) != nil)
      operation.isAllowed.store(false, ordering: .sequentiallyConsistent)
      operation.addDependency(dependency, requires: .success)
      #expect(Exclusions.shared.obstacle(of: operation) == nil)
      gate.open()
      operation.isAllowed.store(true, ordering: .sequentiallyConsistent)
      operation.didChangeValue(forKey: "isReady")
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("While the first in line has no slot, another operation gets the exclusion")
  func withoutSlot() async throws {
    let exclusion = catalogue
    try await onOwnThread(within: .seconds(60)) {
      let gate = Gate()
      let busy = Gate()
      let holder = BlockOperation { gate.pass() }
      let early = BlockOperation {}
      let late = BlockOperation {}
      for operation in [holder, early, late] { operation.exclusions = [exclusion] }
      let queues = (0..<3).map { _ in OperationQueue() }
      for queue in queues { queue.maxConcurrentOperationCount = 1 }
      queues[0].addOperation(holder)
      gate.waitForArrivals(1)
      queues[1].addOperations([early, BlockOperation { busy.pass() }], waitUntilFinished: false)
      busy.waitForArrivals(1)
      queues[2].addOperation(late)
      // When the operation that is added here executes, the queue has already chosen the waiting
      // operation, and the mutual exclusion has refused it.
      queues[2].addOperations([BlockOperation {}], waitUntilFinished: true)
      gate.open()
      late.waitUntilFinished()
      #expect(early.state != .executing && !early.isFinished)
      busy.open()
      queues[1].waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A busy queue does not keep an exclusion from another queue")
  func fairness() async throws {
    let exclusion = catalogue
    try await onOwnThread {
      let queues = (0..<2).map { _ in OperationQueue() }
      for queue in queues { queue.maxConcurrentOperationCount = 1 }
      let isLateDone = Atomic<Bool>(false)
      let flood = ExclusiveFlood(of: exclusion, in: queues[0]) {
        isLateDone.load(ordering: .relaxed)
      }
      flood.count.wait(for: "the flood to run") { $0 > 100 }
      let late = BlockOperation { isLateDone.store(true, ordering: .relaxed) }
      late.exclusions = [exclusion]
      // The first queue gets new operations until the operation `late` of the second queue has
      // executed.
      queues[1].addOperations([late], waitUntilFinished: true)
      queues[0].waitUntilAllOperationsAreFinished()
      #expect(late.isFinished)
    }
  }

  @Test("With late dependencies and exclusions, limits hold, and all finish", arguments: 0..<4)
  func randomPrograms(_ number: Int) async throws {
    let seed = SeededGenerator.announcedSeed() &+ UInt64(number)
    let exclusions = (0..<4).map { MutualExclusion(name: "\($0)", limit: 1 + $0 / 3) }
    try await onOwnThread(within: .seconds(120)) {
      var generator = SeededGenerator(seed: seed)
      let crowds = exclusions.map { _ in Crowd() }
      let queues = [1, 2, 3].map { width in
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return queue
      }
      let operations = (0..<Effort.scaled(2_000)).map { index -> Operation in
        let wanted = exclusions.indices.filter { _ in Bool.random(using: &generator) }
        let spins = Int.random(in: 0..<2_000, using: &generator)
        let work: @Sendable () -> Void = {
          for index in wanted { crowds[index].enter() }
          for _ in 0..<spins { _ = crowds[0].largest }
          for index in wanted { crowds[index].leave() }
        }
        let operation = index % 3 == 0 ? PlainSubclass(work: work) : BlockOperation(block: work)
        operation.exclusions = Set(wanted.map { exclusions[$0] })
        return operation
      }
      // Each operation depends only on operations that are added later, so there is no cycle. Many
      // operations get a dependency while they wait for a mutual exclusion.
      for (index, operation) in operations.enumerated() {
        queues.randomElement(using: &generator)?.addOperation(operation)
        for _ in 0..<2 {
          let earlier = operations[Int.random(in: max(0, index - 20)...index, using: &generator)]
          if earlier !== operation, !earlier.isExecuting { earlier.addDependency(operation) }
        }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: operations[Int.random(in: 0...index, using: &generator)].cancel()
        case 1:
          operations[Int.random(in: 0...index, using: &generator)].queuePriority =
            Operation.QueuePriority.allCases[Int.random(in: 0..<5, using: &generator)]
        case 2: queues.randomElement(using: &generator)?.isSuspended.toggle()
        default: break
        }
      }
      for queue in queues { queue.isSuspended = false }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      for (exclusion, crowd) in zip(exclusions, crowds) {
        #expect(crowd.largest <= exclusion.limit)
      }
      #expect(operations.allSatisfy { $0.isFinished })
    }
  }
}

/// Adds operations to a queue, so that two unfinished ones are always in it, until a condition is
/// met. All of these operations need the same mutual exclusion.
private final class ExclusiveFlood: Sendable {
  let count = Monitored(0)
  private let exclusion: MutualExclusion
  private let queue: OperationQueue
  private let isOver: @Sendable () -> Bool

  init(
    of exclusion: MutualExclusion, in queue: OperationQueue,
    until isOver: @escaping @Sendable () -> Bool
  ) {
    self.exclusion = exclusion
    self.queue = queue
    self.isOver = isOver
    for _ in 0..<2 { addNext() }
  }

  private func addNext() {
    let operation = BlockOperation { [self] in
      count.change { $0 += 1 }
      for _ in 0..<10_000 { _ = count.value }
      if !isOver() { addNext() }
    }
    operation.exclusions = [exclusion]
    queue.addOperation(operation)
  }
}

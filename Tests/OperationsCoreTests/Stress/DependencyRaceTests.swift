// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Races between dependencies and queues", .oneAtATime)
struct DependencyRaceTests {
  @Test(
    "DE-16: a dependency that finishes while its dependent is being added never strands it",
    arguments: [true, false])
  func finishingDuringAddReleasesTheDependent(isPlainBlock: Bool) async throws {
    try await onOwnThread {
      let rounds = Effort.scaled(25_000)
      let queue = OperationQueue()
      let pace = Pace()
      let runs = Atomic<Int>(0)
      let box = Monitored<(Operation, Operation)?>(nil)
      startThread {
        for round in 0..<rounds {
          pace.await(2 * round + 1)
          if let (dependency, _) = box.value { dependency.start() }
          pace.advance(to: 2 * round + 2)
        }
      }
      for round in 0..<rounds {
        let dependency = BlockOperation {}
        let count: @Sendable () -> Void = { runs.wrappingAdd(1, ordering: .relaxed) }
        let dependent = isPlainBlock ? BlockOperation(block: count) : PlainSubclass(work: count)
        dependent.addDependency(dependency)
        box.change { $0 = (dependency, dependent) }
        pace.advance(to: 2 * round + 1)
        queue.addOperation(dependent)
        dependent.waitUntilFinished()
        pace.await(2 * round + 2)
      }
      #expect(runs.load(ordering: .relaxed) == rounds)
      #expect(queue.operationCount == 0)
    }
  }

  @Test(
    "OP-7, DE-9: adding and removing one dependency at once leaves it listed and counted, or not")
  func addingRacesRemoving() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      for round in 0..<Effort.scaled(2_000) {
        let dependency = Operation()
        let dependent = Operation()
        onThreads(3) { thread in
          var random = SeededGenerator(seed: seed &+ UInt64(3 * round + thread))
          for _ in 0..<20 {
            if Bool.random(using: &random) {
              dependent.addDependency(dependency)
            } else {
              dependent.removeDependency(dependency)
            }
          }
        }
        #expect(dependent.isReady == dependent.dependencies.isEmpty)
        dependent.removeDependency(dependency)
        #expect(dependent.isReady)
        dependency.start()
        #expect(dependent.isReady)
      }
    }
  }

  @Test(
    "DE-5, DE-9: an operation finishes while its dependencies, its dependents and its name change",
    arguments: [2, 6, 14, 62])
  func edgesChangeDuringTheFinish(count: Int) async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      for round in 0..<Effort.scaled(1_500) {
        let middle = BlockOperation {}
        let dependents = (0..<count).map { _ in Operation() }
        for dependent in dependents { dependent.addDependency(middle) }
        let changing = (0..<4).map { _ in Operation() }
        let dependencies = (0..<count + 2).map { _ in BlockOperation {} }
        for dependency in dependencies { dependency.start() }
        onThreads(4) { thread in
          var random = SeededGenerator(seed: seed &+ UInt64(4 * round + thread))
          for _ in 0..<Int.random(in: 0..<200, using: &random) { csystem_spin_hint() }
          switch thread {
          case 0: middle.start()
          case 1: for dependency in dependencies { middle.addDependency(dependency) }
          case 2: middle.name = "middle"
          default:
            for _ in 0..<20 {
              let operation = changing.randomElement(using: &random)!
              if Bool.random(using: &random) {
                operation.addDependency(middle)
              } else {
                operation.removeDependency(middle)
              }
            }
          }
        }
        let areReady = (dependents + changing).allSatisfy { $0.isReady }
        #expect(areReady)
        #expect(
          middle.dependencies.map(ObjectIdentifier.init) == dependencies.map(ObjectIdentifier.init))
        #expect(middle.name == "middle")
      }
    }
  }

  @Test("DE-16: pairs added to two queues in both orders all run")
  func pairsAddedInBothOrdersRun() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      var random = SeededGenerator(seed: seed)
      let first = OperationQueue()
      let second = OperationQueue()
      let runs = Atomic<Int>(0)
      let early = Atomic<Int>(0)
      let pairs = Effort.scaled(50_000)
      for _ in 0..<pairs {
        let isDone = Flag()
        let dependency = BlockOperation { isDone.raise() }
        let body: @Sendable () -> Void = {
          runs.wrappingAdd(1, ordering: .relaxed)
          if !isDone.isRaised { early.wrappingAdd(1, ordering: .relaxed) }
        }
        let dependent =
          Bool.random(using: &random) ? BlockOperation(block: body) : PlainSubclass(work: body)
        dependent.addDependency(dependency)
        if Bool.random(using: &random) {
          first.addOperation(dependency)
          second.addOperation(dependent)
        } else {
          second.addOperation(dependent)
          first.addOperation(dependency)
        }
      }
      first.waitUntilAllOperationsAreFinished()
      second.waitUntilAllOperationsAreFinished()
      #expect(runs.load(ordering: .relaxed) == pairs)
      #expect(early.load(ordering: .relaxed) == 0)
    }
  }
}

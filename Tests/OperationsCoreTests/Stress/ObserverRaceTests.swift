// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Races between observers and changes", .oneAtATime)
struct ObserverRaceTests {
  /// An operation that stores `isFinished` in its own flag, not in the status of the base class.
  private final class OwnFlag: Operation, @unchecked Sendable {
    private let finished = Atomic<Bool>(false)
    override var isFinished: Bool { finished.load(ordering: .relaxed) }
    override func start() {
      willChangeValue(forKey: "isFinished")
      finished.store(true, ordering: .relaxed)
      didChangeValue(forKey: "isFinished")
    }
  }

  @Test(
    "K-21, F-19: an observer with initial, added at any moment, sees that it has finished",
    arguments: ["block", "subclass", "own flag", "asynchronous"])
  func noFinalValueIsMissed(kind: String) async throws {
    try await onOwnThread {
      let rounds = Effort.scaled(5_000)
      let pace = Pace()
      let box = Monitored<Operation?>(nil)
      startThread {
        for round in 0..<rounds {
          pace.await(2 * round + 1)
          box.value?.start()
          pace.advance(to: 2 * round + 2)
        }
      }
      for round in 0..<rounds {
        let operation: Operation =
          switch kind {
          case "block": BlockOperation {}
          case "subclass": PlainSubclass()
          case "own flag": OwnFlag()
          default: LockedAsynchronousOperation()
          }
        box.change { $0 = operation }
        let sawIt = Atomic<Bool>(false)
        pace.advance(to: 2 * round + 1)
        // The delay makes the two threads start at different moments in each round.
        for _ in 0..<(round % 97) { _ = operation.isFinished }
        let observation = operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
          if change.newValue == true { sawIt.store(true, ordering: .relaxed) }
        }
        operation.waitUntilFinished()
        pace.await(2 * round + 2)
        if !sawIt.load(ordering: .relaxed) {
          Issue.record("missed in round \(round)")
          break
        }
        observation.invalidate()
      }
      pace.advance(to: 2 * rounds + 2)
    }
  }

  @Test(
    "K-7: an observer with initial, added at any moment, hears of a dependency that is added",
    arguments: [false, true])
  func noDependencyIsMissed(isSubclass: Bool) async throws {
    try await onOwnThread {
      let rounds = Effort.scaled(20_000)
      let pace = Pace()
      let box = Monitored<Operation?>(nil)
      let dependency = Operation()
      startThread {
        for round in 0..<rounds {
          pace.await(2 * round + 1)
          box.value?.addDependency(dependency)
          pace.advance(to: 2 * round + 2)
        }
      }
      for round in 0..<rounds {
        let operation = isSubclass ? PlainSubclass() : BlockOperation {}
        box.change { $0 = operation }
        // The initial value of an observation may be delivered after a later value. Therefore the
        // test does not compare the last received value.
        let isHeld = Atomic<Bool>(false)
        let isListed = Atomic<Bool>(false)
        pace.advance(to: 2 * round + 1)
        // The delay makes the two threads start at different moments in each round.
        for _ in 0..<(round % 97) { _ = operation.isFinished }
        let observations = [
          operation.observe(\.dependencies, options: [.initial, .new]) { _, change in
            if change.newValue?.count == 1 { isListed.store(true, ordering: .relaxed) }
          },
          operation.observe(\.isReady, options: [.initial, .new]) { _, change in
            if change.newValue == false { isHeld.store(true, ordering: .relaxed) }
          },
        ]
        pace.await(2 * round + 2)
        let isKnown = isListed.load(ordering: .relaxed) && isHeld.load(ordering: .relaxed)
        for observation in observations { observation.invalidate() }
        operation.removeDependency(dependency)
        if isKnown { continue }
        Issue.record("missed in round \(round)")
        break
      }
      pace.advance(to: 2 * rounds + 2)
    }
  }

  @Test("K-10, K-22, OP-7: observers come and go while an operation changes on other threads")
  func observersComeAndGo() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      for round in 0..<Effort.scaled(300) {
        let operation: Operation = round.isMultiple(of: 2) ? BlockOperation {} : PlainSubclass()
        let dependencies = (0..<3).map { _ in Operation() }
        onThreads(3) { thread in
          var random = SeededGenerator(seed: seed &+ UInt64(3 * round + thread))
          for _ in 0..<30 {
            let dependency = dependencies[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<6, using: &random) {
            case 0: operation.addDependency(dependency)
            case 1: operation.removeDependency(dependency)
            case 2: operation.queuePriority = Bool.random(using: &random) ? .high : .low
            case 3: operation.name = "\(thread)"
            default:
              let observation = operation.observe(
                \.isReady, options: [.new, .old, .prior, .initial]
              ) { operation, _ in _ = operation.dependencies }
              observation.invalidate()
            }
          }
        }
        for dependency in dependencies { dependency.start() }
        #expect(operation.isReady)
        operation.start()
        #expect(operation.isFinished)
      }
    }
  }

  @Test("K-20: changes of one operation that several threads announce at once stay apart")
  func pendingChanges() async throws {
    try await onOwnThread {
      let operation = PlainSubclass()
      let count = Atomic<Int>(0)
      let observation = operation.observe(\.queuePriority, options: [.old, .prior]) { _, change in
        if change.oldValue != nil { count.wrappingAdd(1, ordering: .relaxed) }
      }
      let rounds = Effort.scaled(5_000)
      onThreads(4) { _ in
        for _ in 0..<rounds {
          operation.willChangeValue(forKey: "queuePriority")
          operation.didChangeValue(forKey: "queuePriority")
        }
      }
      #expect(count.load(ordering: .relaxed) == 8 * rounds)
      observation.invalidate()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Many delayed operations", .timeLimit(.minutes(5)))
struct DelayStressTests {
  @Test("100,000 delayed operations need one task, and each runs once")
  func many() async throws {
    try await onOwnThread {
      let (queue, clock, count) = (OperationQueue(), ManualClock(), 100_000)
      let ran = Counter()
      for number in 0..<count {
        queue.addOperation(delay: .seconds(1 + number % 100), clock: clock) { ran.add() }
      }
      clock.waitForSleeps(1)
      #expect(queue.operationCount == count && ran.value == 0 && clock.sleeperCount == 1)
      clock.advance(by: .seconds(1_000))
      queue.waitUntilAllOperationsAreFinished()
      #expect(ran.value == count && clock.sleeps.count <= 2)
    }
  }

  @Test("100,000 delayed operations are cancelled in a time that is proportional to their number")
  func manyCancelled() async throws {
    try await onOwnThread {
      let (queue, clock, count) = (OperationQueue(), ManualClock(), 100_000)
      let ran = Counter()
      var operations: [Operation] = []
      for number in 0..<count {
        let delay = Duration.seconds(1 + number % 100)
        operations.append(queue.addOperation(delay: delay, clock: clock) { ran.add() })
      }
      let start = ContinuousClock.now
      queue.cancelAllOperations()
      queue.waitUntilAllOperationsAreFinished()
      // If each removal copied the other alarms, the test would take minutes.
      #expect(ContinuousClock.now - start < .seconds(30))
      var leftCount = 0
      for operation in operations where Alarms.timeLeft(of: operation) != nil { leftCount += 1 }
      #expect(leftCount == 0 && ran.value == 0)
    }
  }

  @Test("Adding, cancelling and the ends of delays race, and each operation finishes once")
  func races() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<Effort.scaled(200) {
        let (queue, clock, log) = (OperationQueue(), ManualClock(), Counter())
        var operations: [Operation] = []
        for _ in 0..<50 {
          let delay = Duration.seconds(Int.random(in: 1..<10, using: &generator))
          let operation = BlockOperation {}
          operation.completionBlock = { log.add() }
          queue.addOperation(operation, delay: delay, clock: clock)
          operations.append(operation)
          if Bool.random(using: &generator) { clock.advance(by: .seconds(1)) }
          if Int.random(in: 0..<4, using: &generator) == 0 {
            operations.randomElement(using: &generator)?.cancel()
          }
        }
        clock.advance(by: .seconds(10))
        queue.waitUntilAllOperationsAreFinished()
        for operation in operations {
          #expect(operation.isFinished && Alarms.timeLeft(of: operation) == nil, "seed \(seed)")
        }
        while log.value < operations.count { sched_yield() }
      }
    }
  }
}

/// A number that any thread can increment.
private final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func add() { count.add(1, ordering: .sequentiallyConsistent) }
}

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

@Suite(
  "Random operations in thousands of queues, on threads that cannot always be started", .oneAtATime)
struct ThreadStressTests {
  @Test(
    "MX-1, MX-6, MX-14: everything runs once and no queue exceeds its width",
    arguments: [0, 40])
  func random(failurePercentage: Int) async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread(within: .seconds(240)) {
      var random = SeededGenerator(seed: seed)
      for round in 0..<max(4, Effort.scaled(20)) {
        let starter = FailingStarter()
        starter.mode = .failsAtRandom(seed: random.next(), percentage: failurePercentage)
        let pool = starter.makePool()
        // Every fourth round has 2,000 queues with about two operations each. The other rounds have
        // few queues, in which many operations meet.
        let queueCount = round % 4 == 0 ? 2_000 : Int.random(in: 1...20, using: &random)
        let lines = (0..<queueCount).map { _ in
          StressedQueue(pool, width: [-1, 1, 1, 2, 5].randomElement(using: &random) ?? 1)
        }
        let count = max(400, 2 * queueCount)
        for _ in 0..<count {
          lines.randomElement(using: &random)?.addAny(&random)
        }
        // If the pool could not start any thread, a queue tries to start a thread again only when
        // the queue is used. Therefore the test uses each queue until it is empty.
        for line in lines {
          while line.queue.operationCount > 0 { usleep(200) }
          line.queue.waitUntilAllOperationsAreFinished()
        }
        #expect(lines.map(\.wrongRuns).reduce(0, +) == 0)
        #expect(lines.allSatisfy { $0.width < 0 || $0.mostRunning <= $0.width })
      }
    }
  }
}

/// A queue that counts the executions of its operations.
final class StressedQueue: Sendable {
  let queue: OperationQueue
  let width: Int
  private let running = Atomic<Int>(0)
  private let most = Atomic<Int>(0)
  private let runs = Atomic<Int>(0)
  private let expected = Atomic<Int>(0)

  init(_ pool: WorkerPool, width: Int) {
    self.width = width
    queue = OperationQueue(pool: pool)
    queue.maxConcurrentOperationCount = width
  }

  var mostRunning: Int { most.load(ordering: .relaxed) }
  /// The number of added operations that have not begun.
  var unfinishedCount: Int { expected.load(ordering: .relaxed) - runs.load(ordering: .relaxed) }
  var wrongRuns: Int { abs(runs.load(ordering: .relaxed) - expected.load(ordering: .relaxed)) }

  func addAny(_ random: inout SeededGenerator) {
    expected.wrappingAdd(1, ordering: .relaxed)
    switch Int.random(in: 0..<40, using: &random) {
    case 0: addLingering()
    case 1...4:
      queue.addOperation {
        self.begin()
        usleep(100)
        self.end()
      }
    case 5...8:
      queue.addOperation {
        self.begin()
        useProcessor(for: .microseconds(50))
        self.end()
      }
    default:
      queue.addOperation {
        self.begin()
        self.end()
      }
    }
  }

  /// Adds an operation whose `start()` returns only after the next operation has run. Another
  /// thread announces the finish of the operation.
  private func addLingering() {
    expected.wrappingAdd(1, ordering: .relaxed)
    let begun = Latch()
    let hasFollowed = Latch()
    let lingering = LingeringOperation { [self] in
      begin()
      end()
      begun.open()
      hasFollowed.wait()
    }
    queue.addOperation(lingering)
    queue.addOperation { [self] in
      begin()
      end()
      hasFollowed.open()
    }
    startThread {
      begun.wait()
      lingering.cancel()
    }
  }

  private func begin() {
    _ = most.max(running.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .relaxed)
    runs.wrappingAdd(1, ordering: .relaxed)
  }

  private func end() { running.wrappingSubtract(1, ordering: .relaxed) }
}

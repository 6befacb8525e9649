// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore
@testable import RandomPrograms

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Random programs against the model", .oneAtATime)
struct RandomProgramTests {
  @Test("6,000 programs, step by step, match the rules after each step")
  func stepByStep() async throws {
    let seed = SeededGenerator.announcedSeed()
    let finding = try await onOwnThread(within: .seconds(1_200)) {
      Examination(title: "A program that breaks the rules", check: LockStepRun().discrepancy)
        .finding(inPrograms: Effort.scaled(6_000), seed: seed)
    }
    if let finding { Issue.record("\(finding)") }
  }

  @Test("4,000 programs, several threads at once: nothing is lost, runs twice or stays")
  func atOnce() async throws {
    let seed = SeededGenerator.announcedSeed()
    let finding = try await onOwnThread(within: .seconds(1_200)) {
      Examination(title: "A program that breaks the rules", check: FreeRun().discrepancy)
        .finding(inPrograms: Effort.scaled(4_000), seed: seed)
    }
    if let finding { Issue.record("\(finding)") }
  }

  @Test("500 programs beside 2,000 queues, on threads that cannot always be started")
  func besideManyQueues() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread(within: .seconds(1_200)) {
      var random = SeededGenerator(seed: seed)
      var failureCount = 0
      for batch in 0..<max(2, Effort.scaled(20)) {
        let starter = FailingStarter()
        starter.mode = .failsAtRandom(seed: random.next(), percentage: 40)
        let pool = starter.makePool()
        let others = BusyQueues(count: 2_000, pool: pool, seed: random.next())
        others.begin()
        let finding = Examination(
          title: "A program that breaks the rules", check: FreeRun(pool: pool).discrepancy
        ).finding(inPrograms: 25, seed: seed &+ UInt64(25 * batch))
        #expect(others.end() == 0, "operations of the other queues that ran never or twice")
        failureCount += starter.failureCount
        if let finding {
          Issue.record("\(finding)")
          return
        }
      }
      #expect(failureCount > 0)
    }
  }
}

/// Many queues to which a thread adds operations during a test.
private final class BusyQueues: Sendable {
  private let queues: [StressedQueue]
  private let random: Locked<SeededGenerator>
  private let mustEnd = Flag()
  private let hasEnded = Latch()

  init(count: Int, pool: WorkerPool, seed: UInt64) {
    queues = (0..<count).map { StressedQueue(pool, width: [-1, 1, 1, 2][$0 % 4]) }
    random = Locked(SeededGenerator(seed: seed))
  }

  /// Starts a thread that adds operations to random queues.
  func begin() {
    startThread { [self] in
      var random = random.withLock { $0 }
      while !mustEnd.isRaised {
        // An operation whose `start()` waits for the next operation holds a thread, so there must
        // be fewer operations than threads.
        if unfinishedCount < 200 {
          for _ in 0..<100 { queues.randomElement(using: &random)?.addAny(&random) }
        }
        usleep(5_000)
      }
      hasEnded.open()
    }
  }

  private var unfinishedCount: Int { queues.reduce(0) { $0 + $1.unfinishedCount } }

  /// Waits until all operations of the queues have finished.
  ///
  /// - Returns: The number of operations that were not executed, or were executed twice.
  func end() -> Int {
    mustEnd.raise()
    hasEnded.wait()
    for line in queues {
      while line.queue.operationCount > 0 { usleep(200) }
      line.queue.waitUntilAllOperationsAreFinished()
    }
    return queues.map(\.wrongRuns).reduce(0, +)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The tests measure a delay as the number of operations that other queues execute during the
/// delay. Milliseconds would not be comparable, because a busy machine slows down the delayed
/// operation and the other queues.
@Suite("Fairness between queues", .oneAtATime)
struct FairnessTests {
  /// The combinations of the widths of two queues. A queue with its own width has its own workers.
  /// A queue of default width (−1) shares its workers with other queues.
  private static let widths = [[-1, -1], [-1, 1], [4, -1], [1, 4]]

  @Test("MX-5, MX-6: an operation does not wait for another queue's flood", arguments: widths)
  func floodDelaysNoOtherQueue(widths: [Int]) async throws {
    try await onOwnThread {
      let flood = Flood(width: widths[0], limit: 3_000_000)
      let idle = OperationQueue()
      idle.maxConcurrentOperationCount = widths[1]
      // The test compares the median of 25 delays: the kernel may stop a thread for milliseconds at
      // any time, but not in half of the attempts.
      let delays = (0..<25).map { _ in
        let delay = Monitored(0)
        let begin = flood.runCount + 1_000
        while flood.runCount < begin, !flood.hasReachedLimit { sched_yield() }
        let before = flood.runCount
        idle.addOperations(
          [BlockOperation { delay.change { $0 = flood.runCount - before } }],
          waitUntilFinished: true)
        return delay.value
      }
      #expect(!flood.hasReachedLimit)
      flood.end()
      // A shared worker executes at most 64 operations of a queue before it serves another queue. A
      // few thousand operations take some milliseconds.
      #expect(delays.sorted()[12] < 5_000, "\(delays)")
    }
  }

  @Test(
    "MX-5, MX-6: two queues that are never empty do not wait for each other", arguments: widths)
  func twoFloodsBothGoOn(widths: [Int]) async throws {
    try await onOwnThread {
      let goal = Effort.scaled(20_000)
      let floods = widths.map { Flood(width: $0, limit: 100 * goal) }
      while floods.contains(where: { $0.runCount < goal }),
        !floods.contains(where: \.hasReachedLimit)
      { sched_yield() }
      let allGoOn = floods.allSatisfy { $0.runCount >= goal && !$0.hasReachedLimit }
      #expect(allGoOn)
      for flood in floods { flood.end() }
    }
  }

  @Test("MX-5: an operation that a finish makes ready begins before the last dependent is notified")
  func fanOutBeginsBeforeItsLastDependentIsNotified() async throws {
    try await onOwnThread {
      let began = Gate()
      let queue = OperationQueue()
      let first = BlockOperation {}
      let dependents = (0..<3_000).map { index in
        // The dependent that waits for the start of another dependent is in the middle of the list.
        // So the test works whether the first dependent is notified first or last.
        index == 1_500 ? BeginningAwaiter(began) : BlockOperation { began.open() }
      }
      for dependent in dependents { dependent.addDependency(first) }
      queue.addOperations(dependents, waitUntilFinished: false)
      queue.addOperations([first], waitUntilFinished: false)
      queue.waitUntilAllOperationsAreFinished()
      let awaiters = dependents.compactMap { $0 as? BeginningAwaiter }
      #expect(awaiters.map(\.hasSeenIt) == [true])
    }
  }

  @Test("MX-5: a hundred operations that sleep for a second take less than three together")
  func sleepersInAQueueOfDefaultWidth() async throws {
    try await onOwnThread {
      // One quick attempt of three is enough, because a busy machine may stop for two seconds, but
      // not in each attempt.
      let durations = AnySequence(0..<3).lazy.map { _ in Self.durationOfSleepers(100) }
      #expect(durations.contains { $0 < .seconds(3) })
    }
  }

  private static func durationOfSleepers(_ count: Int) -> Duration {
    let queue = OperationQueue()
    return ContinuousClock().measure {
      queue.addOperations(
        (0..<count).map { _ in BlockOperation { sleep(1) } }, waitUntilFinished: true)
    }
  }

  @Test("MX-6: a queue of width 1,000 runs a thousand operations at once, all of them blocked")
  func aThousandAtOnce() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1_000
      let gate = Gate()
      for _ in 0..<1_100 { queue.addOperation { gate.pass() } }
      gate.waitForArrivals(1_000)
      #expect(queue.operations.count { $0.isExecuting } == 1_000 && gate.arrivedCount == 1_000)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(gate.arrivedCount == 1_100)
    }
  }
}

/// An operation whose `isReady`, when its dependency has finished, waits until another operation
/// has begun to execute.
private final class BeginningAwaiter: Operation, @unchecked Sendable {
  private let began: Gate
  private let answer = Mutex<Bool?>(nil)

  init(_ began: Gate) {
    self.began = began
    super.init()
  }

  /// Whether another operation began to execute while `isReady` waited.
  var hasSeenIt: Bool { answer.withLock { $0 == true } }

  override var isReady: Bool {
    if dependencies.contains(where: \.isFinished), answer.withLock({ $0 == nil }) {
      let isOpen = began.waitUntilOpen()
      answer.withLock { $0 = isOpen }
    }
    return super.isReady
  }
}

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

/// The tests that count threads run in separate processes, so that the pool has only the threads of
/// the test's queues.
@Suite("The threads of all queues together", .oneAtATime)
struct ThreadBudgetTests {
  @Test("MX-5, MX-6: 2,000 serial queues of processor work take at most 64 threads")
  func serialQueuesInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(120)) {
        let most = Atomic<Int>(0)
        let queues = makeQueues(2_000, width: 1)
        for queue in queues {
          queue.addOperation {
            _ = most.max(PoolThread.all.count, ordering: .relaxed)
            useProcessor(for: .milliseconds(1))
          }
        }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        let count = most.load(ordering: .relaxed)
        print("2,000 serial queues took \(count) threads")
        precondition(count > 0 && count <= 64, "\(count) threads")
      }
    }
  }

  @Test("MX-6: adding to 2,000 serial queues costs at most twice what adding to one costs")
  func addingToManyQueues() async throws {
    try await onOwnThread {
      // The test measures the processor time of the thread that adds operations, because this time
      // does not depend on the load of the machine. The limit is higher without optimization,
      // because the difference is greater then.
      #if DEBUG
        let limit = 4.0
      #else
        let limit = 2.0
      #endif
      // One good measurement of seven is enough, because a busy machine may disturb the others.
      var ratios: [Double] = []
      while ratios.count < 7, ratios.allSatisfy({ $0 > limit }) {
        ratios.append(
          Self.costOfAdding(to: makeQueues(2_000, width: 1))
            / Self.costOfAdding(to: Array(repeating: makeQueues(1, width: 1)[0], count: 2_000)))
      }
      #expect(ratios.min() ?? .infinity <= limit, "\(ratios)")
    }
  }

  /// Returns the processor time that adding one operation takes, in nanoseconds.
  private static func costOfAdding(to queues: [OperationQueue]) -> Double {
    // The first operation of each queue is not measured, because it needs more memory.
    for queue in queues { queue.addOperation {} }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    let before = threadProcessorTime()
    for queue in queues { queue.addOperation { useProcessor(for: .microseconds(100)) } }
    let cost = threadProcessorTime() - before
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    return cost / .nanoseconds(queues.count)
  }

  @Test(
    "MX-6: sleepers of 1 s end within 1.1 s, 1,000 within 1.5 s, at their own width",
    arguments: [(100, 1.1), (1_000, 1.5)])
  func sleepers(count: Int, limit: Double) async throws {
    try await onOwnThread {
      // One quick attempt of seven is enough, because a busy machine may stop all threads for some
      // time.
      let isQuickOnce = (0..<7).contains { _ in
        let queue = makeQueues(1, width: count)[0]
        let duration = ContinuousClock().measure {
          queue.addOperations(
            (0..<count).map { _ in BlockOperation { sleep(1) } }, waitUntilFinished: true)
        }
        return duration < .seconds(limit)
      }
      #expect(isQuickOnce)
    }
  }

  @Test("MX-6: three operations of width 3 that spin for each other all run")
  func spinners() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let queue = makeQueues(1, width: 3)[0]
      let count = Atomic<Int>(0)
      for _ in 0..<3 {
        queue.addOperation {
          count.wrappingAdd(1, ordering: .relaxed)
          while count.load(ordering: .relaxed) < 3 {}
        }
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-5: a ready operation starts within 10 ms if all workers are blocked")
  func startBesideBlockedWorkers() async throws {
    try await onOwnThread {
      let delays = (0..<15).map { _ in
        let gate = Gate()
        let blocked = OperationQueue()
        let count = AvailableProcessors.count()
        for _ in 0..<count { blocked.addOperation { gate.pass() } }
        gate.waitForArrivals(count)
        let begun = Monitored<ContinuousClock.Instant?>(nil)
        let before = ContinuousClock.now
        OperationQueue().addOperation { begun.change { $0 = .now } }
        begun.wait(for: "the operation") { $0 != nil }
        gate.open()
        blocked.waitUntilAllOperationsAreFinished()
        return (begun.value ?? before) - before
      }
      #expect(delays.sorted()[7] < .milliseconds(10), "\(delays)")
    }
  }

  @Test(
    "MX-5: 200 operations in ten queues of default width never run on more than the processors + 1")
  func processorWork() async throws {
    try await onOwnThread {
      let running = Atomic<Int>(0)
      let most = Atomic<Int>(0)
      let queues = makeQueues(10, width: -1)
      for index in 0..<200 {
        queues[index % 10].addOperation {
          _ = most.max(running.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .relaxed)
          useProcessor(for: .milliseconds(3))
          running.wrappingSubtract(1, ordering: .relaxed)
        }
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      #expect(most.load(ordering: .relaxed) <= AvailableProcessors.count() + 1)
    }
  }

  @Test("MX-5, MX-13: 600 sleepers of default width take 512 threads, which is reported once")
  func limitInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        let kinds = EventLog<OperationDiagnostic.Kind>()
        OperationDiagnostic.handler = { kinds.note($0.kind) }
        let queue = OperationQueue()
        let latch = Latch()
        let begun = Atomic<Int>(0)
        for _ in 0..<600 {
          queue.addOperation {
            begun.wrappingAdd(1, ordering: .relaxed)
            latch.wait()
          }
        }
        while !WorkerPool.shared.threads.isAtLimit { usleep(1_000) }
        precondition(WorkerPool.shared.threads.count == 512)
        while begun.load(ordering: .relaxed) < 512 { usleep(1_000) }
        precondition(begun.load(ordering: .relaxed) == 512)
        while kinds.events.isEmpty { usleep(1_000) }
        latch.open()
        queue.waitUntilAllOperationsAreFinished()
        let (count, events) = (begun.load(ordering: .relaxed), kinds.events)
        precondition(count == 600 && events == [.threadLimitReached], "\(count) \(events)")
      }
    }
  }
}

@Suite("The threads of one block operation with many blocks", .oneAtATime)
struct ExecutionBlockThreadTests {
  @Test("BL-1: 3,000 blocks of processor work take at most 64 threads, and each runs once")
  func manyBlocksInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        let runs = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        let operation = BlockOperation()
        for index in 0..<3_000 {
          operation.addExecutionBlock {
            runs.wrappingAdd(1, ordering: .relaxed)
            useProcessor(for: .microseconds(20))
            if index % 50 == 0 { _ = most.max(PoolThread.all.count, ordering: .relaxed) }
          }
        }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        precondition(runs.load(ordering: .relaxed) == 3_000)
        precondition((1...64).contains(most.load(ordering: .relaxed)))
      }
    }
  }

  @Test("BL-1: 100 blocks that wait for each other all run", arguments: [true, false])
  func blocksThatMeet(isQueued: Bool) async throws {
    try await onOwnThread(within: .seconds(60)) {
      let gate = Gate()
      let operation = BlockOperation()
      for _ in 0..<100 { operation.addExecutionBlock { gate.pass() } }
      startThread {
        gate.waitForArrivals(100)
        gate.open()
      }
      if isQueued {
        OperationQueue().addOperations([operation], waitUntilFinished: true)
      } else {
        operation.start()
      }
      #expect(gate.arrivedCount == 100)
    }
  }

  @Test("BL-1: without any thread the thread that starts the operation runs all blocks")
  func withoutThreads() async throws {
    try await onOwnThread(within: .seconds(60)) {
      let pool = WorkerPool(WorkerPoolConfiguration(processorCount: 2)) { _, _, _ in EAGAIN }
      let runs = Monitored(0)
      let blocks = (0..<50).map { _ -> @Sendable () -> Void in { runs.change { $0 += 1 } } }
      let several = ExecutionBlocks(blocks, of: Operation(), in: nil, on: pool)
      pool.help(several)
      several.finishAll()
      #expect(runs.value == 50)
    }
  }

  @Test("BL-1: blocks that have all run wait for no thread, and are released")
  func withdrawal() async throws {
    try await onOwnThread(within: .seconds(60)) {
      let pool = WorkerPool(WorkerPoolConfiguration(processorCount: 1, threadLimit: 1))
      let gate = Gate()
      let busy = OperationQueue(pool: pool)
      busy.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      weak var released: ExecutionBlocks?
      do {
        // The pool has reached its maximum number of threads, so the request for another thread
        // waits.
        let several = ExecutionBlocks([{}, {}], of: Operation(), in: nil, on: pool)
        released = several
        pool.help(several)
        several.finishAll()
      }
      #expect(pool.threads.waitingCount == 0 && released == nil)
      gate.open()
      busy.waitUntilAllOperationsAreFinished()
    }
  }
}

private func makeQueues(_ count: Int, width: Int) -> [OperationQueue] {
  (0..<count).map { _ in
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    return queue
  }
}

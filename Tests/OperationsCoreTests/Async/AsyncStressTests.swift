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

@Suite("Many asynchronous operations", .oneAtATime)
struct AsyncStressTests {
  /// Counts events of all operations of a test.
  private final class Tally: Sendable {
    let begun = Atomic<Int>(0)
    let running = Atomic<Int>(0)
    let mostRunning = Atomic<Int>(0)
    let finished = Atomic<Int>(0)
    let finishedTwice = Atomic<Int>(0)
    let gone = Atomic<Int>(0)
  }

  private final class Counted: AsyncOperation<Void>, @unchecked Sendable {
    private let tally: Tally
    private let yields: Int
    private let finishes = Atomic<Int>(0)

    init(_ tally: Tally, yields: Int) {
      self.tally = tally
      self.yields = yields
      super.init()
    }

    deinit { tally.gone.wrappingAdd(1, ordering: .relaxed) }

    override func run() async throws {
      tally.begun.wrappingAdd(1, ordering: .relaxed)
      let running = tally.running.wrappingAdd(1, ordering: .relaxed).newValue
      tally.mostRunning.max(running, ordering: .relaxed)
      defer { tally.running.wrappingSubtract(1, ordering: .relaxed) }
      for _ in 0..<yields {
        try Task.checkCancellation()
        await Task.yield()
      }
    }

    override func didChangeValue(forKey key: String) {
      super.didChangeValue(forKey: key)
      guard key == "isFinished" else { return }
      if finishes.wrappingAdd(1, ordering: .relaxed).oldValue == 0 {
        tally.finished.wrappingAdd(1, ordering: .relaxed)
      } else {
        tally.finishedTwice.wrappingAdd(1, ordering: .relaxed)
      }
    }
  }

  @Test("MX-1, MX-6: 10,000 waiting operations, 1,000 at a time, do not need a thread each")
  func waitingTakesNoThreads() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.name = "awaiters"
      let width = max(200, Effort.scaled(1_000))
      queue.maxConcurrentOperationCount = width
      let gate = AsyncGate()
      let running = Monitored(0)
      for _ in 0..<10 * width {
        queue.addAsyncOperation {
          let count = running.change { count in
            count += 1
            return count
          }
          #expect(count <= width)
          await gate.pass()
          running.change { $0 -= 1 }
        }
      }
      gate.waitForArrivals(width)
      // The waiting operations use all slots of the queue but block no threads, so there are few
      // threads.
      let threads = PoolThread.all.filter { $0.name == "opq-awaiters" }.count
      #expect(threads < width / 4, "\(threads) threads for \(width) that wait")
      #expect(gate.arrivedCount == width && queue.operationCount == 10 * width)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(gate.arrivedCount == 10 * width)
    }
  }

  @Test("CA-6, CA-8, MX-1: cancelled at random moments on a width of 8, each finishes exactly once")
  func randomCancellation() async throws {
    let seed = SeededGenerator.announcedSeed()
    let count = Effort.scaled(100_000)
    try await onOwnThread {
      let queue = OperationQueue()
      queue.name = "cancelled"
      queue.maxConcurrentOperationCount = 8
      let tally = Tally()
      let usage = ResourceWatch()
      var random = SeededGenerator(seed: seed)
      var recent: [Counted] = []
      for index in 0..<count {
        let operation = Counted(tally, yields: index % 4)
        recent.append(operation)
        if Int.random(in: 0..<8, using: &random) == 0 { operation.cancel() }
        queue.addOperation(operation)
        guard recent.count == 64 else { continue }
        // Of the last 64 added operations, some have finished, some execute, and some wait.
        for operation in recent where Int.random(in: 0..<4, using: &random) == 0 {
          operation.cancel()
        }
        recent.removeAll(keepingCapacity: true)
        usage.look()
      }
      recent.removeAll()
      queue.waitUntilAllOperationsAreFinished()
      usage.look()
      #expect(tally.finished.load(ordering: .relaxed) == count)
      #expect(tally.finishedTwice.load(ordering: .relaxed) == 0)
      #expect(tally.mostRunning.load(ordering: .relaxed) <= 8)
      // All operations have finished, but some tasks may not have released their operations yet.
      let deadline = ContinuousClock.now + .seconds(Patience.seconds)
      while tally.gone.load(ordering: .acquiring) < count, .now < deadline { sched_yield() }
      #expect(tally.gone.load(ordering: .relaxed) == count, "All operations were released")
      let begun = tally.begun.load(ordering: .relaxed)
      print(
        "\(count) asynchronous operations, \(count - begun) cancelled before they began: \(usage)")
    }
  }

  // This test is a short form of a longer one: `.ci/run` runs the same program in an optimized
  // build with 1,000,000 operations.
  @Test("CA-8, MX-1, MX-6: in a separate process, they need a bounded number of threads")
  func storm() async throws {
    let count = Effort.scaled(50_000)
    let run = try await onOwnThread {
      try FixtureProgram.shared.run("async-storm", "\(count)")
    }
    #expect(run.output.hasPrefix("\(count) operations, "))
    #expect(run.ending == .status(0), "\(run.output)")
  }
}

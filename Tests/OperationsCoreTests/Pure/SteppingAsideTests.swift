// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

@Suite("MX-5: workers that step aside while operations are short", .timeLimit(.minutes(5)))
struct SteppingAsideTests {
  @Test("MX-5: the first check is due after 64 operations, and after another 64 if it was useful")
  func usefulChecks() {
    var aside = SteppingAside(at: 0)
    #expect((1..<200).filter { aside.isDue(after: $0) } == [64])
    aside.checkAgain(after: 64, at: 1_000, wasFaster: true)
    #expect((1..<300).filter { aside.isDue(after: $0) } == [128])
  }

  @Test("MX-5: checks that find no reason to step aside become rare")
  func uselessChecks() {
    var aside = SteppingAside(at: 0)
    var count = 64
    var intervals: [Int] = []
    for _ in 0..<8 {
      aside.checkAgain(after: count, at: 0, wasFaster: false)
      let due = (count + 1...count + 10_000).first { aside.isDue(after: $0) }
      intervals.append((due ?? 0) - count)
      count = due ?? 0
    }
    #expect(intervals == [128, 256, 512, 1_024, 2_048, 4_096, 4_096, 4_096])
    aside.checkAgain(after: count, at: 0, wasFaster: true)
    #expect(aside.isDue(after: count + 64))
  }

  @Test("MX-5: the pace is the time of one operation since the last check")
  func pace() {
    var aside = SteppingAside(at: 1_000)
    #expect(aside.pace(at: 1_000 + 64 * 300) == 300)
    aside.checkAgain(after: 64, at: 50_000, wasFaster: false)
    #expect(aside.pace(at: 50_000 + 128 * 250) == 250)
  }

  @Test("MX-5: race: operations that need each other run at once after many short operations")
  func meetingAfterShortOperations() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let queue = OperationQueue()
    for _ in 0..<max(5, Effort.scaled(100)) {
      let gate = Gate()
      for _ in 0..<Int.random(in: 100..<20_000, using: &random) { queue.addOperation {} }
      queue.addOperation { gate.pass() }
      queue.addOperation {
        gate.waitForArrivals(1)
        gate.open()
      }
      #expect(await queue.waitUntilAllOperationsAreFinished())
    }
  }

  @Test("MX-5: race: all short operations run once, while dependencies and widths change")
  func shortOperationsRunOnce() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let queue = OperationQueue()
    let runCount = Atomic<Int>(0)
    var expected = 0
    for _ in 0..<max(5, Effort.scaled(60)) {
      var recent: [Operation] = []
      for _ in 0..<Int.random(in: 500..<5_000, using: &random) {
        let operation = BlockOperation { runCount.wrappingAdd(1, ordering: .relaxed) }
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
          if let before = recent.randomElement(using: &random) { operation.addDependency(before) }
        }
        if recent.count == 50 { recent.removeFirst() }
        recent.append(operation)
        queue.addOperation(operation)
        expected += 1
      }
      let width = [OperationQueue.defaultMaxConcurrentOperationCount, 1, 2, 5]
      queue.maxConcurrentOperationCount = width.randomElement(using: &random) ?? 1
    }
    #expect(await queue.waitUntilAllOperationsAreFinished())
    #expect(runCount.load(ordering: .relaxed) == expected)
    #expect(queue.operationCount == 0)
  }

  @Test("MX-5: the sampler does not count a worker that stands aside as blocked")
  func sampler() async throws {
    try await onOwnThread {
      var bench = WorkerPoolBench(processors: 2)
      bench.request()
      let worker = bench.serving[0].worker
      let sleeper = Gate()
      onThreads(2) { thread in
        if thread == 0 {
          worker.threadID.store(csystem_thread_id(), ordering: .relaxed)
          sleeper.pass()
        } else {
          sleeper.waitForArrivals(1)
          var now: Int64 = 0
          // At first, the thread may still run.
          for _ in 0..<10_000 where worker.condition(now: now) != .blocked {
            csystem_sleep_shortly()
            now += 10_000_000
          }
          #expect(worker.condition(now: now) == .blocked)
          worker.isAside.store(true, ordering: .relaxed)
          #expect(worker.condition(now: now) == .running)
          sleeper.open()
        }
      }
    }
  }

  @Test("Q-4, MX-5: workers that step aside pass on the queue that an operation has made ready")
  func nextQueue() async throws {
    try await onOwnThread {
      let here = OperationQueue()
      let there = OperationQueue()
      here.isSuspended = true
      let count = Effort.scaled(200_000)
      for _ in 0..<count {
        let operation = BlockOperation {}
        let dependent = BlockOperation {}
        dependent.addDependency(operation)
        there.addOperation(dependent)
        here.addOperation(operation)
      }
      // A worker checks that it has passed the other queue on before it stands aside.
      here.isSuspended = false
      here.waitUntilAllOperationsAreFinished()
      there.waitUntilAllOperationsAreFinished()
      #expect(there.operationCount == 0)
    }
  }
}

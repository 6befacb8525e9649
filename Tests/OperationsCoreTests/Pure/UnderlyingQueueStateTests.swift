// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Testing

@testable import OperationsCore

@Suite("Blocks that a QueueScheduler requests in its underlying queue")
struct UnderlyingQueueStateTests {
  /// Returns a scheduler with an underlying dispatch queue, to which the test submits no blocks.
  private func makeBench() -> (SchedulerBench, generation: UInt64) {
    let bench = SchedulerBench()
    bench.scheduler.setUnderlyingQueue(DispatchQueue(label: "unused"))
    return (bench, bench.scheduler.underlying?.generation ?? 0)
  }

  private func operations(_ count: Int) -> [Operation] {
    (0..<count).map { SchedulerBench.operation("\($0)") }
  }

  private func begin(_ bench: SchedulerBench, _ generation: UInt64) -> Operation? {
    bench.scheduler.blockBegan(generation).map(SchedulerBench.operation)
  }

  @Test("MX-9: one block for each operation that may start, claimed once")
  func oneForEach() {
    let (bench, generation) = makeBench()
    bench.add(operations(3))
    #expect(bench.scheduler.hasWork)
    #expect(bench.scheduler.claimBlocks() == 3)
    #expect(!bench.scheduler.hasWork && bench.scheduler.claimBlocks() == 0)
    bench.add(operations(1))
    #expect(bench.scheduler.claimBlocks() == 1)
    let started = (0..<4).compactMap { _ in begin(bench, generation) }
    #expect(started.count == 4 && begin(bench, generation) == nil)
  }

  @Test("MX-9: with an underlying queue, the library's workers find no operations")
  func notForWorkers() {
    let (bench, _) = makeBench()
    #expect(bench.scheduler.publishWidth()?.width == 0)
    bench.add(operations(1))
    #expect(bench.scheduler.takeNextForWorker() == nil)
    #expect(bench.scheduler.publishWidth() == nil)
  }

  @Test("MX-4: at most one block per free slot, and another for each slot that becomes free")
  func width() {
    let (bench, generation) = makeBench()
    bench.scheduler.maxConcurrentOperationCount = 2
    bench.add(operations(5))
    #expect(bench.scheduler.claimBlocks() == 2)
    let first = begin(bench, generation)
    #expect(bench.scheduler.claimBlocks() == 0)
    _ = begin(bench, generation)
    #expect(bench.scheduler.claimBlocks() == 0)
    if let first { bench.finish(first) }
    #expect(bench.scheduler.claimBlocks() == 1)
    bench.scheduler.maxConcurrentOperationCount = 4
    #expect(bench.scheduler.claimBlocks() == 2)
  }

  @Test("MX-7, MX-8: a suspended queue requests no blocks until it is resumed")
  func suspension() {
    let (bench, generation) = makeBench()
    bench.add(operations(2))
    #expect(bench.scheduler.claimBlocks() == 2)
    bench.scheduler.isSuspended = true
    #expect(begin(bench, generation) == nil && !bench.scheduler.hasWork)
    bench.scheduler.isSuspended = false
    #expect(bench.scheduler.claimBlocks() == 1, "one block is still requested")
  }

  @Test("MX-9: the number of waiting blocks is at most the limit")
  func limit() {
    let (bench, generation) = makeBench()
    bench.add(operations(UnderlyingQueue.pendingLimit + 10))
    #expect(bench.scheduler.claimBlocks() == UnderlyingQueue.pendingLimit)
    #expect(begin(bench, generation) != nil)
    #expect(bench.scheduler.claimBlocks() == 1)
  }

  @Test("MX-9: a block of an earlier underlying queue has no effect, and is not counted")
  func generations() {
    let (bench, former) = makeBench()
    bench.add(operations(1))
    #expect(bench.scheduler.claimBlocks() == 1)
    bench.scheduler.setUnderlyingQueue(DispatchQueue(label: "unused too"))
    let current = bench.scheduler.underlying?.generation ?? 0
    #expect(bench.scheduler.claimBlocks() == 1)
    #expect(begin(bench, former) == nil && bench.scheduler.claimBlocks() == 0)
    #expect(begin(bench, current) != nil)
    bench.scheduler.setUnderlyingQueue(nil)
    #expect(begin(bench, current) == nil && bench.scheduler.claimBlocks() == 0)
  }

  @Test("BA-2: one block is requested for a barrier, and none for later operations")
  func barrier() {
    let (bench, generation) = makeBench()
    bench.add(operations(2))
    let barrier = bench.addBarrier()
    bench.add(operations(7))
    let middle = bench.addBarrier()
    bench.add(operations(3))
    #expect(bench.scheduler.claimBlocks() == 2)
    for operation in [begin(bench, generation), begin(bench, generation)].compactMap({ $0 }) {
      #expect(bench.scheduler.claimBlocks() == 0)
      bench.finish(operation)
    }
    #expect(bench.scheduler.claimBlocks() == 1 && begin(bench, generation) === barrier)
    #expect(bench.scheduler.claimBlocks() == 0, "a barrier runs alone")
    bench.finish(barrier)
    #expect(bench.scheduler.claimBlocks() == 7)
    for operation in (0..<7).compactMap({ _ in begin(bench, generation) }) {
      bench.finish(operation)
    }
    #expect(bench.scheduler.claimBlocks() == 1 && begin(bench, generation) === middle)
    bench.finish(middle)
    #expect(bench.scheduler.claimBlocks() == 3)
  }
}

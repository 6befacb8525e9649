// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@testable import OperationsCore

@Suite(
  "Queues whose quality of service is background", .oneAtATime, .onOwnThread,
  .timeLimit(.minutes(5)))
struct BackgroundQueueTests {
  /// What an operation knows about its thread.
  private struct Sighting: Equatable, Sendable {
    let queue: String
    let thread: UInt64
    let niceValue: Int32
  }

  private let log = EventLog<Sighting>()
  private let niceValue = csystem_thread_nice_value()

  private func queue(
    _ name: String, _ qualityOfService: QualityOfService = .default, width: Int = -1,
    pool: WorkerPool = .shared
  ) -> OperationQueue {
    let queue = OperationQueue(pool: pool)
    queue.name = name
    queue.qualityOfService = qualityOfService
    queue.maxConcurrentOperationCount = width
    return queue
  }

  private func note(_ queue: String) {
    log.note(
      Sighting(
        queue: queue, thread: csystem_thread_number(),
        niceValue: csystem_thread_nice_value()))
  }

  private func niceValues(of queue: String) -> Set<Int32> {
    Set(log.events.filter { $0.queue == queue }.map(\.niceValue))
  }

  private func threads(of queue: String) -> Set<UInt64> {
    Set(log.events.filter { $0.queue == queue }.map(\.thread))
  }

  private var lowered: Int32 { min(19, niceValue + 10) }

  @Test("PR-11: its operations run on threads of low priority, and others on other threads")
  func niceValues() {
    let queues = [
      queue("background", .background), queue("wide background", .background, width: 4),
      queue("default"), queue("utility", .utility, width: 4),
    ]
    for _ in 0..<200 {
      for queue in queues {
        let name = queue.name ?? ""
        queue.addOperation { note(name) }
        queue.addAsyncOperation {
          note(name)
          await Task.yield()
          note(name)
        }
      }
    }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    for name in ["background", "wide background"] { #expect(niceValues(of: name) == [lowered]) }
    for name in ["default", "utility"] { #expect(niceValues(of: name) == [niceValue]) }
    let (background, other) = (
      threads(of: "background").union(threads(of: "wide background")),
      threads(of: "default").union(threads(of: "utility"))
    )
    #expect(background.isDisjoint(with: other))
  }

  @Test("PR-11: operations that a background operation adds to another queue run on other threads")
  func handedOver() {
    let pool = WorkerPool(WorkerPoolConfiguration(processorCount: 2, threadLimit: 8))
    let background = queue("background", .background, pool: pool)
    let other = queue("other", pool: pool)
    let last = BlockOperation { note("other") }
    let first = BlockOperation {
      note("background")
      for _ in 0..<20 { other.addOperation { note("other") } }
      let several = BlockOperation { note("other") }
      several.addExecutionBlock { note("other") }
      other.addOperation(several)
    }
    last.addDependency(first)
    other.addOperation(last)
    background.addOperation(first)
    background.waitUntilAllOperationsAreFinished()
    other.waitUntilAllOperationsAreFinished()
    #expect(niceValues(of: "background") == [lowered])
    #expect(niceValues(of: "other") == [niceValue])
  }

  @Test("PR-11: all blocks of one operation of such a queue run on threads of low priority")
  func blocks() {
    let background = queue("background", .background)
    let together = Gate()
    let operation = BlockOperation { together.pass() }
    for _ in 0..<3 {
      operation.addExecutionBlock {
        note("background")
        together.pass()
      }
    }
    background.addOperation(operation)
    together.waitForArrivals(4)
    together.open()
    background.waitUntilAllOperationsAreFinished()
    #expect(niceValues(of: "background") == [lowered])
  }

  @Test("PR-11: after the quality of service has changed, the next operation runs on other threads")
  func change() {
    let changed = queue("before", width: 1)
    let gate = Gate()
    changed.addOperation {
      gate.pass()
      note("before")
    }
    changed.addOperation { note("after") }
    gate.waitForArrivals(1)
    changed.qualityOfService = .background
    gate.open()
    changed.waitUntilAllOperationsAreFinished()
    changed.qualityOfService = .default
    changed.addOperation { note("again") }
    changed.addAsyncOperation { note("again") }
    changed.waitUntilAllOperationsAreFinished()
    #expect(niceValues(of: "before") == [niceValue])
    #expect(niceValues(of: "after") == [lowered])
    #expect(niceValues(of: "again") == [niceValue])
  }

  @Test("PR-11: both kinds of threads together keep the limit of threads", arguments: [1, 2, 4])
  func limit(threadLimit: Int) {
    let pool = WorkerPool(WorkerPoolConfiguration(processorCount: 1, threadLimit: threadLimit))
    let queues = [
      queue("background", .background, width: 8, pool: pool), queue("other", width: 8, pool: pool),
    ]
    let counts = EventLog<Int>()
    for _ in 0..<5 {
      for queue in queues {
        let name = queue.name ?? ""
        for _ in 0..<20 {
          queue.addOperation {
            note(name)
            counts.note(pool.threads.count)
            usleep(200)
          }
        }
        queue.waitUntilAllOperationsAreFinished()
      }
    }
    #expect(log.events.count == 200)
    #expect(counts.events.allSatisfy { $0 <= threadLimit + 2 })
    #expect(niceValues(of: "background") == [lowered] && niceValues(of: "other") == [niceValue])
  }

  @Test("PR-11: while other queues have work, a background queue runs now and then")
  func standsBack() {
    let pool = WorkerPool(WorkerPoolConfiguration(processorCount: 1, threadLimit: 8))
    let other = queue("other", pool: pool)
    let background = queue("background", .background, pool: pool)
    let isOver = Monitored(false)
    // The operation keeps a request of the other queue waiting until the background queue has run.
    @Sendable func again() {
      let end = csystem_monotonic_nanoseconds() + 200_000
      while csystem_monotonic_nanoseconds() < end {}
      if !isOver.value { other.addOperation { again() } }
    }
    for _ in 0..<4 { other.addOperation { again() } }
    background.addOperation { isOver.change { $0 = true } }
    #expect(isOver.wait(for: "the operation of the background queue") { $0 })
    other.waitUntilAllOperationsAreFinished()
  }

  @Test("PR-11: race: quality of service, width and operations that change at the same time")
  func race() {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let queues = [queue("a"), queue("b", .background), queue("c", width: 2)]
    let count = Monitored(0)
    let rounds = Effort.scaled(2_000)
    for _ in 0..<rounds {
      for queue in queues {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: queue.qualityOfService = .background
        case 1: queue.qualityOfService = .default
        case 2: queue.maxConcurrentOperationCount = Int.random(in: 1...4, using: &random)
        default: queue.addAsyncOperation { count.change { $0 += 1 } }
        }
        queue.addOperation {
          count.change { $0 += 1 }
          queues[0].addOperation { count.change { $0 += 1 } }
        }
      }
    }
    for queue in queues + queues { queue.waitUntilAllOperationsAreFinished() }
    #expect(count.value >= 6 * rounds)
  }
}

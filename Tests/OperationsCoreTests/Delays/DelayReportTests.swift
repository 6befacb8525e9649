// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import TestSupport
import Testing

@testable import OperationsCore

/// Tests of the end of a delay in the reports that a collector reads.
@Suite("Delays in reports", .timeLimit(.minutes(5)))
struct DelayReportTests {
  private func makeQueue() -> OperationQueue { OperationQueue(unlistedNamed: "test") }

  /// Returns the ends of delays in the records that have changed.
  private static func read(_ queue: OperationQueue, _ collector: CollectorID) -> [Int64?] {
    queue.takeChanges(for: collector, limit: 1_000).changed.map { $0.reports?.read().delayEnd }
  }

  @Test(
    "A collector reads the end of a delay on a clock of the standard library",
    arguments: [ContinuousClock(), SuspendingClock()] as [any Clock<Duration>])
  func end(clock: any Clock<Duration>) async throws {
    let queue = makeQueue()
    try await onOwnThread {
      try keepingRecords(of: [queue]) { collector in
        let before = csystem_monotonic_nanoseconds()
        let operation = queue.addOperation(delay: .seconds(3_600), clock: clock) {}
        let after = csystem_monotonic_nanoseconds()
        let ends = Self.read(queue, collector)
        let end = try #require(ends.first ?? nil)
        // The two clocks are not read at the same moment.
        let tolerance: Int64 = 10_000_000_000
        #expect(end >= before + 3_600_000_000_000 - tolerance)
        #expect(end <= after + 3_600_000_000_000 + tolerance)
        operation.cancel()
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("A delay on another clock has no end in real time, and the operation gets no reports")
  func otherClock() async throws {
    let (queue, clock) = (makeQueue(), ManualClock())
    try await onOwnThread {
      keepingRecords(of: [queue]) { collector in
        let operation = queue.addOperation(delay: .seconds(5), clock: clock) {}
        #expect(Self.read(queue, collector) == [nil])
        #expect(operation.delayLeft == .seconds(5) && operation.reports == nil)
        operation.cancel()
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test(
    "If the operation waits for a dependency after its delay, the collector reads that the delay ended"
  )
  func endedDelay() async throws {
    let (queue, gate) = (makeQueue(), Gate())
    try await onOwnThread {
      keepingRecords(of: [queue]) { collector in
        let first = BlockOperation { gate.pass() }
        let second = BlockOperation {}
        second.addDependency(first)
        queue.addOperation(first)
        gate.waitForArrivals(1)
        queue.addOperation(second, delay: .seconds(3_600))
        #expect(Self.read(queue, collector).contains { $0 != nil })
        // The delay ends now, as if the clock had reached its end.
        Alarms.remove(second)
        second.alarmRings()
        let changed = queue.takeChanges(for: collector, limit: 1_000).changed
        #expect(changed.map(\.id) == [second.id] && changed.map(\.state) == [.waiting])
        #expect(changed.map { $0.reports?.read().delayEnd } == [nil])
        #expect(changed.first?.reports != nil && !second.isReady)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("A collector that comes later reads the end of a delay that has begun before")
  func laterCollector() async throws {
    let queue = makeQueue()
    try await onOwnThread {
      let operation = queue.addOperation(delay: .seconds(3_600)) {}
      // A collector of another test may have been there at the addition.
      operation.reports?.setDelayEnd(nil)
      let snapshot = RecordedOperation(describing: operation, queue: queue.id)
      let end = try #require(snapshot.reports?.last.delayEnd)
      #expect(end > csystem_monotonic_nanoseconds() + 3_000_000_000_000)
      operation.cancel()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "Descriptions race with the ends of delays, and no delay that has ended stays in the reports")
  func races() async throws {
    let seed = SeededGenerator.announcedSeed()
    let queue = makeQueue()
    try await onOwnThread {
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<Effort.scaled(2_000) {
        let delay = Duration.microseconds(Int.random(in: 1..<200, using: &generator))
        let operation = queue.addOperation(delay: delay) {}
        while !operation.isFinished {
          _ = RecordedOperation(describing: operation, queue: queue.id)
        }
        #expect(operation.reports?.last.delayEnd == nil, "seed \(seed)")
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite("The times and the starts of a queue, and when statistics are computed")
struct QueueTimesTests {
  /// An operation that is ready until its queue chooses it, and again when a test allows it.
  private final class Hesitant: Operation, @unchecked Sendable {
    /// The gate that the reading of `isReady` after the choice passes.
    let gate = Gate()
    let isAllowed = Monitored(true)

    override var isReady: Bool {
      if isAllowed.value { return super.isReady }
      gate.pass()
      return false
    }
  }

  private let watched = WatchedQueue()

  private func queue(_ update: Update) throws -> QueueReport {
    try #require(update.queues.first { $0.id == watched.id })
  }

  private var withTimes: Interest {
    var interest = Interest(rowLimit: 0)
    interest.queueTimes = true
    return interest
  }

  @Test("QC-1: Each report of a queue has the number of started operations")
  func startedCount() throws {
    watched.add(kinds: ["a", "b"])
    watched.finishAll()
    #expect(try queue(watched.update(Interest())).startedCount == 2)
    watched.queue.isSuspended = true
    for operation in watched.add(kinds: Array(repeating: "c", count: 5_000)) { operation.cancel() }
    watched.finishAll()
    #expect(try queue(watched.update(Interest())).startedCount == 2)
    watched.add(kinds: ["a"])
    watched.finishAll()
    #expect(try queue(watched.update(Interest())).startedCount == 3)
  }

  @Test("QC-1: An operation that its queue has chosen and takes back counts only when it begins")
  func hesitantOperation() throws {
    func startedCount() throws -> Int? { try queue(watched.update(Interest())).startedCount }
    let operation = Hesitant()
    watched.queue.isSuspended = true
    watched.queue.addOperation(operation)
    operation.isAllowed.change { $0 = false }
    watched.queue.isSuspended = false
    // The queue has chosen the operation, and its worker reads `isReady`.
    operation.gate.waitForArrivals(1)
    #expect(try startedCount() == 1)
    operation.gate.open()
    let end = ContinuousClock.now + .seconds(20)
    while try queue(watched.update(Interest())).counts.executing > 0, ContinuousClock.now < end {}
    #expect(try startedCount() == 0)
    operation.isAllowed.change { $0 = true }
    operation.didChangeValue(forKey: "isReady")
    operation.waitUntilFinished()
    #expect(try startedCount() == 1)
  }

  @Test("QC-2: The times of a queue are sent on request, and begin with the kept operations")
  func times() throws {
    watched.add(kinds: ["a", "b"])
    watched.finishAll()
    #expect(try queue(watched.update(Interest())).times == nil)
    #expect(try queue(watched.update(withTimes)).times?.run?.count == 2)
    watched.add(kinds: ["a"])
    watched.finishAll()
    #expect(try queue(watched.update(withTimes)).times?.run?.count == 3)
    #expect(try queue(watched.update(withTimes)).times?.wait?.count == 3)
    #expect(try queue(watched.update(Interest())).times == nil)
  }

  @Test("QC-2: A queue without known times has empty statistics")
  func noTimes() throws {
    #expect(try queue(watched.update(withTimes)).times == TimeStatistics())
  }

  @Test("QC-3: If nothing executes, the statistics are up to date, and no further update follows")
  func rest() throws {
    for count in 1...5 {
      watched.add(kinds: ["a"])
      watched.finishAll()
      let list = watched.watch(withTimes)
      #expect(try queue(list.takeUpdate(from: watched.table)).times?.run?.count == count)
      #expect(list.nextComputation == nil)
    }
  }

  @Test("QC-3: If nothing executes, the times of the kind of a requested operation are up to date")
  func restOfKinds() throws {
    let operation = try #require(watched.add(kinds: ["a"]).first)
    watched.finishAll()
    let interest = Interest(rowLimit: 0, operations: [.init(operation)])
    for count in 1...5 {
      if count > 1 { watched.add(kinds: ["a"]) }
      watched.finishAll()
      let list = watched.watch(interest)
      #expect(list.takeUpdate(from: watched.table).kindTimes["a"]?.run?.count == count)
      #expect(list.nextComputation == nil)
    }
  }

  @Test("QC-3: While an operation executes, outdated statistics are sent again a second later")
  func outdatedStatistics() {
    var times = TimeHistograms()
    var statistics = KindStatistics()
    let start = MonitorTime(nanoseconds: 1_000_000_000)
    func note() {
      times.note(
        OperationReport(
          id: .init(1), name: "", className: "A", queue: .init(1), state: .finished,
          started: start, finished: start))
    }
    func count(after milliseconds: Int, isAtRest: Bool = false) -> Int? {
      statistics.beginUpdate()
      return statistics.statistics(
        of: .kind("A"), in: times, at: start + .milliseconds(milliseconds), isAtRest: isAtRest
      )?.run?.count
    }
    #expect(count(after: 0) == nil && statistics.nextChange == nil)
    note()
    #expect(count(after: 0) == 1 && statistics.nextChange == nil)
    note()
    #expect(count(after: 500) == 1 && statistics.nextChange == start + .seconds(1))
    #expect(count(after: 999) == 1 && statistics.nextChange == start + .seconds(1))
    #expect(count(after: 1_000) == 2 && statistics.nextChange == nil)
    note()
    #expect(count(after: 1_001, isAtRest: true) == 3 && statistics.nextChange == nil)
    // Statistics that have not changed stay valid.
    #expect(count(after: 500_000) == 3 && statistics.nextChange == nil)
  }

  @Test("QC-3: If very many statistics change, the last values are computed within a second")
  func manyShortOperations() {
    let kinds = (0..<TimeHistograms.kindLimit).map { "\($0)" }
    var times = TimeHistograms()
    var statistics = KindStatistics()
    let start = MonitorTime(nanoseconds: 1_000_000_000)
    func note() {
      for kind in kinds {
        times.note(
          OperationReport(
            id: .init(1), name: "", className: kind, queue: .init(1), state: .finished,
            started: start, finished: start))
      }
    }
    /// Returns the number of kinds whose statistics are up to date after a number of operations.
    func currentCount(of count: Int, after milliseconds: Int, isLast: Bool = false) -> Int {
      statistics.beginUpdate(isLast: isLast)
      return kinds.count { kind in
        statistics.statistics(
          of: .kind(kind), in: times, at: start + .milliseconds(milliseconds), isAtRest: true)?
          .run?.count == count
      }
    }
    note()
    #expect(currentCount(of: 1, after: 0) == kinds.count && statistics.nextChange == nil)
    note()
    #expect(currentCount(of: 2, after: 10) == KindStatistics.earlyLimit)
    #expect(statistics.nextChange == start + .seconds(1))
    note()
    #expect(currentCount(of: 3, after: 20) == 0)
    #expect(currentCount(of: 3, after: 1_000) == kinds.count - KindStatistics.earlyLimit)
    #expect(statistics.nextChange == start + .milliseconds(1_010))
    #expect(currentCount(of: 3, after: 1_010) == kinds.count && statistics.nextChange == nil)
    // The last update has the last values.
    note()
    #expect(currentCount(of: 4, after: 1_020, isLast: true) == kinds.count)
    #expect(statistics.nextChange == nil)
  }

  @Test("QC-4: Only the queues that exist have statistics, at most 256")
  func queueLimit() {
    var histograms = TimeHistograms()
    histograms.keepQueues(true) { [] }
    for number in 1...UInt64(TimeHistograms.queueLimit + 10) {
      histograms.note(
        OperationReport(
          id: .init(number), name: "", className: "A", queue: .init(number), state: .finished,
          started: .now, finished: .now))
    }
    let ids = (1...UInt64(TimeHistograms.queueLimit + 10)).map { QueueReport.ID($0) }
    #expect(ids.count { histograms.times(of: .queue($0)) != nil } == TimeHistograms.queueLimit)
    histograms.keepQueues(Set(ids.prefix(2)))
    #expect(ids.count { histograms.times(of: .queue($0)) != nil } == 2)
    histograms.keepQueues(false) { [] }
    #expect(histograms.times(of: .queue(ids[0])) == nil)
  }

  @Test("GC-4: The ends of a queue count from the beginning of the monitoring, and never decrease")
  func ends() {
    var counts = EndedCounts()
    func note(_ id: UInt64, finished: Int, cancelled: Int = 0, isFirst: Bool = false) {
      counts.note(
        QueueReport(
          id: .init(id), name: "",
          counts: StateCounts(
            finished: finished, cancelled: cancelled, total: finished + cancelled)),
        isFirstReading: isFirst)
    }
    note(1, finished: 100, isFirst: true)
    #expect(counts.count(of: .init(1)) == 0)
    note(1, finished: 103, cancelled: 2)
    note(2, finished: 7)
    counts.keepQueues([])
    #expect(counts.count(of: .init(1)) == 5 && counts.count(of: .init(2)) == 7)
    for id in 3...2_000 as ClosedRange<UInt64> { note(id, finished: 1) }
    counts.keepQueues([.init(1)])
    #expect(counts.count(of: .init(1)) == 5 && counts.count(of: .init(2)) == 0)
  }
}

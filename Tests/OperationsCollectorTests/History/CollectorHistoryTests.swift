// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// Tests of a collector's history with changes of real queues. The queues are unlisted, so that
/// collectors of other tests do not read the changes.
@Suite final class CollectorHistoryTests {
  private let queue = OperationQueue(unlistedNamed: "test")
  private let collector = CollectorID()
  private let table = CollectorTable()

  init() {
    queue.isSuspended = true
    MonitorLevel.raise()
    queue.core.keepRecords(for: collector, replaces: true) {}
  }

  deinit {
    queue.core.dropRecords(of: collector)
    MonitorLevel.lower()
  }

  private func read() {
    table.beginReading()
    table.apply(queue.takeChanges(for: collector, limit: 100_000))
  }

  private func update(_ interest: Interest) throws -> Update {
    table.keepList(for: SessionID(rawValue: 1), interest, at: MonitorTime.now)
    let list = try #require(table.lists[SessionID(rawValue: 1)])
    return list.takeUpdate(from: table)
  }

  private func id(_ operation: Operation) -> OperationReport.ID { .init(operation.id.rawValue) }

  private func runOperations(_ count: Int) -> [BlockOperation] {
    let operations = (0..<count).map { _ in BlockOperation {} }
    queue.isSuspended = false
    queue.addOperations(operations, waitUntilFinished: true)
    return operations
  }

  @Test func eachStepOfEachOperationIsReportedOnce() throws {
    var interest = Interest()
    interest.eventLimit = 10_000
    #expect(try update(interest).events?.isBeginning == true)
    let operations = runOperations(100)
    read()
    let news = try #require(try update(interest).events)
    #expect(news.skippedCount == 0)
    #expect(news.events.map(\.time) == news.events.map(\.time).sorted())
    for operation in operations {
      let states = news.events.filter { $0.operation == id(operation) }.map(\.new)
      #expect(states == [.ready, .executing, .finished])
    }
    read()
    #expect(try update(interest).events?.events.isEmpty == true)
  }

  @Test("Times are combined by kind, which the report of an operation has if it was set")
  func kinds() throws {
    let operations = (0..<30).map { number in
      let operation = BlockOperation {}
      if number < 20 { operation.kind = "hash" }
      return operation
    }
    queue.isSuspended = false
    queue.addOperations(operations, waitUntilFinished: true)
    read()
    let reports = operations.compactMap { table.report(id($0)) }
    #expect(
      reports.map(\.givenKind) == Array(repeating: "hash", count: 20)
        + Array(repeating: nil, count: 10))
    #expect(reports.map(\.title) == reports.map(\.kind))
    let interest = Interest(operations: [id(operations[0]), id(operations[29])])
    let times = try update(interest).kindTimes
    #expect(times.mapValues { $0.run?.count } == ["hash": 20, "BlockOperation": 10])
  }

  @Test("A kind that is set later, or removed, is reported; a long one is truncated")
  func changedKinds() throws {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    let long = String(repeating: "x", count: 5_000)
    for (kind, reported) in [
      ("BlockOperation", "BlockOperation"), ("hash", "hash"), ("", nil),
      (long, String(long.prefix(4_092)) + "…"),
    ] as [(String, String?)] {
      operation.kind = kind
      read()
      #expect(table.report(id(operation))?.givenKind == reported)
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func aLateViewerReceivesTheStoredEvents() throws {
    _ = runOperations(10)
    read()
    var interest = Interest()
    #expect(try update(interest).events == nil)
    interest.eventLimit = 12
    let news = try #require(try update(interest).events)
    #expect(news.isBeginning)
    #expect(news.events.count == 12)
    #expect(news.skippedCount == 0)
  }

  @Test func lostHistoryIsCountedAndReportedAsAWarning() throws {
    var interest = Interest()
    interest.eventLimit = 5
    #expect(try update(interest).lostChanges == 0)
    _ = runOperations(10)
    read()
    let lossy = try update(interest)
    #expect(lossy.lostChanges == 3 * 10 - 5)
    #expect(lossy.warnings == [MonitorWarning(kind: .historyLost, count: 25)])
    // The number of events that were not recorded stays the same if the viewer requests other data
    // later.
    interest.eventLimit = 0
    #expect(try update(interest).lostChanges == 25)
    interest.warningKinds = []
    #expect(try update(interest).warnings == [])
  }

  @Test func earlierAndUnrequestedEventsAreNotLost() throws {
    _ = runOperations(10)
    read()
    var interest = Interest()
    _ = try update(interest)
    _ = runOperations(10)
    read()
    #expect(try update(interest).lostChanges == 0)
    interest.eventLimit = 5
    let late = try update(interest)
    #expect(late.lostChanges == 0 && late.warnings.isEmpty)
  }

  @Test func aFilterChoosesTheEventsByTheirState() throws {
    var interest = Interest()
    interest.eventLimit = 100
    interest.filter = try OperationFilter("state:executing")
    _ = try update(interest)
    _ = runOperations(5)
    read()
    let news = try #require(try update(interest).events)
    #expect(news.events.map(\.new) == Array(repeating: .executing, count: 5))
    // If the viewer changes its filter, the viewer's list of events begins again.
    interest.filter = try OperationFilter("state:finished")
    let other = try #require(try update(interest).events)
    #expect(other.isBeginning)
    #expect(other.events.map(\.new) == Array(repeating: .finished, count: 5))
  }

  @Test func reportedRunsDoNotExceedTheWidth() throws {
    queue.maxConcurrentOperationCount = 2
    _ = runOperations(500)
    read()
    var interest = Interest()
    interest.timeline = Interest.Timeline(window: .seconds(30), limit: 1_000)
    let runs = try #require(try update(interest).runs)
    #expect(runs.count == 500 && runs.runs.count == 500)
    #expect(runs.runs.map(\.started) == runs.runs.map(\.started).sorted())
    // The test counts the runs that overlap: the start of a run adds 1, and its end subtracts 1.
    // The count must not exceed 2.
    var changes = runs.runs.map { ($0.started, 1) }
    changes += runs.runs.compactMap { run in run.finished.map { ($0, -1) } }
    changes.sort { ($0.0, $0.1) < ($1.0, $1.1) }
    var level = 0
    var highest = 0
    for (_, step) in changes {
      level += step
      highest = max(highest, level)
    }
    #expect(level == 0)
    #expect(highest <= 2)
  }

  @Test func runningOperationsAreAlwaysAmongTheRuns() throws {
    queue.isSuspended = false
    let gate = Gate()
    let operation = BlockOperation { gate.pass() }
    queue.addOperation(operation)
    gate.waitForArrivals(1)
    read()
    var interest = Interest()
    interest.timeline = Interest.Timeline(window: .seconds(1), limit: 1)
    let runs = try #require(try update(interest).runs)
    #expect(runs.runs.map(\.id) == [id(operation)])
    #expect(runs.runs.first?.finished == nil)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    read()
    #expect(try update(interest).runs?.runs.first?.finished != nil)
    #expect(table.running.count == 0)
  }

  @Test func classTimesAreReportedForRequestedOperations() throws {
    let operations = runOperations(30)
    read()
    var interest = Interest()
    let all = try update(interest)
    #expect(all.times.run?.count == 30)
    #expect(all.times.wait?.count == 30)
    #expect(all.kindTimes.isEmpty)
    interest.operations = [id(operations[0])]
    #expect(try update(interest).kindTimes["BlockOperation"]?.run?.count == 30)
    interest.operations = []
    interest.graphs = [.init(root: id(operations[0]), direction: .waitsFor, limit: 10)]
    #expect(try update(interest).kindTimes["BlockOperation"]?.run?.count == 30)
  }
}

@Suite struct ClassStatisticsTests {
  private func moment(_ milliseconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: milliseconds * 1_000_000)
  }

  private func note(_ className: String, in times: inout TimeHistograms) {
    times.note(
      OperationReport(
        id: .init(1), name: "", className: className, queue: .init(1), state: .finished,
        started: moment(0), finished: moment(10)))
  }

  @Test func classTimesAreReusedForASecond() {
    var times = TimeHistograms()
    var kindTimes = KindStatistics()
    note("Tile", in: &times)
    func count(at milliseconds: Int64) -> Int? {
      kindTimes.statistics(
        of: ["Tile"], in: times, at: moment(milliseconds), isAtRest: false)["Tile"]?.run?.count
    }
    #expect(count(at: 20) == 1)
    note("Tile", in: &times)
    #expect(count(at: 900) == 1)
    #expect(count(at: 1_020) == 2)
  }

  @Test func unknownClassesAndClassesAboveTheLimitAreOmitted() {
    var times = TimeHistograms()
    var kindTimes = KindStatistics()
    let names = Set((0..<200).map { "Class \($0)" })
    for name in names { note(name, in: &times) }
    let found = kindTimes.statistics(
      of: names.union(["Never"]), in: times, at: moment(20), isAtRest: false)
    #expect(found.count == KindStatistics.limit && found["Never"] == nil)
  }
}

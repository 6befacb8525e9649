// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsTelemetry

@Suite struct TelemetryStateTests {
  // MARK: Gauges

  @Test func theGaugesOfAQueueAddUpToItsOperations() {
    var shown = Shown()
    shown.take([
      queue(1, "a", waiting: 3, ready: 4, held: 4, executing: 5, finished: 6, isSuspended: true)
    ])
    let states = ["waiting", "ready", "held", "executing"].map {
      shown.gauges[Series(.operations, queue: "a", detail: $0)]
    }
    #expect(states == [3, 0, 4, 5])
    #expect(shown.gauges[Series(.suspended, queue: "a")] == 1)
  }

  @Test func queuesWithTheSameNameAreSummedInAnyOrder() {
    let first = queue(1, "a", waiting: 1, executing: 2, finished: 3, width: 2)
    let second = queue(2, "a", waiting: 10, executing: 1, finished: 30, width: 1)
    for queues in [[first, second], [second, first]] {
      var shown = Shown()
      shown.take(queues)
      shown.take(queues)
      #expect(shown.gauges[Series(.operations, queue: "a", detail: "waiting")] == 11)
      #expect(shown.gauges[Series(.operations, queue: "a", detail: "executing")] == 3)
      #expect(shown.gauges[Series(.width, queue: "a")] == 3)
      #expect(shown.completed("a") == 33)
    }
  }

  @Test("Failed operations are counted, and also counted as finished")
  func failuresAreCounted() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 4, failed: 1), queue(2, "a", finished: 2, failed: 2)])
    shown.take([queue(1, "a", finished: 9, failed: 3), queue(2, "a", finished: 2, failed: 2)])
    #expect(shown.counters[Series(.failed, queue: "a")] == 5)
    #expect(shown.completed("a") == 11)
  }

  @Test func theDefaultWidthIsNotReported() {
    var shown = Shown()
    shown.take([queue(1, "a", width: 4), queue(2, "a", width: nil), queue(3, "b", width: 4)])
    #expect(shown.gauges[Series(.width, queue: "a")] == nil)
    #expect(shown.gauges[Series(.width, queue: "b")] == 4)
    shown.take([queue(1, "a", width: 4), queue(2, "a", width: 1), queue(3, "b", width: nil)])
    #expect(shown.gauges[Series(.width, queue: "a")] == 5)
    #expect(shown.gauges[Series(.width, queue: "b")] == nil)
  }

  @Test func aRemovedQueueLosesItsGaugesAndKeepsItsTotals() {
    var shown = Shown()
    shown.take([queue(1, "a", executing: 1, finished: 2), queue(2, "b")], [operation(1)])
    shown.take([queue(2, "b")])
    #expect(!shown.gauges.keys.contains { $0.queue == "a" })
    #expect(shown.gauges.keys.contains { $0.queue == "b" })
    #expect(shown.completed("a") == 2)
    shown.take([queue(2, "b"), queue(3, "a", finished: 5)])
    #expect(shown.completed("a") == 7)
    #expect(shown.gauges[Series(.operations, queue: "a", detail: "executing")] == 0)
  }

  @Test func aGaugeIsReportedOnlyWhenItChanges() {
    var state = TelemetryState(since: TelemetryPast())
    let update = Update(
      time: MonitorTime(nanoseconds: 1), queues: [queue(1, "a", executing: 1)])
    #expect(!state.take(update).actions.isEmpty)
    #expect(state.take(update).actions.isEmpty)
  }

  @Test func eachKindOfWarningIsCountedFromZero() {
    var shown = Shown()
    shown.take([])
    let kinds = MonitorWarning.Kind.usual.subtracting([.historyLost])
    for kind in kinds {
      #expect(shown.gauges[Series(.warnings, detail: kind.rawValue)] == 0, "\(kind)")
    }
    shown.take([], warnings: [MonitorWarning(kind: .cycle), MonitorWarning(kind: .cycle)])
    #expect(shown.gauges[Series(.warnings, detail: "cycle")] == 2)
    shown.take([])
    #expect(shown.gauges[Series(.warnings, detail: "cycle")] == 0)
  }

  @Test func endingRemovesTheGaugesAndKeepsTheTotals() {
    var shown = Shown()
    shown.take([queue(1, "a", executing: 1, finished: 2)], [operation(1)])
    shown.end()
    #expect(shown.gauges.isEmpty)
    #expect(shown.completed("a") == 2)
    #expect(shown.untimed == 1)
    #expect(shown.timers.count == 2)
  }

  @Test func withoutMetricsNothingIsCounted() {
    var state = TelemetryState(since: TelemetryPast(), reportsMetrics: false)
    let update = Update(
      time: MonitorTime(nanoseconds: 1), queues: [queue(1, "a", executing: 1, finished: 2)],
      changed: [operation(1)])
    let (actions, runs) = state.take(update)
    #expect(actions.isEmpty)
    #expect(runs.map(\.queueName) == ["a"])
    #expect(state.isSettled && state.end().isEmpty)
  }

  // MARK: Totals

  @Test func aTotalIsFirstReportedAsZero() {
    var state = TelemetryState(since: TelemetryPast())
    let actions = state.take(
      Update(time: MonitorTime(nanoseconds: 1), queues: [queue(1, "a")])
    ).actions
    #expect(actions.contains(.add(Series(.completed, queue: "a", detail: "cancelled"), 0)))
    #expect(actions.contains(.add(Series(.untimed), 0)))
  }

  @Test func operationsBeforeTheStartAreNotCounted() {
    var past = TelemetryPast()
    past.counts[QueueReport.ID(1)] = StateCounts(finished: 100, total: 103)
    past.lastQueue = QueueReport.ID(3)
    past.end = MonitorTime(nanoseconds: 5_000_000_000)
    var shown = Shown(
      since: past,
      first: [queue(1, "old", executing: 2, finished: 101), queue(3, "gone", finished: 7)]
    )
    #expect(shown.completed("old") == 1)
    #expect(shown.completed("gone") == 0)
    shown.take(
      [queue(1, "old", executing: 2, finished: 101), queue(4, "new", finished: 3)],
      [operation(1, finished: 4), operation(2, finished: 5), operation(3, in: 4, finished: 6)])
    #expect(shown.completed("old") == 1)
    #expect(shown.counters[Series(.added, queue: "old")] == 0)
    #expect(shown.completed("new") == 3)
    #expect(shown.timers[Series(.run, queue: "old", detail: "Job")] == [.seconds(2)])
    #expect(shown.timers[Series(.run, queue: "new", detail: "Job")] == [.seconds(3)])
  }

  @Test func aQueueCreatedBeforeTheFirstUpdateIsCountedFromZero() {
    var past = TelemetryPast()
    past.counts[QueueReport.ID(1)] = StateCounts(finished: 100, total: 100)
    past.lastQueue = QueueReport.ID(3)
    past.end = MonitorTime(nanoseconds: 5_000_000_000)
    var shown = Shown(since: past, first: [queue(4, "new", finished: 3)])
    #expect(shown.completed("new") == 3)
    shown.settle()
    #expect(shown.untimed == 3)
  }

  @Test func aRenamedQueueIsCountedUnderItsNewName() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 2)])
    shown.take([queue(1, "b", finished: 5, cancelled: 1)])
    #expect(shown.completed("a") == 2)
    #expect(shown.completed("b") == 3)
    #expect(shown.completed("b", "cancelled") == 1)
    #expect(!shown.gauges.keys.contains { $0.queue == "a" })
  }

  // MARK: Timers

  @Test func anOperationReportedTwiceIsTimedOnce() {
    var shown = Shown()
    shown.take([queue(1, "a", finished: 1)], [operation(1)])
    // A finished operation may be reported again, for example because it has a new dependent. Its
    // times must not be counted again.
    #expect(shown.take([queue(1, "a", finished: 1)], [operation(1)]).isEmpty)
    let job = ("a", "Job")
    #expect(shown.timers[Series(.wait, queue: job.0, detail: job.1)] == [.seconds(2)])
    #expect(shown.timers[Series(.run, queue: job.0, detail: job.1)] == [.seconds(3)])
  }

  @Test func removedOperationsReportedAgainAreTimedOnce() {
    var shown = Shown()
    let count = TelemetryInterest.operationLimit
    let all = (0..<count).map { operation(UInt64($0)) }
    shown.take([queue(1, "a", finished: count)], all)
    shown.take([queue(1, "a", finished: count)], removed: all.map(\.id))
    // An update with the maximum number of new operations follows. The update after it reports the
    // removed operations a second time.
    shown.take(
      [queue(1, "a", finished: 2 * count)], (count..<2 * count).map { operation(UInt64($0)) })
    #expect(shown.take([queue(1, "a", finished: 2 * count)], all).isEmpty)
    // Operations that are reported twice must not hide other operations that are never reported.
    shown.take([queue(1, "a", finished: 2 * count + 7)])
    shown.settle()
    #expect(shown.untimed == 7)
    #expect(
      shown.timers[Series(.run, queue: "a", detail: "Job")]?.count == 2 * count)
  }

  @Test func unfinishedOperationsAreNotTimed() {
    var shown = Shown()
    let running = operation(1, state: .executing, finished: nil)
    #expect(shown.take([queue(1, "a", executing: 1)], [running]).isEmpty)
    #expect(shown.take([queue(1, "a", finished: 1)], [operation(1)]).count == 1)
  }

  @Test func runsAreReportedInTheOrderOfTheirStarts() {
    var shown = Shown()
    // Operation 2 depends on operation 3, whose finish was recorded a little later. The runs must
    // nevertheless be in the order of their starts.
    let runs = shown.take(
      [queue(1, "a", finished: 3)],
      [
        operation(1, started: 4, finished: 8), operation(2, started: 3, finished: 5),
        operation(3, started: 2, finished: 6),
      ])
    #expect(runs.map(\.report.id.rawValue) == [3, 2, 1])
  }

  // MARK: Bounds

  @Test func namesOfRemovedQueuesAreForgotten() {
    var shown = Shown()
    var largest = 0
    for id in UInt64(1)...1_000 {
      shown.take([queue(id, "job \(id)", finished: 1)], [operation(id, in: id)])
      largest = max(largest, shown.seriesCount)
      #expect(shown.completed("job \(id)") == 1)
    }
    // The limit is the sum of six gauges for the existing queue, four totals and two timers for
    // each label, and about 20 series for the process.
    #expect(largest < 6 + 6 * QueueLabels.limit + 20)
  }

  @Test func namesAboveTheLimitShareALabel() {
    var shown = Shown()
    let count = 3 * QueueLabels.limit
    let queues = (0..<count).map { queue(UInt64($0), "q\($0)", executing: 1, finished: 2) }
    for _ in 0..<3 { shown.take(queues) }
    let executing = shown.gauges.filter { $0.key.detail == "executing" }
    #expect(executing.count == QueueLabels.limit + 1)
    #expect(executing.values.reduce(0, +) == count)
    #expect(executing[Series(.operations, queue: QueueLabels.other, detail: "executing")] == 200)
    #expect(shown.completed(QueueLabels.other) == 400)
  }

  @Test(
    "Kinds above the limit share a timer, and so do classes if the program has set no kinds",
    arguments: [false, true])
  func manyKinds(areSet: Bool) {
    var shown = Shown()
    let count = UInt64(TimerKinds.limit) + 100
    let reports = (1...count).map { number in
      var report = operation(number, className: areSet ? "Job" : "Class\(number)")
      if areSet { report.givenKind = "kind \(number)" }
      return report
    }
    shown.take([queue(1, "a", finished: Int(count))], reports)
    #expect(shown.timers.count == 2 * (TimerKinds.limit + 1))
    let shared = Series(.run, queue: "a", detail: TimerKinds.other)
    #expect(shown.timers[shared]?.count == 100)
  }

  @Test("Operations of different classes and one kind share a timer")
  func oneKind() {
    var shown = Shown()
    let reports = (1...4).map { number in
      var report = operation(UInt64(number), className: "Class\(number)")
      if number < 4 { report.givenKind = "hash\n" }
      return report
    }
    shown.take([queue(1, "a", finished: 4)], reports)
    #expect(shown.timers[Series(.run, queue: "a", detail: "hash\u{FFFD}")]?.count == 3)
    #expect(shown.timers[Series(.run, queue: "a", detail: "Class4")]?.count == 1)
    #expect(Series(.run, queue: "a", detail: "hash").metric.detailName == "kind")
  }

  @Test func oldOperationsAreForgotten() {
    var state = TelemetryState(since: TelemetryPast())
    let step = 1_000
    let keptLimit = TelemetryState.knownLimit
    for round in 0..<200 {
      let operations = (0..<step).map { operation(UInt64(round * step + $0)) }
      let update = Update(
        time: MonitorTime(nanoseconds: 1), queues: [queue(1, "a", finished: (round + 1) * step)],
        changed: operations)
      #expect(state.take(update).runs.count == step)
      #expect(state.keptCount < keptLimit + 100)
    }
  }

  @Test func namelessQueuesShareALabelAndNamesAreEscaped() {
    var shown = Shown()
    shown.take([
      queue(7, "OperationQueue 7", finished: 1), queue(8, "OperationQueue 8", finished: 1),
      queue(9, "OperationQueue 7", finished: 1), queue(10, "a\"b\\c\nd", finished: 1),
    ])
    #expect(shown.completed("OperationQueue") == 2)
    #expect(shown.completed("OperationQueue 7") == 1)
    #expect(shown.completed("a'b/c\u{FFFD}d") == 1)
  }

  @Test func anUnknownQueueCountsAsOther() {
    var shown = Shown()
    shown.take([], [operation(1, in: 9)])
    #expect(shown.timers[Series(.run, queue: QueueLabels.other, detail: "Job")]?.count == 1)
  }
}

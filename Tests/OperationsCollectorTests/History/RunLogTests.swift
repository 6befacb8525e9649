// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCollector

private let second: Int64 = 1_000_000_000

private func moment(_ seconds: Double) -> MonitorTime {
  MonitorTime(nanoseconds: Int64(seconds * 1e9))
}

private func report(
  _ id: UInt64, ready: Double? = nil, started: Double?, finished: Double,
  className: String = "Block"
) -> OperationReport {
  OperationReport(
    id: OperationReport.ID(id), name: "", className: className, queue: QueueReport.ID(1),
    state: .finished, becameReady: ready.map(moment), started: started.map(moment),
    finished: moment(finished))
}

@Suite("Runs that have ended")
struct RunLogTests {
  private func ids(_ answer: (runs: [OperationRun], count: Int)) -> [UInt64] {
    answer.runs.map(\.id.rawValue)
  }

  @Test func onlyTheRunsOfTheWindowAreReported() {
    var log = RunLog()
    for id in 0..<10 { log.note(report(UInt64(id), started: 0, finished: Double(id) + 0.5)) }
    let answer = log.runs(endedAfter: moment(7), limit: 100)
    #expect(ids(answer) == [9, 8, 7])
    #expect(answer.count == 3)
  }

  @Test func anOperationThatNeverRanIsNoRun() {
    var log = RunLog()
    log.note(report(1, started: nil, finished: 3))
    #expect(log.runs(endedAfter: moment(0), limit: 10).count == 0)
  }

  @Test func theNewestRunsAreReportedAndTheOthersCounted() {
    var log = RunLog(capacity: 100)
    for id in 0..<31_000 {
      let end = 10 + Double(id) / 1_000
      log.note(report(UInt64(id), started: end - 0.001, finished: end))
    }
    let answer = log.runs(endedAfter: moment(10), limit: 20)
    #expect(ids(answer) == (0..<20).map { 30_999 - $0 })
    // The log of runs counts the runs of each second, and discards the counts of old seconds. So
    // the count includes all runs except those of the first second.
    #expect(answer.count == 30_000)
    // The log keeps only the last 100 runs. So it returns 100 runs even if the request has a higher
    // limit.
    #expect(log.runs(endedAfter: moment(10), limit: 1_000).runs.count == 100)
    #expect(log.runs(endedAfter: moment(10), limit: 1_000).count == 30_000)
  }

  @Test func theCountIsExactWhileAllOfTheWindowIsKept() {
    var log = RunLog(capacity: 10)
    for id in 0..<20 { log.note(report(UInt64(id), started: 0, finished: Double(id))) }
    #expect(log.runs(endedAfter: moment(12.5), limit: 100).count == 7)
  }

  @Test func runsOfSeveralQueuesCanArriveOutOfOrder() {
    var log = RunLog()
    log.note(report(1, started: 0, finished: 5))
    log.note(report(2, started: 0, finished: 4.5))
    log.note(report(3, started: 0, finished: 5.1))
    #expect(Set(ids(log.runs(endedAfter: moment(4.8), limit: 10))) == [1, 3])
  }

  @Test func aLimitOfZeroStillCounts() {
    var log = RunLog()
    #expect(log.runs(endedAfter: moment(0), limit: 0).count == 0)
    log.note(report(1, started: 0, finished: 1.5))
    #expect(log.runs(endedAfter: moment(0), limit: 0).runs.isEmpty)
    #expect(log.runs(endedAfter: moment(0), limit: 0).count == 1)
  }
}

@Suite("The waiting and run times of operations")
struct TimeHistogramsTests {
  @Test func percentilesAreExactToOnePercent() throws {
    var durations = RecentDurations(.fine)
    for millisecond in (1...1_000).shuffled() {
      durations.note(.milliseconds(millisecond), at: moment(1))
    }
    let percentiles = try #require(durations.percentiles)
    #expect(percentiles.count == 1_000)
    for (value, expected) in [
      (percentiles.p50, 500.0), (percentiles.p90, 900), (percentiles.p99, 990),
    ] {
      let milliseconds = value / .milliseconds(1)
      #expect(abs(milliseconds / expected - 1) < 0.01, "\(value)")
    }
  }

  @Test func oldDurationsAreDiscarded() throws {
    var durations = RecentDurations(.fine)
    #expect(durations.percentiles == nil)
    durations.note(.seconds(100), at: moment(0))
    durations.note(.seconds(1), at: moment(31))
    #expect(durations.percentiles?.count == 2)
    durations.note(.seconds(1), at: moment(62))
    #expect(durations.percentiles?.count == 2)
    #expect(try #require(durations.percentiles).p99 < .seconds(2))
    durations.note(.seconds(3), at: moment(1_000))
    #expect(durations.percentiles?.count == 1)
  }

  @Test func extremeDurationsAreCounted() throws {
    var durations = RecentDurations(.coarse)
    durations.note(.seconds(-5), at: moment(1))
    durations.note(.seconds(1_000_000_000), at: moment(1))
    let percentiles = try #require(durations.percentiles)
    #expect(percentiles.count == 2)
    #expect(percentiles.p50 < .microseconds(2))
    #expect(percentiles.p99 >= .seconds(86_000))
  }

  @Test func eachClassHasSeparateStatistics() throws {
    var histograms = TimeHistograms()
    for id: UInt64 in 0..<20 {
      histograms.note(report(id, ready: 1, started: 2, finished: 3, className: "Slow"))
      histograms.note(report(id, ready: 1, started: 1, finished: 1.001, className: "Quick"))
    }
    histograms.note(report(99, started: nil, finished: 3, className: "Never"))
    let slow = try #require(histograms.times(of: .kind("Slow"))?.statistics)
    let quick = try #require(histograms.times(of: .kind("Quick"))?.statistics)
    #expect(slow.run?.count == 20)
    #expect(try #require(slow.run).p99 > .milliseconds(900))
    #expect(try #require(quick.run).p99 < .milliseconds(2))
    #expect(histograms.statistics.run?.count == 40)
    #expect(histograms.times(of: .kind("Never")) == nil)
  }

  @Test func theNumberOfClassesIsLimited() {
    var histograms = TimeHistograms()
    for index in 0..<TimeHistograms.kindLimit + 10 {
      histograms.note(report(UInt64(index), started: 1, finished: 2, className: "C\(index)"))
    }
    #expect(histograms.times(of: .kind("C0")) != nil)
    #expect(histograms.times(of: .kind("C\(TimeHistograms.kindLimit + 5)")) == nil)
    #expect(histograms.statistics.run?.count == TimeHistograms.kindLimit + 10)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite("The progress of an operation") struct OperationProgressTests {
  private static func time(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  @Test(
    "The fraction is between 0 and 1, and unknown without a total",
    arguments: [
      (0, 10, 0.0), (5, 10, 0.5), (10, 10, 1), (20, 10, 1), (3, 0, 0), (7, nil, nil),
      (.max, .max, 1),
    ] as [(Int, Int?, Double?)])
  func fractions(completed: Int, total: Int?, fraction: Double?) {
    let progress = OperationProgress(
      completed: completed, total: total, base: 0, since: Self.time(0))
    #expect(progress.fraction == fraction)
  }

  @Test("The rate and the time left follow from the units completed since the first report")
  func rates() {
    let progress = OperationProgress(completed: 30, total: 100, base: 10, since: Self.time(100))
    #expect(progress.rate(at: Self.time(110)) == 2)
    #expect(progress.timeLeft(at: Self.time(110)) == .seconds(35))
    #expect(progress.rate(at: Self.time(120)) == 1)
  }

  @Test(
    "Without completed units, or directly after the first report, the rate is unknown",
    arguments: [(10, 200.0), (20, 100.05), (20, 90), (5, 200)])
  func unknownRates(completed: Int, now: Double) {
    let progress = OperationProgress(
      completed: completed, total: 100, base: 10, since: Self.time(100))
    #expect(progress.rate(at: Self.time(now)) == nil)
    #expect(progress.timeLeft(at: Self.time(now)) == nil)
  }

  @Test("Extreme numbers of a process overflow nothing")
  func extremes() throws {
    let progress = OperationProgress(
      completed: 1, total: .max, base: 0, since: Self.time(0))
    #expect(try #require(progress.timeLeft(at: Self.time(1e6))) == .seconds(1_000_000_000))
    let none = OperationProgress(completed: .max, total: nil, base: 0, since: Self.time(0))
    #expect(none.timeLeft(at: Self.time(1)) == nil && none.rate(at: Self.time(1)) ?? 0 > 1e18)
  }

  @Test("The progress of a group is the finished and cancelled part of its members")
  func members() throws {
    let counts = StateCounts(waiting: 3, finished: 4, cancelled: 1, total: 8)
    let progress = try #require(OperationProgress(ofMembers: counts, since: Self.time(0)))
    #expect(progress.completed == 5 && progress.total == 8)
    #expect(OperationProgress(ofMembers: StateCounts(), since: Self.time(0)) == nil)
  }
}

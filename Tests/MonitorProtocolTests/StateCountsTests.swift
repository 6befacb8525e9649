// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Testing

@testable import MonitorProtocol

@Suite struct StateCountsTests {
  @Test("The counts of several processes that report the largest counts can be added")
  func theLargestCountsCanBeAdded() {
    let largest = Int(WireLimits.largestCount) * WireLimits.mostQueues
    let counts = StateCounts(
      waiting: largest, ready: largest, held: largest, executing: largest, cancelling: largest,
      finished: largest, cancelled: largest, total: largest)
    let queues = (0..<UInt64(16)).map { QueueReport(id: .init($0), name: "q", counts: counts) }
    let sum = queues.counts
    #expect(sum == counts, "sums have a limit")
    #expect(sum.unfinished == 3 * largest && !sum.isConsistent)
    #expect(sum.over.total == 2 * largest)
  }

  @Test(
    "Failed operations are part of the finished ones, also in sums and in JSON without the number")
  func failedOperationsAreFinished() throws {
    let counts = StateCounts(executing: 1, finished: 4, failed: 3, cancelled: 2, total: 7)
    #expect(counts.isConsistent)
    #expect(
      (counts + counts).failed == 6
        && counts.over == StateCounts(finished: 4, failed: 3, cancelled: 2, total: 6))
    #expect(!StateCounts(finished: 1, failed: 2, total: 1).isConsistent)
    let line =
      #"{"cancelled":2,"cancelling":0,"executing":1,"finished":4,"held":0,"ready":0,"total":7,"waiting":0}"#
    let old = try JSONDecoder().decode(StateCounts.self, from: Data(line.utf8))
    #expect(old == StateCounts(executing: 1, finished: 4, cancelled: 2, total: 7))
    #expect(
      try JSONDecoder().decode(StateCounts.self, from: JSONEncoder().encode(counts)) == counts)
  }

  @Test func sumsBelowTheLimitAreExact() {
    let counts = StateCounts(
      waiting: 1, ready: 2, held: 1, executing: 3, cancelling: 2, finished: 4, cancelled: 5,
      total: 15)
    let sum = counts + counts
    #expect(sum.isConsistent && sum.total == 30 && sum.held == 2 && sum.cancelling == 4)
  }
}

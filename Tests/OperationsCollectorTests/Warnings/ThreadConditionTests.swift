// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore
import Testing

@testable import OperationsCollector

/// Tests of the warning that all threads of the process's thread pool are in use.
@Suite struct ThreadConditionTests {
  private let table = CollectorTable()
  private let now = MonitorTime.now

  private func note(_ count: Int, waiting: Int, isAtLimit: Bool, after seconds: Int) {
    table.noteQueueConditions(
      at: now + .seconds(seconds),
      threads: ThreadUse(count: count, limit: 512, waitingCount: waiting, isAtLimit: isAtLimit))
  }

  @Test func queuesThatWaitForAThreadHaveAWarning() {
    note(300, waiting: 4, isAtLimit: false, after: 0)
    #expect(table.warnings(at: now).isEmpty)
    note(512, waiting: 2, isAtLimit: true, after: 1)
    note(512, waiting: 3, isAtLimit: true, after: 5)
    #expect(
      table.warnings(at: now + .seconds(5)) == [
        MonitorWarning(kind: .threadLimit, count: 3, since: now + .seconds(1), limit: 512)
      ])
    #expect(table.warnings(at: now, of: [.cycle]).isEmpty)
    note(512, waiting: 3, isAtLimit: false, after: 6)
    #expect(table.warnings(at: now + .seconds(6)).isEmpty)
    table.noteQueueConditions(at: now, threads: nil)
    #expect(table.warnings(at: now).isEmpty)
  }

  @Test func aLimitReachedForLessThanASecondHasNoWarning() {
    note(512, waiting: 2, isAtLimit: true, after: 1)
    #expect(table.warnings(at: now + .milliseconds(1_999)).isEmpty)
    #expect(table.nextWarning(after: now + .seconds(1)) == now + .milliseconds(1_250))
    note(512, waiting: 2, isAtLimit: false, after: 2)
    note(512, waiting: 2, isAtLimit: true, after: 3)
    #expect(table.warnings(at: now + .milliseconds(3_999)).isEmpty)
    #expect(table.warnings(at: now + .seconds(4)).count == 1)
  }

  @Test func whileAllThreadsAreInUseItLooksWithoutNews() {
    note(511, waiting: 3, isAtLimit: false, after: 0)
    #expect(table.nextWarning(after: now) == nil)
    note(512, waiting: 0, isAtLimit: false, after: 1)
    #expect(table.nextWarning(after: now + .seconds(1)) == now + .milliseconds(1_250))
  }
}

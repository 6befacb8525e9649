// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCollector

private func moment(_ nanoseconds: Int64) -> MonitorTime { MonitorTime(nanoseconds: nanoseconds) }

@Suite("Events that wait for a session")
struct EventBufferTests {
  private func event(_ time: Int64) -> OperationEvent {
    OperationEvent(
      time: moment(time), operation: OperationReport.ID(UInt64(time)), title: "",
      queue: QueueReport.ID(1), old: .ready, new: .executing)
  }

  private func times(_ news: EventNews?) -> [Int64]? { news?.events.map(\.time.nanoseconds) }

  @Test func withoutALimitNoEventsAreKept() {
    var buffer = EventBuffer()
    buffer.add(event(1))
    #expect(buffer.take() == nil)
  }

  @Test func eventsAreReportedOnceInTheOrderOfTime() {
    var buffer = EventBuffer(limit: 10)
    for time: Int64 in [3, 1, 2] { buffer.add(event(time)) }
    #expect(times(buffer.take()) == [1, 2, 3])
    #expect(times(buffer.take()) == [])
    buffer.add(event(4))
    #expect(times(buffer.take()) == [4])
  }

  @Test func theNewestEventsAreKeptAndTheOthersCounted() {
    var buffer = EventBuffer(limit: 10)
    var random = SystemRandomNumberGenerator()
    for time in (Int64(0)..<1_000).shuffled(using: &random) { buffer.add(event(time)) }
    let news = buffer.take()
    #expect(times(news) == Array(990..<1_000))
    #expect(news?.skippedCount == 990)
    buffer.add(event(5))
    #expect(buffer.take()?.skippedCount == 0)
  }

  @Test func theHistoryBeginsWithTheFirstRequest() {
    var buffer = EventBuffer()
    buffer.setLimit(10)
    buffer.add(event(1))
    #expect(buffer.take()?.isBeginning == true)
    buffer.setLimit(20)
    #expect(buffer.take()?.isBeginning == false)
    buffer.setLimit(0)
    buffer.setLimit(10)
    #expect(buffer.take()?.isBeginning == true)
  }
}

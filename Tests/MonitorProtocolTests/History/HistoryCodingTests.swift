// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import MonitorProtocol
import Testing

@Suite("The history on its way to a viewer")
struct HistoryCodingTests {
  private func moment(_ seconds: Int64) -> MonitorTime {
    MonitorTime(nanoseconds: seconds * 1_000_000_000)
  }

  private func sent<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  @Test func eventsRunsAndTimesArriveAsTheyWereSent() throws {
    var update = Update(time: moment(9))
    update.events = EventNews(
      events: [
        OperationEvent(
          time: moment(8), operation: .init(7), title: "\u{1B}[2J", queue: .init(1), old: nil,
          new: .held)
      ], skippedCount: 1_204, isBeginning: true)
    update.runs = RecentRuns(
      runs: [
        OperationRun(
          id: .init(7), title: "", queue: .init(1), state: .cancelling, started: moment(3))
      ], count: 31_000)
    let percentiles = Percentiles(
      count: 3, p50: .nanoseconds(1), p90: .milliseconds(2), p99: .seconds(100_000))
    update.times = TimeStatistics(wait: percentiles)
    update.classTimes = ["Block": TimeStatistics(run: percentiles)]
    #expect(try sent(MonitorMessage.update(update)) == .update(update))
  }

  @Test func anInterestInTheHistoryArrivesAsItWasSent() throws {
    var interest = Interest()
    interest.eventLimit = 1_000
    interest.timeline = Interest.Timeline(window: .seconds(30), limit: 2_000)
    #expect(try sent(interest) == interest)
    #expect(try sent(Interest()) == Interest())
    #expect(interest != Interest())
  }

  @Test func aTimeBeforeAnotherIsAsFarAwayAsItWasSet() {
    #expect(moment(9) - .seconds(4) == moment(5))
    #expect(moment(1) - .seconds(4) == moment(-3))
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import MonitorClient

@Suite("The events of several processes")
struct MergedEventsTests {
  private func news(
    _ seconds: [Int], isBeginning: Bool = false, skippedCount: Int = 0
  ) -> EventNews {
    EventNews(
      events: seconds.map {
        OperationEvent(
          time: MonitorTime(nanoseconds: 0) + .seconds($0), operation: .init(UInt64($0)), title: "",
          queue: .init(1), old: nil, new: .executing)
      }, skippedCount: skippedCount, isBeginning: isBeginning)
  }

  private func seconds(_ news: EventNews?) -> [UInt64]? {
    news.map { $0.events.map(\.operation.rawValue) }
  }

  @Test func theBeginningWaitsForAllConnectedProcesses() {
    var events = MergedEvents()
    events.take(news([1, 4], isBeginning: true), from: 1, limit: 10)
    #expect(events.take(heard: [1, 2], limit: 10) == nil)
    events.take(news([5]), from: 1, limit: 10)
    events.take(news([2, 3], isBeginning: true), from: 2, limit: 10)
    let beginning = events.take(heard: [1, 2], limit: 10)
    #expect(seconds(beginning) == [1, 2, 3, 4, 5])
    #expect(beginning?.isBeginning == true)
    events.take(news([8], skippedCount: 2), from: 2, limit: 10)
    events.take(news([7], skippedCount: 1), from: 1, limit: 10)
    let next = events.take(heard: [1, 2], limit: 10)
    #expect(seconds(next) == [7, 8])
    #expect(next?.isBeginning == false && next?.skippedCount == 3)
    #expect(seconds(events.take(heard: [1, 2], limit: 10)) == [])
  }

  @Test func eventsDoNotWaitForASilentProcess() {
    var events = MergedEvents()
    events.take(news([1], isBeginning: true), from: 1, limit: 10)
    #expect(seconds(events.take(heard: [1], limit: 10)) == [1])
    // When the second process answers later, the merge reports the events of the second process,
    // which the viewer has not received yet.
    events.take(news([0, 3], isBeginning: true), from: 2, limit: 10)
    let late = events.take(heard: [1, 2], limit: 10)
    #expect(seconds(late) == [0, 3] && late?.isBeginning == false)
  }

  @Test func repeatedEventsAfterAReconnectionAreDropped() {
    var events = MergedEvents()
    events.take(news([1, 2], isBeginning: true), from: 1, limit: 10)
    _ = events.take(heard: [1], limit: 10)
    events.take(news([1, 2, 3], isBeginning: true), from: 1, limit: 10)
    #expect(seconds(events.take(heard: [1], limit: 10)) == [3])
  }

  @Test func eventsOfAnEarlierFilterAreDropped() {
    var events = MergedEvents()
    events.take(news([1]), from: 1, limit: 10)
    events.take(news([2], isBeginning: true), from: 1, limit: 10)
    #expect(seconds(events.take(heard: [1], limit: 10)) == [2])
  }

  @Test func eventsAreCutToTheLimit() {
    var events = MergedEvents()
    events.take(news([1, 2, 3], isBeginning: true), from: 1, limit: 10)
    let beginning = events.take(heard: [1], limit: 2)
    #expect(seconds(beginning) == [2, 3] && beginning?.skippedCount == 0)
    events.take(news([4, 5, 6]), from: 1, limit: 10)
    let next = events.take(heard: [1], limit: 2)
    #expect(seconds(next) == [5, 6] && next?.skippedCount == 1)
  }

  @Test func eventsForASlowViewerAreLimited() {
    var events = MergedEvents()
    events.take(news([1], isBeginning: true), from: 1, limit: 2)
    _ = events.take(heard: [1], limit: 2)
    for second in 2...1_000 { events.take(news([second]), from: 1, limit: 2) }
    #expect(events.heldCount <= 2 * 2 + 2)
    let next = events.take(heard: [1], limit: 2)
    #expect(seconds(next) == [999, 1_000] && next?.skippedCount == 997)
  }

  @Test func eventsOfAProcessWithoutANewRequestStay() {
    var events = MergedEvents()
    func news(_ number: Int, _ seconds: [Int]) -> EventNews {
      var news = self.news(seconds, isBeginning: true)
      for index in news.events.indices {
        news.events[index].operation = MergeScene(count: 2).id(number, UInt64(seconds[index]))
      }
      return news
    }
    func ids(_ news: EventNews?) -> [String]? { news.map { $0.events.map { "\($0.operation)" } } }
    events.take(news(1, [1, 3]), from: 1, limit: 10)
    events.take(news(2, [2]), from: 2, limit: 10)
    #expect(ids(events.take(heard: [1, 2], limit: 10)) == ["1#1", "2#2", "1#3"])
    events.restart(asking: [2])
    #expect(events.take(heard: [1, 2], limit: 10) == nil)
    events.take(news(2, [4]), from: 2, limit: 10)
    let beginning = events.take(heard: [1, 2], limit: 10)
    #expect(ids(beginning) == ["1#1", "1#3", "2#4"] && beginning?.isBeginning == true)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

private func event(_ id: Int, at second: Double) -> OperationEvent {
  OperationEvent(
    time: Scene.seconds(second), operation: OperationReport.ID(id), title: "event",
    queue: Scene.cpu, old: .ready, new: .executing)
}

@Suite("Log of events")
struct EventLogTests {
  @Test func theBeginningIsMarkedAfterTheStoredEvents() {
    var log = EventLog()
    log.apply(EventNews(events: [event(1, at: 1)], isBeginning: true))
    log.apply(EventNews(events: [event(2, at: 2)]))
    #expect(log.lines == [.event(event(1, at: 1)), .beginning, .event(event(2, at: 2))])
  }

  @Test func skippedEventsAreCountedAtTheirPlace() {
    var log = EventLog()
    log.apply(EventNews(events: [event(1, at: 1)]))
    log.apply(EventNews(events: [event(9, at: 9)], skippedCount: 1_204))
    #expect(log.lines == [.event(event(1, at: 1)), .skipped(1_204), .event(event(9, at: 9))])
    #expect(log.skippedCount == 1_204)
  }

  @Test func repeatedEventsAreLoggedOnce() {
    var log = EventLog()
    log.apply(EventNews(events: [event(1, at: 1), event(2, at: 2)]))
    log.apply(
      EventNews(events: [event(1, at: 1), event(2, at: 2), event(3, at: 3)], isBeginning: true))
    let ids = log.lines.compactMap { line -> UInt64? in
      if case .event(let event) = line { event.operation.rawValue } else { nil }
    }
    #expect(ids == [1, 2, 3])
  }

  @Test func theOldestLinesAreRemovedAndTheOthersKeepTheirNumbers() {
    var log = EventLog()
    for number in 0..<10_000 { log.apply(EventNews(events: [event(number, at: Double(number))])) }
    #expect((EventLog.capacity...EventLog.capacity + 1_000).contains(log.lines.count))
    #expect(log.numbers.upperBound == 10_000)
    #expect(log[9_999] == .event(event(9_999, at: 9_999)))
    #expect(log[0] == nil)
    #expect(log.largestID == OperationReport.ID(9_999))
  }
}

@Suite("Selected event")
struct EventSelectionTests {
  @Test func theNewestLinesStayVisibleUntilALineIsSelected() {
    var selection = EventSelection()
    #expect(selection.visible(in: 0..<100, height: 10) == 90..<100)
    #expect(selection.visible(in: 0..<120, height: 10) == 110..<120)
    selection.move(by: -1, in: 0..<120, height: 10)
    #expect(selection.number == 119)
    selection.move(by: -3, in: 0..<120, height: 10)
    #expect(selection.visible(in: 0..<500, height: 10) == 110..<120)
    #expect(!selection.follows)
  }

  @Test func aStepBeyondTheLastLineFollowsAgain() {
    var selection = EventSelection()
    selection.move(by: 1, in: 0..<20, height: 5)
    #expect(selection.follows)
    selection.move(by: -1, in: 0..<20, height: 5)
    selection.move(by: 1, in: 0..<20, height: 5)
    #expect(selection.follows)
  }

  @Test func theListScrollsOnlyAsFarAsTheSelectionNeeds() {
    var selection = EventSelection()
    selection.moveToTop(in: 0..<100, height: 10)
    #expect(selection.visible(in: 0..<100, height: 10) == 0..<10)
    selection.move(by: 9, in: 0..<100, height: 10)
    #expect(selection.visible(in: 0..<100, height: 10) == 0..<10)
    selection.move(by: 1, in: 0..<100, height: 10)
    #expect(selection.visible(in: 0..<100, height: 10) == 1..<11)
    selection.settle(in: 50..<300, height: 10)
    #expect(selection.number == 50)
    #expect(selection.visible(in: 50..<300, height: 10) == 50..<60)
  }

  @Test func anEmptyLogHasNoSelection() {
    var selection = EventSelection()
    selection.move(by: -1, in: 0..<0, height: 10)
    selection.moveToTop(in: 7..<7, height: 10)
    #expect(selection.number == nil)
    #expect(selection.visible(in: 7..<7, height: 10).isEmpty)
    selection.move(by: -1, in: 0..<3, height: 10)
    selection.settle(in: 3..<3, height: 10)
    #expect(selection.follows)
  }
}

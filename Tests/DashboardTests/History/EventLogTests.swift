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

  @Test("The beginning is not marked if no line is above it, or only another beginning")
  func aNeedlessBeginningIsNotMarked() {
    var log = EventLog()
    log.apply(EventNews(events: [], isBeginning: true))
    #expect(log.lines.isEmpty)
    log.apply(EventNews(events: [event(1, at: 1)]))
    #expect(log.lines == [.event(event(1, at: 1))])
    for _ in 1...2 { log.apply(EventNews(events: [event(1, at: 1)], isBeginning: true)) }
    #expect(log.lines == [.event(event(1, at: 1)), .beginning])
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

  @Test("A late event is inserted at its place in the order of time")
  func lateEventsAreInserted() {
    var log = EventLog()
    log.apply(EventNews(events: [event(1, at: 1), event(4, at: 4)]))
    log.apply(EventNews(events: [event(5, at: 5), event(6, at: 6)]))
    log.apply(EventNews(events: [event(3, at: 3), event(5, at: 5), event(7, at: 7)]))
    let times = log.lines.compactMap { line -> MonitorTime? in
      if case .event(let event) = line { event.time } else { nil }
    }
    #expect(times == [1, 3, 4, 5, 5, 6, 7].map { Scene.seconds($0) })
    // The newest time is known although the last event was late.
    log.apply(EventNews(events: [event(8, at: 6.5), event(10, at: 10)], isBeginning: true))
    #expect(log.lines.suffix(2) == [.event(event(10, at: 10)), .beginning])
  }

  @Test("A late event is inserted above a gap and above the beginning, if its place is there")
  func lateEventsAreInsertedAboveOtherLines() {
    var log = EventLog()
    log.apply(EventNews(events: [event(1, at: 1), event(4, at: 4)], isBeginning: true))
    log.apply(EventNews(events: [event(7, at: 7)], skippedCount: 2))
    // The finish of an operation arrives after the start of an operation that waited for it.
    let late = [event(3, at: 3), event(5, at: 5), event(8, at: 8)]
    log.apply(EventNews(events: late))
    #expect(
      log.lines == [
        .event(event(1, at: 1)), .event(late[0]), .event(event(4, at: 4)), .beginning, .skipped(2),
        .event(late[1]), .event(event(7, at: 7)), .event(late[2]),
      ])
    // An event that is older than all others is the first line.
    log.apply(EventNews(events: [event(0, at: 0.5)]))
    #expect(log.lines.first == .event(event(0, at: 0.5)) && log.lines.count == 9)
  }

  @Test("The events of several processes are in the order of time, whichever arrive first")
  func eventsOfSeveralProcesses() {
    var random = SeededGenerator(seed: 7)
    let all = (1...200).map { event($0, at: Double($0)) }
    var log = EventLog()
    // Each update has the events of one process. The updates arrive in a random order.
    let updates = (0..<33).map { number in
      all.filter { Int($0.operation.rawValue) % 3 + Int($0.operation.rawValue) / 20 * 3 == number }
    }
    for (number, events) in updates.shuffled(using: &random).enumerated() {
      log.apply(EventNews(events: events, skippedCount: number % 3))
    }
    let shown = log.lines.compactMap { line -> OperationEvent? in
      if case .event(let event) = line { event } else { nil }
    }
    #expect(shown == all)
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
    #expect(selection.number == 118)
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
    #expect(selection.number == 19 && !selection.follows)
    selection.move(by: 1, in: 0..<20, height: 5)
    #expect(selection.number == 19 && selection.follows)
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

  @Test("The selected event keeps its line on the screen when an older event is inserted above it")
  func theSelectionFollowsItsEvent() {
    var log = EventLog()
    log.apply(EventNews(events: (1...30).map { event($0, at: Double($0)) }))
    var selection = EventSelection()
    selection.move(by: -3, in: log.numbers, height: 10)
    selection.settle(in: log, height: 10)
    let line = selection.number.flatMap { log[$0] }
    let top = selection.visible(in: log.numbers, height: 10).lowerBound
    log.apply(EventNews(events: [event(40, at: 22.5), event(41, at: 23.5), event(42, at: 29.5)]))
    selection.settle(in: log, height: 10)
    #expect(selection.number.flatMap { log[$0] } == line)
    #expect(selection.visible(in: log.numbers, height: 10).lowerBound == top + 2)
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

/// Tests of the table that answers a viewer's interest from a recording, in the same way as a
/// process would.
@Suite struct ReplayTableTests {
  private typealias Scene = ReplayScene

  private func makeTable(_ seconds: ClosedRange<Int> = 1...10) -> ReplayTable {
    var table = ReplayTable()
    for second in seconds { play(second, in: &table) }
    return table
  }

  private func play(_ second: Int, in table: inout ReplayTable) {
    table.apply(Scene.update(second), isWhole: second == 1)
  }

  private func update(_ table: inout ReplayTable, _ interest: Interest) throws -> Update {
    let update = table.takeUpdate(for: interest, at: Scene.time(10.5))
    return try #require(update)
  }

  private func ids(_ numbers: Int...) -> [OperationReport.ID] { numbers.map { Scene.id($0) } }

  @Test func theListIsSortedFilteredAndCut() throws {
    var table = makeTable()
    var interest = Interest(order: SortOrder(by: .id), rowLimit: 3)
    var update = try update(&table, interest)
    #expect(update.changed.map(\.id) == ids(1, 2, 3))
    #expect(update.matchCount == 10 && update.keptCount == 10 && update.removed.isEmpty)
    #expect(update.time == Scene.time(10.5))

    interest.order.isReversed = true
    update = try self.update(&table, interest)
    #expect(update.changed.map(\.id) == ids(8, 9, 10) && update.removed == ids(1, 2, 3))

    interest.hidesOver = true
    update = try self.update(&table, interest)
    #expect(update.changed.isEmpty && update.removed == ids(8, 9) && update.matchCount == 1)

    interest.hidesOver = false
    interest.filter = try OperationFilter("\"tile 1\" queue:cpu")
    update = try self.update(&table, interest)
    #expect(update.changed.map(\.id) == ids(1) && update.matchCount == 2)
  }

  @Test func onlyChangedOperationsAreReportedAgain() throws {
    var table = makeTable()
    #expect(try update(&table, .everything).changed.count == 10)
    #expect(try update(&table, .everything).changed.isEmpty)
    play(11, in: &table)
    #expect(try update(&table, .everything).changed.map(\.id) == ids(10, 11))
  }

  @Test func requestedPartsOfTheGraphAreReported() throws {
    var table = makeTable()
    var interest = Interest(rowLimit: 0)
    interest.graphs = [.init(root: Scene.id(10), direction: .waitsFor, limit: 100)]
    // The graph contains operation 9, which operation 10 depends on. It does not contain operation
    // 8, because the dependencies of a finished operation are not relevant.
    #expect(try update(&table, interest).changed.map(\.id) == ids(9, 10))
    interest.graphs = [.init(root: Scene.id(7), direction: .blocks, limit: 3)]
    #expect(try update(&table, interest).changed.map(\.id) == ids(7, 8))
    interest.graphs = []
    interest.subjects = [Scene.id(9)]
    #expect(try update(&table, interest).dependents?.ids == ids(10))
    interest.rootLimit = 10
    let update = try update(&table, interest)
    #expect(update.rootCount == 1)
    #expect(update.changed.map(\.id) == ids(9, 10))
  }

  @Test func onlyRunsOfTheWindowAreReported() throws {
    var table = makeTable()
    var interest = Interest(rowLimit: 0)
    interest.timeline = .init(window: .seconds(3), limit: 100)
    var runs = try #require(try update(&table, interest).runs)
    #expect(runs.runs.map(\.id) == ids(7, 8, 9, 10) && runs.count == 4)
    #expect(runs.runs.last?.finished == nil)
    interest.timeline?.limit = 2
    runs = try #require(try update(&table, interest).runs)
    #expect(runs.runs.map(\.id) == ids(9, 10) && runs.count == 4)
  }

  @Test func eventsBeginWithTheHistoryAndContinueWithChanges() throws {
    var table = makeTable()
    var interest = Interest()
    #expect(try update(&table, interest).events == nil)
    interest.eventLimit = 100
    var news = try #require(try update(&table, interest).events)
    #expect(news.isBeginning && news.events.count == 29)
    play(11, in: &table)
    news = try #require(try update(&table, interest).events)
    #expect(!news.isBeginning)
    #expect(news.events.map(\.new) == [.finished, .ready, .executing])
    #expect(news.events.map(\.old) == [.executing, nil, .ready])
    #expect(news.events.map(\.operation) == ids(10, 11, 11))
    interest.filter = try OperationFilter("state:finished")
    news = try #require(try update(&table, interest).events)
    #expect(news.isBeginning && news.events.map(\.new).allSatisfy { $0 == .finished })
    #expect(news.events.count == 10)
  }

  @Test func onlyRequestedWarningsAreReported() throws {
    var table = makeTable(1...20)
    var interest = Interest(rowLimit: 5)
    #expect(try update(&table, interest).warnings.map(\.kind) == [.slow])
    interest.showsWarnedOnly = true
    #expect(try update(&table, interest).matchCount == 1)
    interest.warningKinds = [.cycle]
    #expect(try update(&table, interest).warnings.isEmpty)
  }

  @Test("In a priority inversion, the operation with the low priority also has a warning")
  func theListContainsBothOperationsOfAPriorityInversion() throws {
    var table = makeTable()
    var recorded = Scene.update(11)
    recorded.warnings = [
      MonitorWarning(kind: .priorityInversion, operations: ids(10), awaited: ids(9), count: 1)
    ]
    table.apply(recorded, isWhole: false)
    var interest = Interest()
    interest.showsWarnedOnly = true
    let update = try update(&table, interest)
    #expect(update.changed.map(\.id) == ids(9, 10) && update.matchCount == 2)
  }

  @Test("A change whose time is unknown has the time of the update")
  func changesWithoutATimeAreEvents() throws {
    var table = makeTable()
    var interest = Interest()
    interest.eventLimit = 100
    var recorded = Scene.update(11)
    var ready = Scene.report(51, .ready)
    (ready.started, ready.dependencies) = (nil, [])
    recorded.changed.append(ready)
    table.apply(recorded, isWhole: false)
    _ = try update(&table, interest)
    // An operation gets a new dependency, so it is no longer ready. The operation's report has no
    // time for this change, so the event has the time of the update.
    var later = Scene.update(12)
    (ready.state, ready.becameReady) = (.waiting, nil)
    later.changed = [ready]
    table.apply(later, isWhole: false)
    let event = try #require(try update(&table, interest).events?.events.first)
    #expect(event.operation == ready.id && event.time == later.time)
    #expect(event.old == .ready && event.new == .waiting)
  }

  @Test func recordedReasonsForNotRunningAreReported() throws {
    var table = makeTable()
    var recorded = Scene.update(11)
    var waiting = Scene.report(50, .waiting)
    waiting.dependencies = ids(9, 11)
    waiting.unmetDependencyCount = 1
    var ready = Scene.report(51, .ready)
    (ready.started, ready.dependencies) = (nil, [])
    recorded.changed += [waiting, ready]
    table.apply(recorded, isWhole: false)
    var interest = Interest()
    interest.detail = Scene.id(50)
    var detail = try #require(try update(&table, interest).detail)
    #expect(detail.reasons.map(\.kind) == [.unmetDependencies])
    #expect(detail.reasons[0].sentence.contains("1 of 2"))
    #expect(detail.reasons[0].sentence.contains("#11"))
    interest.detail = Scene.id(51)
    detail = try #require(try update(&table, interest).detail)
    #expect(detail.reasons.map(\.kind) == [.noFreeSlot])
    // A queue of width 0 starts no operation. In a queue with a free slot, a barrier may prevent
    // the start of an operation, but a recording does not contain barriers.
    for (width, kind) in [(0, OperationDetail.Reason.Kind.queueSuspended), (9, .notStartedYet)] {
      recorded.queues[0].width = width
      table.apply(recorded, isWhole: false)
      detail = try #require(try update(&table, interest).detail)
      #expect(detail.reasons.map(\.kind).first == kind, "width \(width)")
    }
    interest.detail = Scene.id(1)
    #expect(try update(&table, interest).detail == nil)
  }
}

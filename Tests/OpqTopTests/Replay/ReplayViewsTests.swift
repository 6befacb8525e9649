// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

@Suite("The run orders, groups and times of queues in a replay")
struct ReplayViewsTests {
  private typealias Scene = ReplayScene

  private func report(
    _ number: Int, _ state: OperationState, _ priority: OperationPriority = .normal,
    ready: Double? = nil, started: Double? = nil, finished: Double? = nil, kind: String = "Tile"
  ) -> OperationReport {
    OperationReport(
      id: Scene.id(number), name: "", className: kind, queue: .init(1), state: state,
      priority: priority, becameReady: ready.map(Scene.time), started: started.map(Scene.time),
      finished: finished.map(Scene.time))
  }

  private func table(_ reports: [OperationReport]) -> ReplayTable {
    var table = ReplayTable()
    var update = Update(time: Scene.time(10), changed: reports)
    var counts = StateCounts()
    for report in reports { counts.add(report.state) }
    update.queues = [
      QueueReport(id: .init(1), name: "cpu", counts: counts), QueueReport(id: .init(2), name: "io"),
    ]
    table.apply(update, isWhole: true)
    return table
  }

  private func update(_ table: inout ReplayTable, _ interest: Interest) throws -> Update {
    let update = table.takeUpdate(for: interest, at: Scene.time(10.5))
    return try #require(update)
  }

  private func ids(_ numbers: Int...) -> [OperationReport.ID] { numbers.map { Scene.id($0) } }

  @Test("RO-7: The order is estimated from priorities and from the times of becoming ready")
  func order() throws {
    var table = table([
      report(1, .executing, started: 3), report(2, .executing, started: 2),
      report(3, .ready, ready: 5), report(4, .ready, ready: 4), report(5, .ready, .high, ready: 9),
      report(6, .cancelling, .low, ready: 9), report(7, .waiting),
      report(8, .finished, started: 1, finished: 2),
    ])
    var interest = Interest(rowLimit: 0)
    interest.runOrder = .init()
    var orders = try update(&table, interest).runOrders
    #expect(orders.map(\.queue) == [.init(1)] && orders.map(\.isEstimated) == [true])
    #expect(orders.map(\.executing) == [ids(2, 1)])
    #expect(orders.map(\.ready) == [ids(6, 5, 4, 3)] && orders.map(\.isCut) == [false])
    interest.runOrder = .init(
      queues: [.init(1), .init(2)], limit: 2, includesOperations: true)
    let cut = try update(&table, interest)
    orders = cut.runOrders
    #expect(orders.map(\.ready) == [ids(6, 5), []] && orders.map(\.isCut) == [true, false])
    // The operations in the order of a named queue are sent, also without a list.
    #expect(cut.changed.map(\.id) == ids(1, 2, 5, 6))
  }

  @Test("RO-6, RO-7: The list of a replay can be sorted by position")
  func sortedList() throws {
    var table = table([
      report(1, .ready, ready: 5), report(2, .ready, .high, ready: 6), report(3, .waiting),
      report(4, .executing, started: 7),
    ])
    let interest = Interest(order: SortOrder(by: .position), rowLimit: 2)
    #expect(try update(&table, interest).changed.map(\.id) == ids(2, 4))
  }

  @Test("GC-1, GC-3: The groups of a replay count the operations of the list")
  func groups() throws {
    var table = table([
      report(1, .executing, kind: "A"), report(2, .waiting, kind: "A"),
      report(3, .ready, kind: "B"), report(4, .finished, started: 9, finished: 10, kind: "C"),
    ])
    var interest = Interest(filter: try OperationFilter("!#2"), rowLimit: 1)
    interest.groups = .init(by: .kind, limit: 2)
    var groups = try #require(try update(&table, interest).groups)
    #expect(groups.groups.map(\.key) == [.kind("A"), .kind("B")] && groups.otherCount == 1)
    #expect(groups.groups.map(\.counts.total) == [1, 1])
    interest.groups = .init(by: .queue)
    groups = try #require(try update(&table, interest).groups)
    #expect(groups.groups.map(\.key) == [.queue(.init(1))])
    #expect(groups.groups.map(\.endedCount) == [1])
    #expect(
      groups.groups.first?.counts == StateCounts(ready: 1, executing: 1, finished: 1, total: 3))
    #expect(try update(&table, Interest()).groups == nil)
  }

  @Test("GC-4: The ended operations of a kind are counted also after the process has removed them")
  func endedOperations() throws {
    var table = table([
      report(1, .executing, started: 1), report(2, .finished, started: 1, finished: 2),
    ])
    table.apply(
      Update(
        time: Scene.time(11), changed: [report(1, .finished, started: 1, finished: 10)],
        removed: ids(2)), isWhole: false)
    var interest = Interest(rowLimit: 1)
    interest.groups = .init(by: .kind)
    #expect(try update(&table, interest).groups?.groups.map(\.endedCount) == [2])
  }

  @Test(
    "GC-4: A complete state within the recording does not decrease the number of ended operations")
  func endedOperationsOfACompleteState() throws {
    let running = report(1, .executing, started: 1)
    var table = table([running, report(2, .finished, started: 1, finished: 2)])
    table.apply(
      Update(time: Scene.time(11), changed: [], removed: ids(2)), isWhole: false)
    table.apply(
      Update(
        time: Scene.time(12), changed: [running, report(3, .finished, started: 2, finished: 11)]),
      isWhole: true)
    table.apply(
      Update(
        time: Scene.time(13), changed: [running, report(3, .finished, started: 2, finished: 11)]),
      isWhole: true)
    var interest = Interest(rowLimit: 1)
    interest.groups = .init(by: .kind)
    #expect(try update(&table, interest).groups?.groups.map(\.endedCount) == [2])
  }

  @Test("GC-3: Groups of a replay with the same name and size keep their order")
  func equalNames() throws {
    var table = ReplayTable()
    var state = Update(
      time: Scene.time(10),
      changed: (1...20).map { number in
        OperationReport(
          id: Scene.id(number), name: "", className: "Tile", queue: .init(UInt64(number)),
          state: .waiting)
      })
    state.queues = (1...20).map { QueueReport(id: .init($0), name: "cpu") }
    table.apply(state, isWhole: true)
    var interest = Interest(rowLimit: 1)
    interest.groups = .init(by: .queue)
    let keys = try update(&table, interest).groups?.groups.map(\.key)
    #expect(keys == (1...20).map { .queue(.init($0)) })
  }

  @Test("GC-1: The filter of a replay also excludes operations from groups without rows")
  func groupsWithoutRows() throws {
    var table = table([report(1, .waiting, kind: "A"), report(2, .waiting, kind: "B")])
    var interest = Interest(filter: try OperationFilter("kind:=A"), rowLimit: nil)
    interest.groups = .init(by: .kind)
    let answer = try update(&table, interest)
    #expect(answer.groups?.groups.map(\.key) == [.kind("A")])
    #expect(answer.matchCount == 2 && answer.changed.count == 2)
  }

  @Test("QC-2: The times of a queue in a replay are those of the last minute")
  func queueTimes() throws {
    var reports = (1...100).map {
      report($0, .finished, ready: 0, started: 1, finished: 1 + Double($0) / 1_000)
    }
    reports.append(report(101, .finished, started: -90, finished: -80))
    var table = table(reports)
    var interest = Interest(rowLimit: 0)
    #expect(try update(&table, interest).queues.allSatisfy { $0.times == nil })
    interest.queueTimes = true
    let queues = try update(&table, interest).queues
    #expect(queues[0].times?.run?.count == 100 && queues[0].times?.wait?.p50 == .seconds(1))
    #expect(queues[0].times?.run?.p50 == .milliseconds(50))
    #expect(queues[0].times?.run?.p99 == .milliseconds(99))
    #expect(queues[1].times == TimeStatistics())
  }
}

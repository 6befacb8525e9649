// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// Tests of the updates that a viewer receives. The changes come from a real queue, which is
/// unlisted, so that collectors of other tests do not read it.
@Suite final class SessionListTests {
  private let queue = OperationQueue(unlistedNamed: "test")
  private let collector = CollectorID()
  private let table = CollectorTable()
  private let session = SessionID(rawValue: 1)

  init() {
    queue.isSuspended = true
    queue.core.keepRecords(for: collector, replaces: true) {}
    // Operations record their changes only while the monitor level is raised. A collector raises
    // the level, so the test raises it too.
    MonitorLevel.raise()
  }

  deinit { MonitorLevel.lower() }

  private func read() {
    table.beginReading()
    table.apply(queue.takeChanges(for: collector, limit: .max))
  }

  private func list(_ interest: Interest) throws -> SessionList {
    table.keepList(for: session, interest, at: MonitorTime.now)
    let list = try #require(table.lists[session])
    list.fill(from: table, until: .now + .seconds(60))
    return list
  }

  private func add(_ names: [String]) -> [BlockOperation] {
    let operations = names.map { name in
      let operation = BlockOperation {}
      operation.name = name
      return operation
    }
    queue.addOperations(operations, waitUntilFinished: false)
    return operations
  }

  private func id(_ operation: Operation) -> OperationReport.ID { .init(operation.id.rawValue) }
  private func finishAll() {
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("An interval beyond the range of time permits only one update")
  func intervalBeyondTheRangeOfTime() throws {
    let list = try list(Interest())
    let interval = Duration.seconds(Int64.max) * 3
    #expect(list.mayReport(at: MonitorTime.now, interval: interval))
    _ = list.takeUpdate(from: table)
    #expect(!list.mayReport(at: MonitorTime.now, interval: interval))
  }

  @Test func onlyTheFirstRowsAreReported() throws {
    let operations = add((0..<20).map { "job \($0)" })
    read()
    let list = try list(Interest(order: SortOrder(by: .id), rowLimit: 5))
    let update = list.takeUpdate(from: table)
    #expect(update.changed.map(\.id) == operations.prefix(5).map(id))
    #expect(update.matchCount == 20 && update.keptCount == 20)
    finishAll()
  }

  @Test("An update says how many of the kept operations have finished")
  func keptFinishedOperationsAreCounted() throws {
    let operations = add(["one", "two", "three"])
    read()
    let list = try list(Interest())
    #expect(list.takeUpdate(from: table).keptFinishedCount == 0)
    finishAll()
    read()
    let update = list.takeUpdate(from: table)
    #expect(update.keptCount == operations.count)
    #expect(update.keptFinishedCount == operations.count)
  }

  @Test("Operations of a released queue leave a list that is sorted by queues")
  func queueThatIsGone() throws {
    let operations = add(["one", "two"])
    read()
    let list = try list(Interest(order: SortOrder(by: .queue)))
    #expect(list.takeUpdate(from: table).matchCount == 2)
    finishAll()
    read()
    table.keepQueues([])
    list.fill(from: table, until: .now + .seconds(60))
    table.prune(now: MonitorTime.now + .seconds(3_600))
    let update = list.takeUpdate(from: table)
    #expect(update.matchCount == 0 && update.removed == operations.map(id))
  }

  @Test("A new filter removes no row that matches it, also while the list is incomplete")
  func incompleteListKeepsItsRows() throws {
    _ = add((0..<600).map { "job \($0)" })
    read()
    let list = try list(Interest(rowLimit: 600))
    #expect(list.takeUpdate(from: table).changed.count == 600)
    let filtered = Interest(filter: try OperationFilter("job"), rowLimit: 600)
    table.keepList(for: session, filtered, at: MonitorTime.now)
    #expect(list.isFilling && list.takeUpdate(from: table).removed.isEmpty)
    list.fill(from: table, until: .now + .seconds(60))
    #expect(!list.isFilling && list.takeUpdate(from: table).matchCount == 600)
    finishAll()
  }

  @Test func aRemovedQueueKeepsRowsThatDoNotDependOnItsName() throws {
    let operations = add((0..<600).map { "job \($0)" })
    read()
    let list = try list(
      Interest(filter: OperationFilter("state:finished|state:waiting|state:held")))
    #expect(list.takeUpdate(from: table).changed.count == 500)
    table.keepQueues([])
    #expect(!list.isFilling)
    let update = list.takeUpdate(from: table)
    #expect(update.removed.isEmpty && update.changed.isEmpty && update.matchCount == 600)
    finishAll()
    withExtendedLifetime(operations) {}
  }

  @Test(
    "After a queue's name has changed, its rows stay until the list is rebuilt",
    arguments: [(SortOrder.Column.queue, "job"), (.state, "!queue:x")])
  func listThatIsMadeAgain(column: SortOrder.Column, filter: String) throws {
    let interest = Interest(order: SortOrder(by: column), filter: try OperationFilter(filter))
    _ = add((0..<600).map { "job \($0)" })
    read()
    let list = try list(interest)
    #expect(list.takeUpdate(from: table).changed.count == 500)
    queue.name = "other"
    read()
    #expect(list.isFilling)
    // The deadline for this call of `fill` has already passed, so the call adds only one part to
    // the list.
    list.fill(from: table, until: .now - .seconds(1))
    #expect(list.isFilling)
    var update = list.takeUpdate(from: table)
    #expect(update.removed.isEmpty && update.changed.isEmpty && update.matchCount == 600)
    list.fill(from: table, until: .now + .seconds(60))
    update = list.takeUpdate(from: table)
    #expect(update.removed.isEmpty && update.changed.isEmpty && update.matchCount == 600)
    finishAll()
  }

  @Test func theReversedOrderReportsTheLastRows() throws {
    let operations = add((0..<20).map { "job \($0)" })
    read()
    let list = try list(Interest(order: SortOrder(by: .id, isReversed: true), rowLimit: 5))
    #expect(list.takeUpdate(from: table).changed.map(\.id) == operations.suffix(5).map(id))
    finishAll()
  }

  @Test func unchangedOperationsAreReportedOnce() throws {
    let operations = add(["a", "b", "c"])
    read()
    let list = try list(Interest())
    #expect(list.takeUpdate(from: table).changed.count == 3)
    #expect(list.takeUpdate(from: table).changed.isEmpty)
    operations[1].queuePriority = .high
    read()
    let update = list.takeUpdate(from: table)
    #expect(update.changed.map(\.id) == [id(operations[1])])
    #expect(update.removed.isEmpty)
    finishAll()
  }

  @Test func operationsBelowTheRowLimitAreRemoved() throws {
    let operations = add(["a", "b", "c"])
    read()
    let list = try list(Interest(order: SortOrder(by: .priority), rowLimit: 2))
    #expect(
      list.takeUpdate(from: table).changed.map(\.id) == [operations[0], operations[1]].map(id))
    operations[2].queuePriority = .veryHigh
    read()
    let update = list.takeUpdate(from: table)
    #expect(update.changed.map(\.id) == [id(operations[2])])
    #expect(update.removed == [id(operations[1])])
    finishAll()
  }

  @Test func aFilterListsAndCountsMatchingOperations() throws {
    let operations = add(["merge 1", "upload 1", "merge 2"])
    read()
    let list = try list(Interest(filter: OperationFilter("merge")))
    var update = list.takeUpdate(from: table)
    #expect(Set(update.changed.map(\.id)) == Set([operations[0], operations[2]].map(id)))
    #expect(update.matchCount == 2 && update.keptCount == 3)
    table.keepList(
      for: session, try Interest(filter: OperationFilter("queue:test !merge")),
      at: MonitorTime.now)
    #expect(list.isFilling)
    list.fill(from: table, until: .now + .seconds(60))
    update = list.takeUpdate(from: table)
    #expect(update.changed.map(\.id) == [id(operations[1])])
    #expect(update.removed.count == 2)
    finishAll()
  }

  @Test func finishedOperationsCanBeHidden() throws {
    _ = add(["a"])
    finishAll()
    queue.isSuspended = true
    let waiting = add(["b"])
    read()
    let list = try list(Interest(hidesOver: true))
    #expect(list.takeUpdate(from: table).changed.map(\.id) == waiting.map(id))
    finishAll()
    read()
    let update = list.takeUpdate(from: table)
    #expect(update.removed == waiting.map(id) && update.matchCount == 0)
  }

  @Test func requestedOperationsAndGraphsAreReportedOutsideTheRows() throws {
    let operations = add((0..<8).map { "job \($0)" })
    for (operation, dependency) in zip(operations[4...], operations[3...]) {
      operation.addDependency(dependency)
    }
    read()
    var interest = Interest(order: SortOrder(by: .id), rowLimit: 1)
    interest.operations = [id(operations[2])]
    interest.graphs = [
      .init(root: id(operations[5]), direction: .waitsFor, limit: 2),
      .init(root: id(operations[6]), direction: .blocks, limit: 9),
    ]
    let reported = try list(interest).takeUpdate(from: table).changed.map(\.id)
    #expect(reported == [0, 2, 4, 5, 6, 7].map { id(operations[$0]) })
    finishAll()
  }

  @Test func theDependentsOfTheSubjectsAreReported() throws {
    let operations = add(["a", "b", "c", "d"])
    operations[1].addDependency(operations[0])
    operations[2].addDependency(operations[1])
    read()
    var interest = Interest()
    interest.subjects = [id(operations[0])]
    let dependents = try list(interest).takeUpdate(from: table).dependents
    #expect(dependents?.ids == [operations[1], operations[2]].map(id))
    #expect(dependents?.isCut == false)
    finishAll()
  }

  @Test func theSearchForDependentsIsLimited() throws {
    let obstacle = Operation()
    let operations = add(["a"])
    operations[0].addDependency(obstacle)
    let finished = add(Array(repeating: "finished", count: 2 * Dependents.limit))
    for operation in finished {
      operation.addDependency(operations[0])
      operation.cancel()
    }
    read()
    queue.isSuspended = false
    for operation in finished { operation.waitUntilFinished() }
    read()
    var interest = Interest()
    interest.subjects = [id(operations[0])]
    let dependents = try list(interest).takeUpdate(from: table).dependents
    #expect(dependents?.isCut == true && dependents?.ids.isEmpty == true)
    obstacle.start()
    finishAll()
  }

  @Test func aListIsFilledInStepsAndIncludesChangesMeanwhile() throws {
    let operations = add((0..<2_000).map { "job \($0)" })
    read()
    table.keepList(
      for: session, Interest(order: SortOrder(by: .priority), rowLimit: 3), at: MonitorTime.now)
    let list = try #require(table.lists[session])
    // The deadline for this call of `fill` has already passed, so the call adds only one part to
    // the list.
    list.fill(from: table, until: .now - .seconds(1))
    #expect(list.isFilling)
    operations[7].queuePriority = .veryHigh
    operations[1_900].queuePriority = .veryHigh
    read()
    while list.isFilling { list.fill(from: table, until: .now - .seconds(1)) }
    let reported = list.takeUpdate(from: table).changed.map(\.id)
    #expect(reported == [0, 7, 1_900].map { id(operations[$0]) })
    #expect(list.takeUpdate(from: table).matchCount == 2_000)
    finishAll()
  }

  @Test func aFilterByAgeIsAppliedAgainEachSecond() throws {
    let operations = add(["a"])
    read()
    let start = MonitorTime.now
    let list = try list(Interest(filter: OperationFilter("age>60s")))
    #expect(list.takeUpdate(from: table).changed.isEmpty)
    let due = try #require(list.nextRefresh)
    #expect(due >= start + .seconds(1))
    list.refreshIfDue(from: table, at: start)
    #expect(!list.isFilling)
    list.refreshIfDue(from: table, at: start + .seconds(61))
    list.fill(from: table, until: .now + .seconds(60))
    #expect(list.takeUpdate(from: table).changed.map(\.id) == operations.map(id))
    finishAll()
  }

  @Test func theListCanShowOnlyOperationsWithWarnings() throws {
    let operations = add(["a", "b", "c"])
    operations[0].addDependency(operations[1])
    operations[1].addDependency(operations[0])
    read()
    var interest = Interest(order: SortOrder(by: .id, isReversed: true))
    interest.showsWarnedOnly = true
    let list = try list(interest)
    var update = list.takeUpdate(from: table)
    #expect(update.changed.isEmpty && update.matchCount == 0 && update.keptCount == 3)
    // If the filter selects operations with warnings, an update has the operations of a new warning
    // although no operation has changed.
    let cycle = MonitorWarning(kind: .cycle, operations: operations.prefix(2).map(id))
    _ = table.deadlockWatch.take([cycle], cost: .zero, at: MonitorTime.now)
    update = list.takeUpdate(from: table)
    #expect(update.changed.map(\.id) == operations.prefix(2).map(id))
    #expect(update.matchCount == 2)
    interest.filter = try OperationFilter("b")
    table.keepList(for: session, interest, at: MonitorTime.now)
    list.fill(from: table, until: .now + .seconds(60))
    #expect(list.takeUpdate(from: table).matchCount == 1)
    _ = table.deadlockWatch.take([], cost: .zero, at: MonitorTime.now)
    #expect(list.takeUpdate(from: table).removed == operations.prefix(2).map(id))
    operations[0].cancel()
    finishAll()
  }

  @Test("In a priority inversion, the operation with the low priority also has a warning")
  func theListContainsBothOperationsOfAPriorityInversion() throws {
    let operations = add(["high", "low", "other"])
    read()
    var interest = Interest(order: SortOrder(by: .id))
    interest.showsWarnedOnly = true
    let list = try list(interest)
    let inversion = MonitorWarning(
      kind: .priorityInversion, operations: [id(operations[0])], awaited: [id(operations[1])])
    _ = table.deadlockWatch.take([inversion], cost: .zero, at: MonitorTime.now)
    let update = list.takeUpdate(from: table)
    #expect(update.changed.map(\.id) == operations.prefix(2).map(id))
    #expect(update.matchCount == 2)
    finishAll()
  }

  @Test("4.2: unfinished operations without dependents come with their dependencies")
  func rootsAreReported() throws {
    _ = add(["over"])
    finishAll()
    queue.isSuspended = true
    let operations = add(["a", "b", "c", "d"])
    operations[3].addDependency(operations[0])
    read()
    var interest = Interest(rowLimit: 0)
    let list = try list(interest)
    #expect(list.takeUpdate(from: table).rootCount == nil)
    interest.rootLimit = 5
    table.keepList(for: session, interest, at: MonitorTime.now)
    #expect(list.isFilling)
    #expect(list.takeUpdate(from: table).rootCount == nil)
    list.fill(from: table, until: .now + .seconds(60))
    var update = list.takeUpdate(from: table)
    // The finished operation is not a root. The update contains the three roots, and the
    // dependencies of the last root.
    #expect(update.rootCount == 3)
    #expect(update.changed.map(\.id) == operations.map(id))
    // One root begins to depend on another root. The other root then has a dependent, so it is no
    // longer a root.
    operations[2].addDependency(operations[1])
    read()
    update = list.takeUpdate(from: table)
    #expect(update.rootCount == 2)
    operations[2].removeDependency(operations[1])
    read()
    #expect(list.takeUpdate(from: table).rootCount == 3)
    interest.rootLimit = 0
    table.keepList(for: session, interest, at: MonitorTime.now)
    #expect(list.takeUpdate(from: table).removed.count == 4)
    finishAll()
  }

  @Test func aViewerCanReceiveAllOperations() throws {
    _ = add((0..<600).map { "job \($0)" })
    read()
    let update = try list(.everything).takeUpdate(from: table)
    #expect(update.changed.count == 600 && update.matchCount == 600)
    finishAll()
  }
}

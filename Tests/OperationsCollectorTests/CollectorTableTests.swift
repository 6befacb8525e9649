// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// Tests of a collector's table with changes of real queues. The queues are unlisted, so that
/// collectors of other tests do not read the changes.
@Suite final class CollectorTableTests {
  private let queue = OperationQueue(unlistedNamed: "test")
  private let collector = CollectorID()

  init() {
    queue.isSuspended = true
    MonitorLevel.raise()
    queue.core.keepRecords(for: collector, replaces: true) {}
  }

  deinit {
    queue.core.dropRecords(of: collector)
    MonitorLevel.lower()
  }

  private func read(into table: CollectorTable) {
    table.beginReading()
    table.apply(queue.takeChanges(for: collector, limit: 1_000))
  }

  private func id(_ operation: Operation) -> OperationReport.ID { .init(operation.id.rawValue) }

  @Test func anAddedOperationIsReportedWithNameClassAndDependencies() throws {
    let dependency = BlockOperation {}
    let operation = BlockOperation {}
    operation.name = "merge"
    operation.queuePriority = .high
    operation.addDependency(dependency)
    queue.addOperation(operation)
    let table = CollectorTable()
    read(into: table)
    let report = try #require(table.report(id(operation)))
    #expect(report.name == "merge")
    #expect(report.className == "BlockOperation")
    #expect(report.priority == .high)
    #expect(report.state == .waiting)
    #expect(report.dependencies == [id(dependency)])
    #expect(report.unmetDependencyCount == 1)
    #expect(report.added != nil)
    #expect(report.started == nil)
  }

  @Test func heldOperationsAreCountedAsReady() throws {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    let table = CollectorTable()
    read(into: table)
    #expect(table.report(id(operation))?.state == .held)
    let counts = try #require(table.queues.values.first?.counts)
    #expect(counts.ready == 1 && counts.held == 1 && counts.isConsistent)
  }

  @Test func resumingAQueueTurnsHeldOperationsIntoReadyOnes() {
    queue.maxConcurrentOperationCount = 0
    let operation = BlockOperation {}
    queue.addOperation(operation)
    let table = CollectorTable()
    read(into: table)
    queue.isSuspended = false
    read(into: table)
    #expect(table.report(id(operation))?.state == .ready)
    #expect(table.entries[id(operation)]?.version == table.version)
  }

  @Test func aCancelledOperationIsCancellingAndThenCancelled() {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    operation.cancel()
    let table = CollectorTable()
    read(into: table)
    #expect(table.report(id(operation))?.state == .cancelling)
    #expect(table.report(id(operation))?.cancelRequested != nil)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    read(into: table)
    #expect(table.report(id(operation))?.state == .cancelled)
    #expect(table.entries[id(operation)]?.record == nil)
    #expect(table.queues.values.first?.counts.cancelled == 1)
  }

  @Test func aFinishedDependencyIsCountedOffInItsDependents() {
    let other = OperationQueue(unlistedNamed: "test")
    other.core.keepRecords(for: collector, replaces: true) {}
    let blocked = BlockOperation {}
    let first = BlockOperation {}
    let dependent = BlockOperation {}
    dependent.addDependency(first)
    dependent.addDependency(blocked)
    queue.addOperations([blocked, dependent], waitUntilFinished: false)
    let table = CollectorTable()
    read(into: table)
    #expect(table.report(id(dependent))?.unmetDependencyCount == 2)
    other.addOperation(first)
    other.waitUntilAllOperationsAreFinished()
    table.apply(other.takeChanges(for: collector, limit: 10))
    #expect(table.report(id(dependent))?.unmetDependencyCount == 1)
    blocked.cancel()
    dependent.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func aNewNameIsReported() {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    let table = CollectorTable()
    read(into: table)
    MonitorLevel.raise()
    defer { MonitorLevel.lower() }
    operation.name = "renamed"
    read(into: table)
    #expect(table.report(id(operation))?.name == "renamed")
  }

  @Test func operationsFromBeforeTheCollectorAreAdoptedWithUnknownTimes() throws {
    let early = OperationQueue(unlistedNamed: "test")
    early.isSuspended = true
    let operation = BlockOperation {}
    operation.name = "early"
    operation.queuePriority = .veryHigh
    early.addOperation(operation)
    early.core.keepRecords(for: collector, replaces: true) {}
    let table = CollectorTable()
    table.apply(early.takeChanges(for: collector, limit: 10))
    let report = try #require(table.report(id(operation)))
    #expect(report.name == "early")
    #expect(report.state == .held)
    #expect(report.priority == .veryHigh)
    #expect(report.added == nil)
  }

  @Test func finishedOperationsAreKeptUpToANumberAndAnAge() {
    queue.isSuspended = false
    let operations = (0..<5).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: true)
    let table = CollectorTable(
      retention: CollectorTable.Retention(count: 3, age: .seconds(60)))
    read(into: table)
    table.prune(now: MonitorTime.now)
    #expect(table.entries.count == 3)
    table.prune(now: MonitorTime.now + .seconds(61))
    #expect(table.entries.isEmpty)
    #expect(table.queues.values.first?.counts.total == 5)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsCore
@testable import OperationsMonitor

/// Real records of real queues, which are unlisted: no collector of another test reads them.
@Suite struct CollectorTableTests {
  private let queue = OperationQueue(unlistedNamed: "test")
  private let recorder = RecorderID()

  init() {
    queue.isSuspended = true
    queue.core.startRecording(recorder, replaces: true) {}
  }

  private func read(into table: inout CollectorTable) {
    table.apply(queue.takeRecordedChanges(for: recorder, limit: 1_000))
  }

  private func id(_ operation: Operation) -> OperationReport.ID { .init(operation.id.rawValue) }

  @Test func anAddedOperationIsReportedWithNameClassAndDependencies() throws {
    let dependency = BlockOperation {}
    let operation = BlockOperation {}
    operation.name = "merge"
    operation.queuePriority = .high
    operation.addDependency(dependency)
    queue.addOperation(operation)
    var table = CollectorTable()
    read(into: &table)
    let report = try #require(table.reports[id(operation)])
    #expect(report.name == "merge")
    #expect(report.className == "BlockOperation")
    #expect(report.priority == .high)
    #expect(report.state == .waiting)
    #expect(report.dependencies == [id(dependency)])
    #expect(report.unmetDependencyCount == 1)
    #expect(report.added != nil)
    #expect(report.started == nil)
  }

  @Test func readyOperationsOfASuspendedQueueAreHeldAndCountedWithinReady() throws {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    var table = CollectorTable()
    read(into: &table)
    #expect(table.reports[id(operation)]?.state == .held)
    let counts = try #require(table.queues.values.first?.counts)
    #expect(counts.ready == 1 && counts.held == 1 && counts.isConsistent)
  }

  @Test func resumingAQueueTurnsHeldOperationsIntoReadyOnes() {
    queue.maxConcurrentOperationCount = 0
    let operation = BlockOperation {}
    queue.addOperation(operation)
    var table = CollectorTable()
    read(into: &table)
    _ = table.takeChanges()
    queue.isSuspended = false
    read(into: &table)
    #expect(table.reports[id(operation)]?.state == .ready)
    #expect(table.takeChanges().changed == [id(operation)])
  }

  @Test func aCancelledOperationIsCancellingAndThenCancelled() {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    operation.cancel()
    var table = CollectorTable()
    read(into: &table)
    #expect(table.reports[id(operation)]?.state == .cancelling)
    #expect(table.reports[id(operation)]?.cancelRequested != nil)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    read(into: &table)
    #expect(table.reports[id(operation)]?.state == .cancelled)
    #expect(table.records[id(operation)] == nil)
    #expect(table.queues.values.first?.counts.cancelled == 1)
  }

  @Test func aFinishedDependencyIsCountedOffInItsDependents() {
    let other = OperationQueue(unlistedNamed: "test")
    other.core.startRecording(recorder, replaces: true) {}
    let blocked = BlockOperation {}
    let first = BlockOperation {}
    let dependent = BlockOperation {}
    dependent.addDependency(first)
    dependent.addDependency(blocked)
    queue.addOperations([blocked, dependent], waitUntilFinished: false)
    var table = CollectorTable()
    read(into: &table)
    #expect(table.reports[id(dependent)]?.unmetDependencyCount == 2)
    other.addOperation(first)
    other.waitUntilAllOperationsAreFinished()
    table.apply(other.takeRecordedChanges(for: recorder, limit: 10))
    #expect(table.reports[id(dependent)]?.unmetDependencyCount == 1)
    blocked.cancel()
    dependent.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func aNewNameIsReported() {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    var table = CollectorTable()
    read(into: &table)
    MonitorLevel.raise()
    defer { MonitorLevel.lower() }
    operation.name = "renamed"
    read(into: &table)
    #expect(table.reports[id(operation)]?.name == "renamed")
  }

  @Test func operationsFromBeforeTheCollectorAreAdoptedWithUnknownTimes() throws {
    let early = OperationQueue(unlistedNamed: "test")
    early.isSuspended = true
    let operation = BlockOperation {}
    operation.name = "early"
    early.addOperation(operation)
    early.core.startRecording(recorder, replaces: true) {}
    var table = CollectorTable()
    table.apply(early.takeRecordedChanges(for: recorder, limit: 10))
    let report = try #require(table.reports[id(operation)])
    #expect(report.name == "early")
    #expect(report.state == .held)
    #expect(report.added == nil)
  }

  @Test func finishedOperationsAreKeptUpToANumberAndAnAge() {
    queue.isSuspended = false
    let operations = (0..<5).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: true)
    var table = CollectorTable(
      retention: CollectorTable.Retention(count: 3, age: .seconds(60)))
    read(into: &table)
    _ = table.takeChanges()
    table.prune(now: ProcessFacts.now)
    #expect(table.reports.count == 3)
    #expect(table.takeChanges().removed.count == 2)
    table.prune(now: ProcessFacts.now + .seconds(61))
    #expect(table.reports.isEmpty)
    #expect(table.queues.values.first?.counts.total == 5)
  }
}

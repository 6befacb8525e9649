// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An error whose description is a given text.
private struct TextError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// An error that uses its queue, which needs the queue's lock, when it is described and when it is released.
private final class QueueError: Error, CustomStringConvertible {
  private let queue: OperationQueue
  private let log: EventLog<String>

  init(_ queue: OperationQueue, _ log: EventLog<String>) {
    self.queue = queue
    self.log = log
  }

  var description: String {
    log.note("described by \(pthread_self())")
    return "\(queue.operationCount) operations"
  }

  deinit {
    _ = queue.operationCount
    log.note("released")
  }
}

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

  @Test("An operation that began before monitoring has executed at least since it was found")
  func anEarlierStartHasALowerBound() throws {
    let early = OperationQueue(unlistedNamed: "early")
    let gate = Gate()
    let operation = BlockOperation { gate.pass() }
    early.addOperation(operation)
    gate.waitForArrivals(1)
    let watched = WatchedQueue(early)
    let before = MonitorTime.now
    watched.read()
    let report = try #require(watched.table.report(.init(operation)))
    let found = try #require(report.foundExecuting)
    #expect(report.started == nil && before <= found && found <= .now)
    // The time stays the same while the operation executes.
    operation.name = "renamed"
    watched.read()
    #expect(watched.table.report(.init(operation))?.name == "renamed")
    #expect(watched.table.report(.init(operation))?.foundExecuting == found)
    gate.open()
    early.waitUntilAllOperationsAreFinished()
    watched.read()
    #expect(watched.table.report(.init(operation))?.state == .finished)
    #expect(watched.table.report(.init(operation))?.foundExecuting == nil)
    watched.stop()
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

  // MARK: Failures

  /// Runs operations until they have finished, reads them, and returns the table.
  private func table(after operations: [Operation]) -> CollectorTable {
    queue.isSuspended = false
    for operation in operations { queue.addOperation(operation) }
    queue.waitUntilAllOperationsAreFinished()
    let table = CollectorTable()
    read(into: table)
    return table
  }

  @Test func aFailedOperationHasTheTextOfItsError() throws {
    let failed = InvocationOperation<Int> { throw TextError("disk full") }
    let cancelled = BlockOperation {}
    cancelled.cancel(with: TextError("no longer needed"))
    let finished = BlockOperation {}
    let table = table(after: [failed, cancelled, finished])
    #expect(table.report(id(failed))?.state == .failed)
    #expect(table.report(id(failed))?.errorText == "disk full")
    #expect(table.report(id(cancelled))?.state == .cancelled)
    #expect(table.report(id(finished))?.state == .finished)
    #expect(table.report(id(finished))?.errorText == nil)
    let counts = try #require(table.queues.values.first?.counts)
    #expect(counts == StateCounts(finished: 2, failed: 1, cancelled: 1, total: 3))
  }

  @Test("After a timeout, the TimeoutOperation has failed, and what it ran is cancelled")
  func aTimeoutFails() throws {
    let work = AsyncOperation<Void> { try await Task.sleep(for: .seconds(60)) }
    let timeout = TimeoutOperation(after: .zero) { work }
    let table = table(after: [timeout])
    let report = try #require(table.report(id(timeout)))
    #expect(report.state == .failed)
    #expect(report.errorText?.isEmpty == false)
    #expect(work.isCancelled)
  }

  @Test("The text of an error has at most 1 KiB, and is cut between characters")
  func longErrorTextsAreCut() throws {
    // Each flag is one character of 8 bytes.
    let failed = InvocationOperation<Int> { throw TextError(String(repeating: "🇳🇴", count: 500)) }
    let text = try #require(table(after: [failed]).report(id(failed))?.errorText)
    #expect(text.utf8.count <= 1_024 && text.utf8.count > 1_000)
    #expect(text == String(repeating: "🇳🇴", count: text.count - 1) + "…")
  }

  @Test func anErrorWithoutTextHasTheNameOfItsType() throws {
    let failed = InvocationOperation<Int> { throw TextError("") }
    #expect(table(after: [failed]).report(id(failed))?.errorText == "TextError")
  }

  @Test(
    "An error is described by the thread that reads the queue, outside the queue's lock, and then released"
  )
  func errorsAreDescribedOutsideTheLock() throws {
    let log = EventLog<String>()
    queue.isSuspended = false
    queue.addOperation(InvocationOperation<Int> { [queue] in throw QueueError(queue, log) })
    queue.waitUntilAllOperationsAreFinished()
    #expect(log.events.isEmpty)
    read(into: CollectorTable())
    log.wait(for: "released")
    #expect(log.events == ["described by \(pthread_self())", "released"])
  }

  // MARK: Causes of cancellations

  @Test("A cancelled operation has the cause and the text of the reason, also when it has finished")
  func causes() throws {
    let operations = (0..<4).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: false)
    let table = CollectorTable()
    operations[0].cancel()
    operations[1].cancel(with: TextError("disk full"))
    operations[2].cancel(forProcess: 123, ofUser: 1_000)
    queue.cancelAllOperations(with: TextError("shutting down"))
    let queueID = QueueReport.ID(queue.id.rawValue)
    for state in [MonitorProtocol.OperationState.cancelling, .cancelled] {
      if state == .cancelled {
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      }
      read(into: table)
      let reports = operations.compactMap { table.report(id($0)) }
      #expect(reports.allSatisfy { $0.state == state && $0.errorText == nil })
      #expect(
        reports.map(\.cancellationCause) == [
          .code(reason: nil), .code(reason: "disk full"),
          .viewer(CommandOrigin(processID: 123, userID: 1_000)),
          .queue(queueID, reason: "shutting down"),
        ])
    }
  }

  @Test("The causes lead from a dependent to the operation that has failed")
  func dependencyCauses() throws {
    let failed = InvocationOperation<Int> { throw TextError("disk full") }
    let second = BlockOperation {}
    let third = BlockOperation {}
    second.addDependency(failed, requires: .success)
    third.addDependency(second, requires: .success)
    let table = table(after: [third, second, failed])
    #expect(table.report(id(third))?.cancellationCause == .dependency(id(second)))
    #expect(table.report(id(second))?.cancellationCause == .dependency(id(failed)))
    #expect(table.report(id(failed))?.cancellationCause == nil)
  }

  @Test("The operations that explain the cancellation of a reported operation are reported too")
  func explanations() throws {
    let operations = (0..<5).map { number in
      let operation = BlockOperation {}
      operation.name = "job \(number)"
      return operation
    }
    for (first, second) in zip(operations, operations.dropFirst()) {
      second.addDependency(first, requires: .success)
    }
    operations[0].cancel()
    let table = table(after: operations)
    func reported(_ interest: Interest) throws -> Set<OperationReport.ID> {
      let session = SessionID(rawValue: 1)
      table.keepLists(of: [])
      table.keepList(for: session, interest, at: MonitorTime.now)
      let list = try #require(table.lists[session])
      list.fill(from: table, until: .now + .seconds(60))
      return Set(list.takeUpdate(from: table).changed.map(\.id))
    }
    let all = Set(operations.map(id))
    #expect(try reported(Interest(rowLimit: 0, operations: [id(operations[4])])) == all)
    #expect(try reported(Interest(filter: OperationFilter("name:4"), rowLimit: 100)) == all)
    #expect(try reported(Interest(rowLimit: 0, operations: [id(operations[0])])).count == 1)
  }

  @Test("A reason is described by the thread that reads the queue, outside the queue's lock, once")
  func reasonsAreDescribedOutsideTheLock() throws {
    let log = EventLog<String>()
    let operation = BlockOperation {}
    queue.addOperation(operation)
    operation.cancel(with: QueueError(queue, log))
    #expect(log.events.isEmpty)
    let table = CollectorTable()
    read(into: table)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    read(into: table)
    #expect(log.events == ["described by \(pthread_self())"])
    #expect(table.report(id(operation))?.cancellationCause == .code(reason: "1 operations"))
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
      retention: FinishedOperations.Retention(count: 3, age: .seconds(60)))
    read(into: table)
    table.prune(now: MonitorTime.now)
    #expect(table.entries.count == 3)
    table.prune(now: MonitorTime.now + .seconds(61))
    #expect(table.entries.isEmpty)
    #expect(table.queues.values.first?.counts.total == 5)
  }

  @Test("Operations that have failed or were cancelled can be kept longer than others")
  func unsuccessfulOperationsAreKeptLonger() {
    let failed = ResultOperation<Int> { throw TextError("bad") }
    let cancelled = (0..<2).map { _ in BlockOperation {} }
    for operation in cancelled { operation.cancel() }
    let others = (0..<3).map { _ in BlockOperation {} }
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = false
    for operation in [failed] + cancelled + others {
      queue.addOperations([operation], waitUntilFinished: true)
    }
    let table = CollectorTable(
      retention: FinishedOperations.Retention(count: 2, age: nil, unsuccessfulCount: 2))
    read(into: table)
    table.prune(now: MonitorTime.now + .seconds(1_000_000))
    let kept = (cancelled + others.dropFirst()).map(id)
    #expect(table.entries.keys.sorted() == kept.sorted() && table.keptFinishedCount == 4)
    #expect(Array(table.lastFinished(10)) == others.dropFirst().reversed().map(id))
    table.retention = FinishedOperations.Retention(count: 2, age: nil)
    table.prune(now: MonitorTime.now)
    #expect(table.entries.keys.sorted() == others.dropFirst().map(id).sorted())
  }
}

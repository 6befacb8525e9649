// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite("The recorded part of quick queues")
struct ReadingAllowanceTests {
  /// Runs a number of operations in a queue that may not record new operations, and returns the
  /// changes of the queue.
  private func changes(lost count: Int) -> QueueChanges {
    let queue = OperationQueue(unlistedNamed: "quick")
    let collector = CollectorID()
    queue.core.keepRecords(for: collector, replaces: true, newRecords: 0) {}
    for _ in 0..<count { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    defer { queue.core.dropRecords(of: collector) }
    return queue.takeChanges(for: collector, limit: 10)
  }

  @Test(
    "A queue that is not quick is recorded completely")
  func unhurried() {
    var allowance = ReadingAllowance()
    let changes = changes(lost: 0)
    for _ in 0..<3 {
      allowance.begin()
      let part = allowance.part(of: changes.id)
      #expect(part.adopting == .max && part.newRecords == ReadingAllowance.newRecords)
      let next = allowance.next(part, after: changes)
      #expect(next.adopting == .max && next.newRecords == nil, "said once in a reading")
    }
  }

  @Test("A part of a quick queue is recorded at once, and in the next reading from the start")
  func quick() {
    var allowance = ReadingAllowance()
    let changes = changes(lost: 400)
    allowance.begin()
    let first = allowance.next(allowance.part(of: changes.id), after: changes)
    #expect(first.adopting < ReadingAllowance.newRecords)
    allowance.begin()
    #expect(allowance.part(of: changes.id).adopting == first.adopting)
    allowance.begin()
    #expect(allowance.part(of: changes.id).adopting == .max, "it was not quick in between")
  }

  @Test("Short operations beside waiting ones do not make a queue quick")
  func trickle() {
    var allowance = ReadingAllowance()
    let changes = changes(lost: 10)
    allowance.begin()
    #expect(allowance.next(allowance.part(of: changes.id), after: changes).adopting == .max)
  }

  @Test("Quick queues share the number of new records, down to a few for each")
  func shared() {
    var allowance = ReadingAllowance()
    let some = (0..<4).map { _ in changes(lost: 400) }
    allowance.begin()
    for one in some { _ = allowance.next(allowance.part(of: one.id), after: one) }
    allowance.begin()
    let share = allowance.part(of: some[0].id).newRecords
    #expect(share == ReadingAllowance.newRecords / 4)
    let many = (0..<100).map { _ in changes(lost: 400) }
    for one in many { _ = allowance.next(allowance.part(of: one.id), after: one) }
    allowance.begin()
    #expect(allowance.part(of: some[0].id).newRecords.map { $0 >= 10 } == true)
  }

  @Test(
    "Unrecorded operations are reported as lost once, and as skipped events if events are requested"
  )
  func losses() throws {
    let table = CollectorTable()
    let early = SessionID(rawValue: 1)
    var interest = Interest()
    interest.eventLimit = 10
    table.keepList(for: early, interest, at: MonitorTime.now)
    table.beginReading()
    _ = table.lists[early]?.takeUpdate(from: table)
    table.isFirstReading = false
    table.beginReading()
    table.apply(changes(lost: 5))
    let late = SessionID(rawValue: 2)
    table.keepList(for: late, Interest(), at: MonitorTime.now)
    let reported = try #require(table.lists[early]?.takeUpdate(from: table))
    #expect(reported.lostChanges == 3 * 5 && reported.events?.skippedCount == 3 * 5)
    #expect(reported.warnings.contains { $0.kind == .historyLost && $0.count == 3 * 5 })
    let again = try #require(table.lists[early]?.takeUpdate(from: table))
    #expect(again.lostChanges == 3 * 5 && again.events?.skippedCount == 0)
    table.apply(changes(lost: 1))
    let other = try #require(table.lists[late]?.takeUpdate(from: table))
    #expect(other.lostChanges == 3, "it was not there before")
    #expect(!other.warnings.contains { $0.kind == .historyLost }, "it did not ask for events")
  }

  @Test(
    "State changes between the beginning of the recording and the first reading do not count as lost"
  )
  func lossesBeforeTheFirstReading() throws {
    MonitorLevel.raise()
    defer { MonitorLevel.lower() }
    let table = CollectorTable()
    let queue = OperationQueue(unlistedNamed: "earlier")
    queue.isSuspended = true
    queue.maxConcurrentOperationCount = 2
    queue.addOperations((0..<39).map { _ in BlockOperation {} }, waitUntilFinished: false)
    queue.core.keepRecords(for: table.collector, replaces: true, newRecords: 1_000) {}
    // The operations have no records until the first reading.
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    let session = SessionID(rawValue: 1)
    table.keepList(for: session, Interest(), at: MonitorTime.now)
    // A command before the first reading does not end it.
    table.takeUpAll(of: OperationQueue(unlistedNamed: "other"))
    table.beginReading()
    let first = queue.takeChanges(for: table.collector, limit: 1_024)
    #expect(first.lostSteps > 0)
    table.apply(first)
    #expect(try #require(table.lists[session]?.takeUpdate(from: table)).lostChanges == 0)
    table.isFirstReading = false
    queue.addOperations((0..<39).map { _ in BlockOperation {} }, waitUntilFinished: true)
    table.beginReading()
    table.apply(queue.takeChanges(for: table.collector, limit: 1_024))
    let update = try #require(table.lists[session]?.takeUpdate(from: table))
    #expect(update.lostChanges == 0 && update.queues.map(\.counts.finished).max() == 2 * 39)
  }

  @Test("A command finds every dependent that is in a queue, even if it is not known yet")
  func takesUpAll() {
    let table = CollectorTable()
    let queue = OperationQueue(unlistedNamed: "behind")
    queue.isSuspended = true
    queue.core.keepRecords(for: table.collector, replaces: true, newRecords: 0) {}
    let chain = (0..<3_000).map { _ in BlockOperation {} }
    for (before, after) in zip(chain, chain.dropFirst()) { after.addDependency(before) }
    queue.addOperations(chain, waitUntilFinished: false)
    table.beginReading()
    table.apply(queue.takeChanges(for: table.collector, limit: 10, adopting: 1))
    #expect(table.entries.count == 1)
    table.takeUpAll(of: queue)
    #expect(table.allDependents(of: [.init(chain[0])]).count == chain.count - 1)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    queue.core.dropRecords(of: table.collector)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsMonitor

@Suite("How much of quick queues is recorded")
struct ReadingAllowanceTests {
  /// A queue that runs so many operations unrecorded, if any, and what it says then.
  private func changes(lost count: Int) -> QueueChanges {
    let queue = OperationQueue(unlistedNamed: "quick")
    let recorder = RecorderID()
    queue.core.startRecording(recorder, replaces: true, newRecords: 0) {}
    for _ in 0..<count { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    defer { queue.core.stopRecording(recorder) }
    return queue.takeRecordedChanges(for: recorder, limit: 10)
  }

  @Test(
    "A queue that is not quick is taken up in full, and may have the whole number of new records")
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

  @Test("Of a quick queue a part is taken up at once, and in the next reading from the start")
  func quick() {
    var allowance = ReadingAllowance()
    let changes = changes(lost: 3)
    allowance.begin()
    let first = allowance.next(allowance.part(of: changes.id), after: changes)
    #expect(first.adopting < ReadingAllowance.newRecords)
    allowance.begin()
    #expect(allowance.part(of: changes.id).adopting == first.adopting)
    allowance.begin()
    #expect(allowance.part(of: changes.id).adopting == .max, "it was not quick in between")
  }

  @Test("Quick queues share the number of new records, down to a few for each")
  func shared() {
    var allowance = ReadingAllowance()
    let some = (0..<4).map { _ in changes(lost: 1) }
    allowance.begin()
    for one in some { _ = allowance.next(allowance.part(of: one.id), after: one) }
    allowance.begin()
    let share = allowance.part(of: some[0].id).newRecords
    #expect(share == ReadingAllowance.newRecords / 4)
    let many = (0..<100).map { _ in changes(lost: 1) }
    for one in many { _ = allowance.next(allowance.part(of: one.id), after: one) }
    allowance.begin()
    #expect(allowance.part(of: some[0].id).newRecords.map { $0 >= 10 } == true)
  }

  @Test(
    "What nobody recorded is told as lost to who was there, once, and as an event's loss to who asked"
  )
  func losses() throws {
    let table = CollectorTable()
    let early = SessionID(rawValue: 1)
    var interest = Interest()
    interest.eventLimit = 10
    table.keepList(for: early, interest, at: ProcessFacts.now)
    _ = table.lists[early]?.takeUpdate(from: table)
    table.beginReading()
    table.apply(changes(lost: 5))
    let late = SessionID(rawValue: 2)
    table.keepList(for: late, Interest(), at: ProcessFacts.now)
    let told = try #require(table.lists[early]?.takeUpdate(from: table))
    #expect(told.lostChanges == 3 * 5 && told.events?.skippedCount == 3 * 5)
    #expect(told.warnings.contains { $0.kind == .historyLost && $0.count == 3 * 5 })
    let again = try #require(table.lists[early]?.takeUpdate(from: table))
    #expect(again.lostChanges == 3 * 5 && again.events?.skippedCount == 0)
    table.apply(changes(lost: 1))
    let other = try #require(table.lists[late]?.takeUpdate(from: table))
    #expect(other.lostChanges == 3, "it was not there before")
    #expect(!other.warnings.contains { $0.kind == .historyLost }, "it did not ask for events")
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import Testing

@testable import OperationsCore

@Suite(
  "The line of callers that wait until a queue has few operations", .timeLimit(.minutes(5)))
struct AdmissionLineTests {
  private final class Caller: Waiter {
    let id: UInt64
    let number = Atomic(-1)
    init(_ id: UInt64) { self.id = id }
    func wake() {}
  }

  /// The time after which a place ends.
  private static let second: Int64 = 1_000_000_000

  /// Makes a caller arrive. Returns whether it is admitted at once.
  private func arrive(
    _ line: inout AdmissionLine, _ caller: Caller, limit: Int, count: Int, total: Int = 0,
    now: Int64 = 0
  ) -> Bool {
    let counts = QueueSnapshot.Counts(ready: count, total: total)
    let number = line.arrive(caller, limit: limit, caller.id, counts, now: now)
    caller.number.store(number ?? -1, ordering: .relaxed)
    return number == nil
  }

  /// Returns the ids of the callers that are admitted.
  private func admit(_ line: inout AdmissionLine, _ count: Int, at now: Int64 = 0) -> [UInt64] {
    let counts = QueueSnapshot.Counts(ready: count)
    return line.admit(counts, now: now).compactMap { ($0 as? Caller)?.id }
  }

  @Test("Callers are admitted at once until operations and places reach the limit")
  func places() {
    var line = AdmissionLine()
    let callers = (1...5).map { Caller($0) }
    let isAdmitted = callers.map { arrive(&line, $0, limit: 4, count: 1) }
    #expect(isAdmitted == [true, true, true, false, false])
    #expect(line.placeCount == 3 && line.isWaiting)
    line.operationWasAdded()
    #expect(line.placeCount == 2 && admit(&line, 2).isEmpty)
    #expect(admit(&line, 1) == [4])
    #expect(admit(&line, 0) == [5])
    #expect(!line.isWaiting && line.placeCount == 4)
  }

  @Test("A caller waits behind an earlier one, also if its own limit is higher")
  func order() {
    var line = AdmissionLine()
    let callers = (1...3).map { Caller($0) }
    #expect(!arrive(&line, callers[0], limit: 1, count: 2, now: 0))
    #expect(!arrive(&line, callers[1], limit: 9, count: 2, now: 0))
    #expect(admit(&line, 1).isEmpty)
    #expect(admit(&line, 0) == [1, 2])
  }

  @Test("A caller that leaves the line does not delay the callers behind it")
  func leaving() {
    var line = AdmissionLine()
    let callers = (1...3).map { Caller($0) }
    for caller in callers { #expect(!arrive(&line, caller, limit: 1, count: 1, now: 0)) }
    line.leave(callers[0].number.load(ordering: .relaxed))
    #expect(admit(&line, 0) == [2])
    line.leave(callers[1].number.load(ordering: .relaxed))
    #expect(!line.hasPlaces && admit(&line, 0) == [3])
    line.leave(callers[2].number.load(ordering: .relaxed))
    line.leave(callers[2].number.load(ordering: .relaxed))
    #expect(!line.isWaiting && !line.hasPlaces)
  }

  @Test("The place of a caller ends after its time, or when the caller arrives again")
  func ends() {
    var line = AdmissionLine()
    #expect(arrive(&line, Caller(1), limit: 1, count: 0, now: 0))
    var time = line.takeTimer()
    #expect(time == nil, "no caller waits")
    #expect(arrive(&line, Caller(1), limit: 1, count: 0, now: 10))
    let second = Caller(2)
    #expect(!arrive(&line, second, limit: 1, count: 0, now: 20))
    time = line.takeTimer()
    #expect(time == 10 + Self.second)
    time = line.takeTimer()
    #expect(time == nil)
    line.timeHasPassed(9 + Self.second)
    #expect(admit(&line, 0).isEmpty)
    time = line.takeTimer()
    #expect(time == 10 + Self.second)
    line.timeHasPassed(10 + Self.second)
    #expect(admit(&line, 0, at: 10 + Self.second) == [2])
  }

  @Test(
    "A caller that arrives again keeps its place if an operation was added, which may have taken another place"
  )
  func takenPlaces() {
    var line = AdmissionLine()
    #expect(arrive(&line, Caller(1), limit: 2, count: 0))
    #expect(arrive(&line, Caller(2), limit: 2, count: 0))
    // The second caller adds an operation, which takes the place of the first one. The first caller may still add one.
    line.operationWasAdded()
    #expect(!arrive(&line, Caller(2), limit: 2, count: 1, total: 1))
    #expect(line.placeCount == 1)
  }

  @Test("A limit below 1 counts as 1")
  func lowLimits() {
    for limit in [Int.min, -1, 0] {
      var line = AdmissionLine()
      #expect(arrive(&line, Caller(1), limit: limit, count: 0, now: 0))
      line.operationWasAdded()
      #expect(!arrive(&line, Caller(2), limit: limit, count: 1, now: 0))
    }
  }

  @Test("Closing releases all callers in the order of their arrival")
  func closing() {
    var line = AdmissionLine()
    let callers = (1...3).map { Caller($0) }
    for caller in callers { _ = arrive(&line, caller, limit: 1, count: 1) }
    line.leave(callers[1].number.load(ordering: .relaxed))
    let closed = line.close().compactMap { ($0 as? Caller)?.id }
    #expect(closed == [1, 3])
    #expect(!line.isWaiting && !line.hasPlaces)
  }
}

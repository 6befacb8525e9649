// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("The limit of a queue's starts", .timeLimit(.minutes(5)))
struct StartLimitTests {
  private static func limited(
    _ count: Int, per period: Duration = .seconds(1), _ clock: ManualClock
  ) -> OperationQueue {
    let queue = OperationQueue()
    queue.startLimit = OperationStartLimit(count, per: period, clock: clock)
    return queue
  }

  @Test("It starts the full number at once, and the next ones after a period")
  func periods() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<Int>())
      let queue = Self.limited(3, clock)
      for number in 0..<7 { queue.addOperation { log.note(number) } }
      log.wait(forCount: 3)
      clock.waitForSleeps(1)
      clock.advance(by: .milliseconds(999))
      #expect(log.events.count == 3 && queue.snapshot().counts.ready == 4)
      clock.advance(by: .milliseconds(1))
      log.wait(forCount: 6)
      clock.waitForSleeps(2)
      #expect(log.events.count == 6)
      clock.advance(by: .seconds(1))
      queue.waitUntilAllOperationsAreFinished()
      #expect(Set(log.events) == Set(0..<7))
    }
  }

  @Test("Operations start in the order of their priorities, and the width applies too")
  func orderAndWidth() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<Int>())
      let queue = Self.limited(2, clock)
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      for number in 0..<6 {
        let operation = BlockOperation { log.note(number) }
        operation.queuePriority = number.isMultiple(of: 2) ? .low : .high
        queue.addOperation(operation)
      }
      queue.isSuspended = false
      for round in 1...3 {
        log.wait(forCount: 2 * round)
        clock.waitForSleeps(round)
        clock.advance(by: .seconds(1))
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [1, 3, 5, 0, 2, 4])
    }
  }

  @Test("A full width, and not the limit, is the reason why an operation waits for a slot")
  func slotsAreFree() async throws {
    try await onOwnThread {
      let (clock, gate) = (ManualClock(), Gate())
      let queue = Self.limited(5, clock)
      queue.maxConcurrentOperationCount = 1
      queue.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      let next = BlockOperation {}
      queue.addOperation(next)
      guard case .noFreeSlot? = next.reasonsNotRunning().first else {
        Issue.record("\(next.reasonsNotRunning())")
        return
      }
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("The reason why an operation waits has the limit and the time of the next start")
  func reason() async throws {
    try await onOwnThread {
      let clock = ManualClock()
      let queue = Self.limited(1, per: .seconds(10), clock)
      queue.name = "mail"
      queue.addOperation {}
      let next = BlockOperation {}
      queue.addOperation(next)
      clock.waitForSleeps(1)
      clock.advance(by: .milliseconds(7_500))
      let limit = try #require(queue.startLimit)
      let reference = QueueReference(queue)
      #expect(
        next.reasonsNotRunning() == [
          .startLimitReached(
            reference, limit: limit, position: 0, nextStartIn: .milliseconds(2_500))
        ])
      #expect(
        next.reasonsNotRunning().map(\.description) == [
          "it is ready, number 1 in \(reference), and the limit of starts (1 per 10 seconds) is "
            + "reached: the next start is possible in 2.5 s"
        ])
      #expect(queue.snapshot().startLimit == limit && queue.deadlocks().isEmpty)
      clock.advance(by: .seconds(3))
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A monitor reads whether the limit is reached, and is woken when it no longer is")
  func monitor() async throws {
    try await onOwnThread {
      let (clock, wakes) = (ManualClock(), EventLog<Int>())
      let (queue, dispatchQueue) = (Self.limited(1, clock), DispatchQueue(label: "blocked"))
      queue.underlyingQueue = dispatchQueue
      let collector = CollectorID()
      MonitorLevel.raise()
      defer { MonitorLevel.lower() }
      queue.core.keepRecords(for: collector, replaces: true) { wakes.note(0) }
      // After the first operation, the dispatch queue runs nothing.
      queue.addOperation { dispatchQueue.suspend() }
      queue.addOperation {}
      clock.waitForSleeps(1)
      var wakeCount = 0
      func read(until isExpected: (QueueChanges) -> Bool) -> QueueChanges {
        while true {
          let changes = queue.takeChanges(for: collector, limit: .max)
          guard !isExpected(changes), wakes.wait(forCount: wakeCount + 1) else { return changes }
          wakeCount = wakes.events.count
        }
      }
      #expect(read { $0.counts.finished == 1 }.isStartLimitReached)
      clock.advance(by: .seconds(1))
      #expect(read { !$0.isStartLimitReached }.counts.ready == 1)
      dispatchQueue.resume()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A cancelled operation finishes at once and does not count")
  func cancellation() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<String>())
      let queue = Self.limited(1, clock)
      queue.addOperation { log.note("first") }
      log.wait(forCount: 1)
      let operations = (0..<20).map { _ in BlockOperation { Issue.record("It ran") } }
      queue.addOperations(operations, waitUntilFinished: false)
      for operation in operations { operation.cancel() }
      for operation in operations { operation.waitUntilFinished() }
      queue.addOperation { log.note("second") }
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(1))
      queue.waitUntilAllOperationsAreFinished()
      clock.waitForSleeps(2)
      #expect(log.events == ["first", "second"] && clock.sleeps.count == 2)
    }
  }

  @Test("A barrier counts as a start, and a cancelled barrier does not")
  func barriers() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<String>())
      let queue = Self.limited(1, clock)
      queue.addOperation { log.note("before") }
      queue.addBarrierBlock { log.note("barrier") }
      queue.addOperation { log.note("behind") }
      for round in 1...2 {
        log.wait(forCount: round)
        clock.waitForSleeps(round)
        clock.advance(by: .seconds(1))
      }
      log.wait(forCount: 3)
      clock.waitForSleeps(3)
      queue.addBarrierBlock { Issue.record("A cancelled barrier ran") }
      queue.cancelAllOperations()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["before", "barrier", "behind"])
    }
  }

  @Test("It applies to every kind of operation, and to each attempt that the queue starts")
  func kinds() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<String>())
      let queue = Self.limited(1, clock)
      let asynchronous = AsyncOperation { log.note("asynchronous") }
      let result = ResultOperation(name: "result") { log.note("result") }
      let observed = BlockOperation { log.note("observed") }
      let observation = observed.observe(\.isFinished) { _, _ in }
      let exclusive = BlockOperation { log.note("exclusive") }
      exclusive.exclusions = [MutualExclusion(name: "one")]
      for operation in [asynchronous, result, observed, exclusive] { queue.addOperation(operation) }
      for round in 1...4 {
        log.wait(forCount: round)
        clock.waitForSleeps(round)
        #expect(log.events.count == round)
        clock.advance(by: .seconds(1))
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(Set(log.events).count == 4)
      observation.invalidate()
    }
  }

  @Test("An operation that turns out not to be ready does not count")
  func withdrawn() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<String>())
      let queue = Self.limited(1, clock)
      let exclusion = MutualExclusion(name: "one")
      let gate = Gate()
      let holder = BlockOperation { gate.pass() }
      holder.exclusions = [exclusion]
      let other = OperationQueue()
      other.addOperation(holder)
      gate.waitForArrivals(1)
      let excluded = BlockOperation { log.note("excluded") }
      excluded.exclusions = [exclusion]
      queue.addOperation(excluded)
      queue.addOperation { log.note("free") }
      log.wait(for: "free")
      gate.open()
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(1))
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["free", "excluded"])
    }
  }

  @Test("Setting, replacing and removing it takes effect on operations that wait")
  func changes() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<Int>())
      let queue = Self.limited(1, per: .seconds(3_600), clock)
      for number in 0..<10 { queue.addOperation { log.note(number) } }
      log.wait(forCount: 1)
      clock.waitForSleeps(1)
      queue.startLimit = queue.startLimit
      #expect(log.events.count == 1)
      queue.startLimit = OperationStartLimit(4, per: .seconds(3_600), clock: clock)
      log.wait(forCount: 5)
      // The clock does not move, so no further operation starts.
      #expect(log.events.count == 5)
      queue.startLimit = nil
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.startLimit == nil && Set(log.events).count == 10)
    }
  }

  @Test("It applies to a queue with an underlying queue", arguments: [true, false])
  func underlyingQueue(isSerial: Bool) async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<Int>())
      let queue = Self.limited(2, clock)
      queue.underlyingQueue = DispatchQueue(
        label: "starts", attributes: isSerial ? [] : .concurrent)
      for number in 0..<6 { queue.addOperation { log.note(number) } }
      for round in 1...3 {
        log.wait(forCount: 2 * round)
        clock.waitForSleeps(round)
        #expect(log.events.count == 2 * round)
        clock.advance(by: .seconds(1))
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A released queue releases its clock, however long the period is")
  func release() async throws {
    try await onOwnThread {
      weak var released: ManualClock?
      do {
        let clock = ManualClock()
        released = clock
        let queue = Self.limited(1, per: .seconds(Int64.max), clock)
        queue.addOperation {}
        queue.waitUntilAllOperationsAreFinished()
        clock.waitForSleeps(1)
      }
      while released != nil { sched_yield() }
    }
  }

  @Test("A limit that is removed while an operation starts is released")
  func removalDuringStarts() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(500) {
        weak var released: ManualClock?
        do {
          let clock = ManualClock()
          released = clock
          let queue = Self.limited(1, per: .seconds(Int64.max), clock)
          onThreads(2) { thread in
            if thread == 0 { queue.addOperation {} } else { queue.startLimit = nil }
          }
          queue.waitUntilAllOperationsAreFinished()
        }
        while released != nil { sched_yield() }
      }
    }
  }

  @Test("Counts and periods outside their ranges are replaced by the nearest values")
  func ranges() {
    #expect(OperationStartLimit(0).count == 1 && OperationStartLimit(-5).count == 1)
    #expect(OperationStartLimit(1, per: .zero).period == .nanoseconds(1))
    #expect(OperationStartLimit(1, per: .seconds(Int64.max)).period == .seconds(3_153_600_000))
  }

  @Test("Limits are equal if their counts, periods and clocks are")
  func equality() {
    let clock = ManualClock()
    #expect(OperationStartLimit(5) == OperationStartLimit(5))
    #expect(OperationStartLimit(5) != OperationStartLimit(5, clock: SuspendingClock()))
    #expect(OperationStartLimit(5, clock: clock) == OperationStartLimit(5, clock: clock))
    #expect(OperationStartLimit(5, clock: clock) != OperationStartLimit(5, clock: ManualClock()))
    #expect(OperationStartLimit(5) != OperationStartLimit(6))
    #expect(OperationStartLimit(5) != OperationStartLimit(5, per: .seconds(2)))
    #expect(OperationStartLimit(100, per: .seconds(60)).description == "100/min")
  }

  @Test(
    "The text of a limit has decimals only if the period is not a whole number of seconds",
    arguments: [
      (Duration.seconds(1), "3/s"), (.seconds(60), "3/min"), (.seconds(3_600), "3/h"),
      (.seconds(86_400), "3/day"), (.seconds(2), "3 per 2 seconds"),
      (.seconds(10), "3 per 10 seconds"), (.seconds(1.5), "3 per 1.5 seconds"),
      (.milliseconds(250), "3 per 0.25 seconds"),
    ])
  func text(period: Duration, words: String) {
    #expect(OperationStartLimit(3, per: period).description == words)
  }

  @Test("In real time, no period has more starts than the limit allows")
  func realTime() async throws {
    let (count, period) = (20, Duration.seconds(1))
    let log = EventLog<ContinuousClock.Instant>()
    let queue = OperationQueue()
    queue.startLimit = OperationStartLimit(count, per: period)
    for _ in 0..<60 { queue.addOperation { log.note(.now) } }
    await queue.waitUntilAllOperationsAreFinished()
    let starts = log.events.sorted()
    // A thread can be delayed between its start and its note, but not by most of a period.
    for (first, last) in zip(starts, starts.dropFirst(count)) {
      #expect(last - first > period / 2)
    }
    #expect(try #require(starts.last) - starts[0] >= period)
  }
}

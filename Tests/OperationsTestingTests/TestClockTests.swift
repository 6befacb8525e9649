// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import OperationsTesting
import TestSupport
import Testing

@Suite("The clock that a test moves", .timeLimit(.minutes(5)))
struct TestClockTests {
  private struct AttemptError: Error {}

  @Test("The time stands still until it is advanced, and never goes back")
  func standsStill() {
    let clock = TestClock()
    #expect(clock.now == TestClock.Instant())
    clock.advance(by: .seconds(3))
    clock.advance(by: .seconds(-2))
    #expect(clock.now.offset == .seconds(3) && "\(clock.now)" == "3.0 seconds")
  }

  @Test("Sleeps end at their deadlines, and a sleep whose deadline has passed ends at once")
  func sleeps() async throws {
    let (clock, log) = (TestClock(), EventLog<Int>())
    try await clock.sleep(until: clock.now)
    let tasks = [5, 3, 9].map { seconds in
      Task {
        try await clock.sleep(for: .seconds(seconds))
        log.note(seconds)
      }
    }
    await clock.waitForSleepers(3)
    #expect(clock.deadlines.map(\.offset) == [.seconds(3), .seconds(5), .seconds(9)])
    clock.advance(by: .seconds(3))
    try await tasks[1].value
    #expect(log.events == [3])
    clock.advance(by: .seconds(100))
    for task in tasks { try await task.value }
    #expect(Set(log.events) == [3, 5, 9] && clock.now.offset == .seconds(103))
  }

  @Test("Advancing to the next deadline ends only the sleeps with this deadline")
  func nextDeadline() async throws {
    let clock = TestClock()
    #expect(!clock.advanceToNextDeadline())
    let tasks = [2, 2, 4].map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
    await clock.waitForSleepers(3)
    #expect(clock.advanceToNextDeadline() && clock.now.offset == .seconds(2))
    #expect(clock.deadlines.map(\.offset) == [.seconds(4)])
    #expect(clock.advanceToNextDeadline() && clock.now.offset == .seconds(4))
    for task in tasks { try await task.value }
  }

  @Test("A cancelled sleep throws, also if it is cancelled before it begins")
  func cancellation() async throws {
    let clock = TestClock()
    let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers()
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      try await clock.sleep(for: .seconds(1))
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
    #expect(clock.deadlines.isEmpty)
  }

  @Test("A cancelled wait for sleepers returns")
  func cancelledWait() async {
    let clock = TestClock()
    let waiting = Task { await clock.waitForSleepers(2) }
    waiting.cancel()
    await waiting.value
  }

  @Test("It runs an operation with many delays to its end")
  func runs() async {
    let (clock, queue) = (TestClock(), OperationQueue())
    let operation = RetryOperation<Int>(
      maximumAttempts: 5, delay: { .seconds(1 << $0) }, clock: clock
    ) { _ in AsyncOperation { throw AttemptError() } }
    queue.addOperation(operation)
    await clock.run(untilFinished: operation)
    #expect(operation.error is AttemptError && clock.now.offset == .seconds(2 + 4 + 8 + 16))
  }

  @Test("It moves the time limit of a timeout")
  func timeout() async {
    let (clock, queue) = (TestClock(), OperationQueue())
    let operation = TimeoutOperation(after: .seconds(10), clock: clock) {
      AsyncOperation { try await TestClock().sleep(for: .seconds(1)) }
    }
    queue.addOperation(operation)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(10))
    await #expect(throws: OperationTimeoutError.self) { try await operation.value }
  }

  @Test("It moves delays and limits of starts")
  func delaysAndLimits() async {
    let (clock, queue, log) = (TestClock(), OperationQueue(), EventLog<String>())
    queue.startLimit = OperationStartLimit(1, per: .seconds(60), clock: clock)
    let delayed = queue.addOperation(delay: .seconds(90), clock: clock) { log.note("delayed") }
    let first = BlockOperation { log.note("first") }
    queue.addOperation(first)
    await first.waitUntilFinished()
    let second = BlockOperation { log.note("second") }
    queue.addOperation(second)
    clock.advance(by: .seconds(60))
    await second.waitUntilFinished()
    clock.advance(by: .seconds(60))
    await delayed.waitUntilFinished()
    #expect(log.events == ["first", "second", "delayed"])
  }
}

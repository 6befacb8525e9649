// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Retries", .timeLimit(.minutes(5)))
struct RetryOperationTests {
  private struct AttemptError: Error, Equatable {
    let attempt: Int
  }

  @Test("It retries until it succeeds, one attempt after the other, in one slot")
  func succeedsAtLast() async throws {
    let log = EventLog<Int>()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let operation = RetryOperation(maximumAttempts: 5) { attempt in
      AsyncOperation {
        log.note(attempt)
        if attempt < 3 { throw AttemptError(attempt: attempt) }
        return "at last"
      }
    }
    queue.addOperation(operation)
    #expect(try await operation.value == "at last")
    #expect(log.events == [1, 2, 3])
  }

  @Test("The error of the last attempt is the result", arguments: [1, 2, 4])
  func fails(maximumAttempts: Int) async throws {
    let log = EventLog<Int>()
    let operation = RetryOperation<Int>(maximumAttempts: maximumAttempts) { attempt in
      AsyncOperation {
        log.note(attempt)
        throw AttemptError(attempt: attempt)
      }
    }
    operation.start()
    await #expect(throws: AttemptError(attempt: maximumAttempts)) { try await operation.value }
    #expect(log.events == Array(1...maximumAttempts))
    #expect(operation.error as? AttemptError == AttemptError(attempt: maximumAttempts))
  }

  @Test("Between two attempts it waits for the given delay, on the given clock")
  func delays() async throws {
    try await onOwnThread {
      let clock = ManualClock()
      let log = EventLog<Int>()
      let operation = RetryOperation<Int>(
        maximumAttempts: 3, delay: { .seconds(10 * $0) }, clock: clock
      ) { attempt in
        AsyncOperation {
          log.note(attempt)
          throw AttemptError(attempt: attempt)
        }
      }
      operation.start()
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(9))
      #expect(clock.sleeperCount == 1 && log.events == [1] && operation.isExecuting)
      clock.advance(by: .seconds(1))
      clock.waitForSleeps(2)
      clock.advance(by: .seconds(20))
      operation.waitUntilFinished()
      #expect(log.events == [1, 2, 3])
      #expect(clock.sleeps == [.seconds(10), .seconds(20)], "No delay follows the last attempt")
    }
  }

  @Test("It does not retry after an excluded error or a cancelled attempt")
  func predicate() async {
    let fussy = RetryOperation<Int>(
      maximumAttempts: 5, shouldRetry: { ($0 as? AttemptError)?.attempt != 2 }
    ) { attempt in
      AsyncOperation { throw AttemptError(attempt: attempt) }
    }
    fussy.start()
    await #expect(throws: AttemptError(attempt: 2)) { try await fussy.value }
    let count = Monitored(0)
    let cancelled = RetryOperation<Int>(maximumAttempts: 5) { _ in
      count.change { $0 += 1 }
      return AsyncOperation { throw CancellationError() }
    }
    cancelled.start()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(count.value == 1)
  }

  @Test("CA-8: cancelling it cancels the current attempt, and no other follows")
  func cancelledInAnAttempt() async throws {
    try await onOwnThread {
      let gate = AsyncGate()
      let operation = RetryOperation<Void>(maximumAttempts: 3, shouldRetry: { _ in true }) { _ in
        AsyncOperation { try await gate.passUnlessCancelled() }
      }
      OperationQueue().addOperation(operation)
      gate.waitForArrivals(1)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(gate.arrivedCount == 1)
      #expect(throws: CancellationError.self) { try operation.result?.get() }
    }
  }

  @Test("CA-8: cancelling it ends the pause between two attempts")
  func cancelledInThePause() async throws {
    try await onOwnThread {
      let clock = ManualClock()
      let count = Monitored(0)
      let operation = RetryOperation<Int>(
        maximumAttempts: 3, delay: { _ in .seconds(1) }, clock: clock
      ) { attempt in
        count.change { $0 += 1 }
        return AsyncOperation { throw AttemptError(attempt: attempt) }
      }
      operation.start()
      clock.waitForSleeps(1)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(throws: CancellationError.self) { try operation.result?.get() }
      #expect(count.value == 1 && clock.sleeperCount == 0)
    }
  }

  @Test("CA-8: cancel races attempts: it ends, and no attempt outlives it")
  func cancelRacesAttempts() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      var random = SeededGenerator(seed: seed)
      for _ in 0..<Effort.scaled(500) {
        let running = Monitored(0)
        let operation = RetryOperation<Int>(maximumAttempts: 20) { attempt in
          AsyncOperation {
            running.change { $0 += 1 }
            await Task.yield()
            running.change { $0 -= 1 }
            throw AttemptError(attempt: attempt)
          }
        }
        let spins = Int.random(in: 0..<2_000, using: &random)
        operation.start()
        for _ in 0..<spins { _ = operation.isExecuting }
        operation.cancel()
        operation.waitUntilFinished()
        #expect(running.value == 0)
      }
    }
  }

  @Test("H-5: the captures of the factory are released when it has finished")
  func released() async throws {
    let log = EventLog<String>()
    let operation: RetryOperation<Int>
    do {
      let probe = DeinitProbe("released", in: log)
      operation = RetryOperation(maximumAttempts: 2) { _ in
        probe.touch()
        return AsyncOperation { 1 }
      }
    }
    operation.start()
    _ = try await operation.value
    #expect(log.events == ["released"])
  }

  @Test("SA-4: an attempt that cannot be started is reported as a misuse")
  func attemptThatIsNotReadyInOwnProcess() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = RetryOperation<Int>(maximumAttempts: 2) { _ in
        let attempt = AsyncOperation { 1 }
        attempt.addDependency(Operation())
        return attempt
      }
      operation.start()
      await operation.waitUntilFinished()
    }
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(printed.contains("cannot be started: it is not yet ready to execute"))
  }
}

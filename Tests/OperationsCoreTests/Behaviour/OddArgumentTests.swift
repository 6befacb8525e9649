// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Huge, negative and zero arguments", .timeLimit(.minutes(5)))
struct OddArgumentTests {
  private static let durations: [Duration] = [
    .seconds(Int64.max), .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1),
    .seconds(1_000_000_000_000), .milliseconds(Int64.max), .seconds(Int64.max) * 3,
    .seconds(Int64.min) * 3,
  ]
  private static let numbers = [Int.min, -1_000, -2, -1, 0, 1, 1_000_000, Int.max]

  @Test("H-15: a negative time limit counts as zero, and the longest one never ends")
  func limits() async throws {
    for limit in Self.durations {
      let gate = AsyncGate()
      let operation = TimeoutOperation(after: limit) {
        AsyncOperation { try await gate.passUnlessCancelled() }
      }
      operation.start()
      if limit > .seconds(1) {
        try await onOwnThread { gate.waitForArrivals(1) }
        #expect(operation.isExecuting && !operation.isFinished)
        gate.open()
        try await operation.value
      } else {
        await #expect(throws: OperationTimeoutError(limit: limit)) { try await operation.value }
      }
    }
  }

  @Test("H-15: the pause of a retry", arguments: durations)
  func pauses(pause: Duration) async throws {
    struct Failure: Error {}
    let attempts = Monitored(0)
    let hasFailed = Gate()
    let delay: @Sendable (Int) -> Duration = { _ in
      hasFailed.open()
      return pause
    }
    let operation = RetryOperation(maximumAttempts: 2, delay: delay) { _ in
      AsyncOperation {
        if attempts.change({
          $0 += 1; return $0
        }) == 1 {
          throw Failure()
        }
      }
    }
    operation.start()
    if pause > .seconds(1) {
      _ = hasFailed.waitUntilOpen()
      operation.cancel()
      await #expect(throws: CancellationError.self) { try await operation.value }
      #expect(attempts.value == 1)
    } else {
      try await operation.value
      #expect(attempts.value == 2)
    }
  }

  @Test("H-15: the number of attempts", arguments: numbers)
  func attempts(number: Int) async throws {
    struct Failure: Error {}
    let attempts = Monitored(0)
    let operation = RetryOperation(maximumAttempts: number) { _ in
      AsyncOperation {
        if attempts.change({
          $0 += 1; return $0
        }) < 3 {
          throw Failure()
        }
      }
    }
    operation.start()
    if number >= 3 {
      try await operation.value
    } else {
      await #expect(throws: Failure.self) { try await operation.value }
    }
    #expect(attempts.value == min(3, max(1, number)))
  }

  @Test("H-15, MX-3: the width of a queue, and of a group", arguments: numbers)
  func widths(width: Int) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let group = GroupOperation([BlockOperation {}])
      let mistakes = OperationMisuse.catching {
        queue.maxConcurrentOperationCount = width
        group.maxConcurrentOperationCount = width
      }
      let isValid = width >= -1
      #expect(mistakes.map(\.kind) == (isValid ? [] : [.negativeWidth, .negativeWidth]))
      #expect(queue.maxConcurrentOperationCount == (isValid ? width : -1))
      #expect(group.maxConcurrentOperationCount == (isValid ? width : -1))
      let operation = BlockOperation {}
      queue.addOperations([operation, group], waitUntilFinished: false)
      if width == 0 {
        #expect(operation.state == .ready)
        queue.maxConcurrentOperationCount = 1
        group.maxConcurrentOperationCount = 1
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("H-15: the number of a priority", arguments: numbers)
  func priorities(number: Int) {
    let priority = Operation.QueuePriority(rawValue: number)
    let expected: Operation.QueuePriority =
      number >= 8 ? .veryHigh : number <= -8 ? .veryLow : .normal
    #expect(priority == expected)
  }

  @Test("H-15: the buffer of a subscription", arguments: numbers)
  func buffers(capacity: Int) async throws {
    let queue = OperationQueue()
    let changes = queue.stateChanges(bufferingOldest: capacity)
    try await onOwnThread {
      queue.addOperations((0..<10).map { _ in BlockOperation {} }, waitUntilFinished: true)
    }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() != nil)
  }
}

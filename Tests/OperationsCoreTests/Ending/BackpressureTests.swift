// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Waiting until a queue has few operations", .timeLimit(.minutes(10)))
struct BackpressureTests {
  @Test(
    "A caller continues without delay below the limit, and otherwise when an operation finishes")
  func waits() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gates = [Gate(), Gate()]
      let log = EventLog<String>()
      #expect(queue.waitUntilOperationCount(isBelow: 1))
      for gate in gates { queue.addOperation { gate.pass() } }
      startThread {
        #expect(queue.waitUntilOperationCount(isBelow: 2))
        log.note("continued")
      }
      queue.waitForLine(1)
      #expect(log.events.isEmpty)
      gates[0].open()
      log.wait(for: "continued")
      #expect(queue.operationCount == 1)
      gates[1].open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Threads and tasks continue in the order of their arrival, one for each free place")
  func order() async throws {
    let queue = OperationQueue()
    queue.keepPlaces()
    queue.maxConcurrentOperationCount = 1
    let log = EventLog<Int>()
    let gate = Gate()
    queue.addOperation { gate.pass() }
    for number in 0..<6 {
      let add: @Sendable () -> Void = {
        log.note(number)
        queue.addOperation {}
      }
      if number.isMultiple(of: 2) {
        Task {
          try await queue.waitUntilOperationCount(isBelow: 1)
          add()
        }
      } else {
        startThread {
          queue.waitUntilOperationCount(isBelow: 1)
          add()
        }
      }
      try await onOwnThread { queue.waitForLine(number + 1) }
    }
    gate.open()
    try await onOwnThread {
      log.wait(forCount: 6)
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(log.events == [0, 1, 2, 3, 4, 5])
  }

  @Test("A cancelled task leaves the line at once, and the callers behind it are not delayed")
  func cancellation() async throws {
    let queue = OperationQueue()
    let gate = Gate()
    queue.addOperation { gate.pass() }
    let first = Task { try await queue.waitUntilOperationCount(isBelow: 1) }
    try await onOwnThread { queue.waitForLine(1) }
    let second = Task { try await queue.waitUntilOperationCount(isBelow: 1) }
    try await onOwnThread { queue.waitForLine(2) }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(queue.lineCount == 1)
    gate.open()
    try await second.value
    #expect(queue.lineCount == 0)
    let third = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await queue.waitUntilOperationCount(isBelow: 1)
    }
    await #expect(throws: CancellationError.self) { try await third.value }
  }

  @Test("Closing the queue releases the waiting callers: threads get false, and tasks an error")
  func closing() async throws {
    let queue = OperationQueue(name: "net")
    let gate = Gate()
    queue.addOperation { gate.pass() }
    let results = EventLog<Bool>()
    startThread { results.note(queue.waitUntilOperationCount(isBelow: 1)) }
    let task = Task { try await queue.waitUntilOperationCount(isBelow: 1) }
    try await onOwnThread { queue.waitForLine(2) }
    let closing = Task { await queue.shutdown() }
    await #expect(throws: OperationQueueClosedError(queue: queue.id, name: "net")) {
      try await task.value
    }
    try await onOwnThread { _ = results.wait(for: false) }
    gate.open()
    await closing.value
    try await onOwnThread { #expect(!queue.waitUntilOperationCount(isBelow: 1)) }
    await #expect(throws: OperationQueueClosedError.self) {
      try await queue.waitUntilOperationCount(isBelow: 5)
    }
  }

  @Test("A caller that adds nothing delays another one for a second at most, and itself not at all")
  func unusedPlaces() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      let start = ContinuousClock.now
      for _ in 0..<1_000 { queue.waitUntilOperationCount(isBelow: 1) }
      startThread {
        queue.waitUntilOperationCount(isBelow: 1)
        log.note("continued")
      }
      log.wait(for: "continued")
      #expect(ContinuousClock.now - start < .seconds(30))
    }
  }

  @Test(
    "A wait for an empty queue inside one of its operations is a misuse; a higher limit is none")
  func insideOwnQueue() async throws {
    let queue = OperationQueue()
    let log = EventLog<OperationMisuse.Kind>()
    queue.addOperation {
      #expect(queue.waitUntilOperationCount(isBelow: 2))
      let mistakes = OperationMisuse.catching { queue.waitUntilOperationCount(isBelow: 1) }
      for mistake in mistakes { log.note(mistake.kind) }
    }
    await queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == [.waitInsideOwnQueue])
  }

  @Test("Tasks and threads that wait before they add never exceed the limit", .oneAtATime)
  func bound() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(30) {
      let limit = [1, 3, 100].randomElement(using: &random) ?? 1
      let queue = OperationQueue()
      queue.keepPlaces()
      queue.maxConcurrentOperationCount = [1, 4].randomElement(using: &random) ?? 1
      let most = Monitored(0)
      let ran = Monitored(0)
      let add: @Sendable () -> Void = {
        queue.addOperation { ran.change { $0 += 1 } }
        let count = queue.operationCount
        most.change { $0 = max($0, count) }
      }
      let seed = random.next()
      let cancelledCount = try await withThrowingTaskGroup(of: Bool.self) { group in
        var random = SeededGenerator(seed: seed)
        group.addTask {
          try await onOwnThread {
            onThreads(4) { _ in
              for _ in 0..<50 where queue.waitUntilOperationCount(isBelow: limit) { add() }
            }
          }
          return false
        }
        for _ in 0..<400 {
          // A cancelled task may leave the place of another caller behind until the end of its time. So with few
          // places, no task is cancelled.
          let number = Int.random(in: 0..<8, using: &random)
          let isCancelled = number == 0 && limit != 3
          group.addTask {
            let task = Task {
              try await queue.waitUntilOperationCount(isBelow: limit)
              add()
            }
            if isCancelled { task.cancel() }
            do {
              try await task.value
              return false
            } catch {
              return true
            }
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      await queue.waitUntilAllOperationsAreFinished()
      #expect(most.value <= limit)
      #expect(ran.value == 600 - cancelledCount)
      #expect(queue.lineCount == 0)
    }
  }
}

extension OperationQueue {
  /// The number of callers that wait until the queue has few operations.
  fileprivate final var lineCount: Int {
    core.withScheduler { scheduler, _ in scheduler.admissions.waitingCount }
  }

  /// Makes the places of admitted callers last so long that a slow machine does not end them.
  fileprivate final func keepPlaces() {
    core.withScheduler { scheduler, _ in
      scheduler.admissions.placeNanoseconds = 600_000_000_000
    }
  }

  /// Blocks the calling thread until a number of callers wait.
  fileprivate final func waitForLine(_ count: Int) {
    let isTrue = poll(for: .seconds(60), pausing: true) { lineCount == count }
    #expect(isTrue, "\(lineCount) instead of \(count) callers wait")
  }
}

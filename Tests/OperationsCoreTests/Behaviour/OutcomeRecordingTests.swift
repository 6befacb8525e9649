// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import TestSupport
import Testing

@testable import OperationsCore

private struct Mishap: Error {}

/// Tests of the records of a queue: the causes of cancellations, the attempts of a retry, and kinds.
@Suite("Recording of outcomes")
struct OutcomeRecordingTests {
  /// Records the changes of these queues while `body` runs.
  private func recording(
    _ queues: OperationQueue..., body: @escaping @Sendable (CollectorID) throws -> Void
  ) async throws {
    try await onOwnThread {
      try keepingRecords(of: queues, body: body)
    }
  }

  private func makeQueue() -> OperationQueue { OperationQueue(unlistedNamed: "test") }

  private func record(
    of operation: Operation, in queue: OperationQueue, _ collector: CollectorID
  ) -> RecordedOperation? {
    queue.takeChanges(for: collector, limit: 1_000).changed.last { $0.id == operation.id }
  }

  // MARK: Counts

  @Test(
    "A recorded finish is in the counts, even before the operation has left its slot",
    arguments: ["succeeds", "fails", "is cancelled"])
  func countsFollowRecords(end: String) async throws {
    let queue = makeQueue()
    try await recording(queue) { collector in
      let first = InvocationOperation<Void> {
        if end == "is cancelled" { queue.operations.first?.cancel() }
        if end == "fails" { throw Mishap() }
      }
      let second = BlockOperation {}
      second.addDependency(first)
      let seen = Locked<QueueSnapshot.Counts?>(nil)
      // The first operation notifies its dependents before it leaves its slot.
      let observation = second.observe(\.isReady, options: [.new]) { _, change in
        guard change.newValue == true else { return }
        let changes = queue.takeChanges(for: collector, limit: 10)
        #expect(changes.changed.last { $0.id == first.id }?.state == .finished)
        seen.withLock { $0 = changes.counts }
      }
      queue.addOperations([first, second], waitUntilFinished: true)
      observation.invalidate()
      let isCancelled = end == "is cancelled"
      let counts = try #require(seen.withLock { $0 })
      #expect(counts.executing == 0 && counts.cancelling == 0 && counts.total == 2)
      #expect(counts.finished == (isCancelled ? 0 : 1) && counts.cancelled == (isCancelled ? 1 : 0))
      #expect(counts.failed == (end == "fails" ? 1 : 0))
      let last = queue.takeChanges(for: collector, limit: 10).counts
      #expect(last == queue.snapshot().counts && last.finished + last.cancelled == 2)
    }
  }

  // MARK: Causes of cancellations

  @Test("The cause of a cancellation is code, all operations of the queue, or a viewer")
  func causes() async throws {
    let queue = makeQueue()
    queue.isSuspended = true
    try await recording(queue) { collector in
      let operations = (0..<4).map { _ in BlockOperation {} }
      queue.addOperations(operations, waitUntilFinished: false)
      operations[0].cancel()
      operations[1].cancel(with: Mishap())
      operations[2].cancel(forProcess: 4711, ofUser: 1_000)
      // Only the first cancellation has an effect.
      operations[2].cancel()
      queue.cancelAllOperations()
      let changed = queue.takeChanges(for: collector, limit: 100).changed
      let causes = Dictionary(
        uniqueKeysWithValues: changed.map { ($0.id, $0.cancellationCause) })
      #expect(
        operations.map { causes[$0.id] } == [
          .code, .code, .viewer(processID: 4711, userID: 1_000), .queue(queue.id),
        ])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      let last = queue.takeChanges(for: collector, limit: 100).changed
      #expect(last.allSatisfy { $0.cancellationCause == causes[$0.id] && $0.isCancelled })
    }
  }

  @Test("The reason of a cancellation is recorded once, and a reason that is given later is not")
  func reasons() async throws {
    let queue = makeQueue()
    queue.isSuspended = true
    try await recording(queue) { collector in
      func reasons() -> Set<OperationID> {
        let changes = queue.takeChanges(for: collector, limit: 100)
        #expect(changes.errors.values.allSatisfy { $0 is Mishap })
        return Set(changes.errors.keys.map { changes.changed[$0].id })
      }
      let operations = (0..<5).map { _ in BlockOperation {} }
      queue.addOperations(operations, waitUntilFinished: false)
      operations[0].cancel(with: Mishap())
      operations[1].cancel()
      operations[2].cancel(forProcess: 4711, ofUser: 1_000)
      #expect(reasons() == [operations[0].id])
      operations[1].cancel(with: Mishap())
      operations[2].cancel(with: Mishap())
      queue.cancelAllOperations(with: Mishap())
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(reasons() == [operations[3].id, operations[4].id])
    }
  }

  @Test("An operation that was cancelled before the recording has its reason")
  func earlierReasons() async throws {
    let queue = makeQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    operation.cancel(with: Mishap())
    try await recording(queue) { collector in
      let changes = queue.takeChanges(for: collector, limit: 100)
      #expect(changes.changed.map(\.cancellationCause) == [.code])
      #expect(changes.errors[0] is Mishap)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.takeChanges(for: collector, limit: 100).errors.isEmpty)
    }
  }

  @Test("A failed dependency is the cause, and leads to the operation that failed first")
  func dependencies() async throws {
    let queue = makeQueue()
    try await recording(queue) { collector in
      let first = InvocationOperation<Int> { throw Mishap() }
      let second = BlockOperation {}
      let third = BlockOperation {}
      second.addDependency(first, requires: .success)
      third.addDependency(second, requires: .success)
      queue.addOperations([third, second, first], waitUntilFinished: true)
      let changed = queue.takeChanges(for: collector, limit: 100).changed
      let records = Dictionary(uniqueKeysWithValues: changed.map { ($0.id, $0) })
      #expect(records[third.id]?.cancellationCause == .dependency(second.id))
      #expect(records[second.id]?.cancellationCause == .dependency(first.id))
      #expect(records[first.id]?.cancellationCause == nil)
      #expect(records[first.id]?.hasFailed == true)
      #expect(records[second.id]?.hasFailed == false)
    }
  }

  @Test("A call of cancel inside an override has its own cause")
  func nestedCalls() async throws {
    let queue = makeQueue()
    queue.isSuspended = true
    try await recording(queue) { collector in
      let other = BlockOperation {}
      let outer = CancellingOther(other)
      queue.addOperations([outer, other], waitUntilFinished: false)
      outer.cancel(forProcess: 1, ofUser: 2)
      #expect(outer.cancellationCause == .viewer(processID: 1, userID: 2))
      #expect(other.cancellationCause == .code)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("The group is the cause of the cancellation of its members")
  func groups() async throws {
    let queue = makeQueue()
    queue.isSuspended = true
    try await recording(queue) { _ in
      let member = BlockOperation {}
      let group = GroupOperation([member])
      queue.addOperation(group)
      group.cancel()
      #expect(group.cancellationCause == .code)
      #expect(member.cancellationCause == .container(group.id))
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A timeout is the cause of the cancellation of its work, as is a cancelled timeout")
  func timeouts() async throws {
    let queue = makeQueue()
    try await recording(queue) { _ in
      let works = Monitored<[Operation]>([])
      @Sendable func makeWork() -> AsyncOperation<Void> {
        let work = AsyncOperation<Void> {
          try await withTaskCancellationHandler {
            try await Task.sleep(for: .seconds(3_600))
          } onCancel: {
          }
        }
        works.change { $0.append(work) }
        return work
      }
      let late = TimeoutOperation(after: .milliseconds(1)) { makeWork() }
      queue.addOperations([late], waitUntilFinished: true)
      #expect(late.error is OperationTimeoutError && late.cancellationCause == nil)
      #expect(works.value.first?.cancellationCause == .timeout(late.id))
      let cancelled = TimeoutOperation(after: .seconds(3_600)) { makeWork() }
      queue.addOperation(cancelled)
      works.wait(for: "the work to be created") { $0.count == 2 }
      cancelled.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(works.value.last?.cancellationCause == .container(cancelled.id))
    }
  }

  @Test("Without a collector, the cause is known only if the cancellation has a reason")
  func unwatched() async throws {
    try await onOwnThread {
      let queue = makeQueue()
      let plain = BlockOperation {}
      plain.cancel()
      let failing = InvocationOperation<Int> { throw Mishap() }
      let dependent = BlockOperation {}
      dependent.addDependency(failing, requires: .success)
      queue.addOperations([plain, dependent, failing], waitUntilFinished: true)
      #expect(dependent.cancellationCause == .dependency(failing.id))
      // Another test may record at the same time, and the cause is then known.
      #expect(plain.cancellationCause == nil || plain.cancellationCause == .code)
      #expect(BlockOperation {}.cancellationCause == nil)
    }
  }

  // MARK: Attempts

  @Test("The attempts of a retry are recorded, with the pause between them and the last error")
  func attempts() async throws {
    let queue = makeQueue()
    try await recording(queue) { collector in
      let clock = ManualClock()
      let gate = AsyncGate()
      let retry = RetryOperation(
        maximumAttempts: 3, delay: { _ in .seconds(60) }, clock: clock
      ) { number in
        let attempt = AsyncOperation<Int> {
          if number < 2 { throw Mishap() }
          await gate.pass()
          return number
        }
        attempt.name = "attempt \(number)"
        return attempt
      }
      retry.kind = "download"
      queue.addOperation(retry)
      clock.waitForSleeps(1)
      let pausing = try #require(record(of: retry, in: queue, collector))
      #expect(pausing.kind == "download")
      let first = try #require(pausing.attempts?.recorded)
      #expect(first.number == 1 && first.maximum == 3 && first.pauseEnd != nil)
      #expect(first.attempts.map(\.name) == ["attempt 1"])
      #expect(first.attempts.allSatisfy { $0.hasFailed && $0.finished != nil })
      #expect(retry.attemptLog?.contents.lastError is Mishap)
      // The attempts are not in the queue, so only the retry is counted.
      #expect(queue.snapshot().counts.total == 1)

      clock.advance(by: .seconds(60))
      gate.waitForArrivals(1)
      let second = try #require(record(of: retry, in: queue, collector)?.attempts?.recorded)
      #expect(second.number == 2 && second.pauseEnd == nil)
      #expect(second.attempts.map(\.name) == ["attempt 1", "attempt 2"])
      #expect(second.attempts.map(\.number) == [1, 2])
      #expect(second.attempts.last?.finished == nil)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(retry.attemptLog?.contents.lastError == nil)
      #expect(retry.attemptLog?.contents.recorded.attempts.map(\.hasFailed) == [true, false])
    }
  }

  @Test("The attempts of a retry that finished before the first reading are recorded")
  func attemptsOfAFinishedRetry() async throws {
    let queue = makeQueue()
    try await recording(queue) { collector in
      let retry = RetryOperation(maximumAttempts: 5) { number in
        AsyncOperation<Int> {
          if number < 3 { throw Mishap() }
          return number
        }
      }
      queue.addOperations([retry], waitUntilFinished: true)
      let found = try #require(record(of: retry, in: queue, collector))
      let attempts = try #require(found.attempts?.recorded)
      #expect(attempts.maximum == 5 && attempts.number == 3 && attempts.pauseEnd == nil)
      #expect(attempts.attempts.map(\.hasFailed) == [true, true, false])
      #expect(attempts.attempts.allSatisfy { $0.finished != nil })
      #expect(retry.attemptLog?.contents.lastError == nil)
    }
  }

  @Test("At most the last 16 attempts are kept, and all are counted")
  func manyAttempts() async throws {
    let queue = makeQueue()
    try await recording(queue) { _ in
      let retry = RetryOperation<Int>(maximumAttempts: 50) { _ in AsyncOperation { throw Mishap() }
      }
      queue.addOperations([retry], waitUntilFinished: true)
      #expect(retry.attemptLog?.contents.recorded.number == 50)
      #expect(retry.attemptLog?.contents.recorded.attempts.map(\.number) == Array(35...50))
    }
  }

  // MARK: Kinds

  @Test("The kind is the name of the class until it is set, and a change is recorded")
  func kinds() async throws {
    let queue = makeQueue()
    queue.isSuspended = true
    try await recording(queue) { collector in
      let operation = AsyncOperation<String> { "" }
      #expect(operation.kind == "AsyncOperation<String>")
      #expect(PlainSubclass().kind == "PlainSubclass")
      queue.addOperation(operation)
      #expect(record(of: operation, in: queue, collector)?.kind == nil)
      operation.kind = "fetch"
      #expect(operation.kind == "fetch")
      #expect(record(of: operation, in: queue, collector)?.kind == "fetch")
      operation.kind = ""
      #expect(operation.kind == "AsyncOperation<String>")
      #expect(record(of: operation, in: queue, collector)?.kind == .some(nil))
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("The library does not read a subclass's own kind")
  func ownKind() async throws {
    let queue = makeQueue()
    try await recording(queue) { collector in
      let operation = OwnKind()
      (operation as Operation).kind = "copy"
      queue.addOperations([operation], waitUntilFinished: true)
      #expect(record(of: operation, in: queue, collector)?.kind == "copy")
      #expect(operation.readCount == 0 && operation.kind == 7 && operation.readCount == 1)
    }
  }

  // MARK: Times

  @Test("An asynchronous operation that began before the recording has its exact start time")
  func startTimes() async throws {
    let queue = makeQueue()
    let gate = AsyncGate()
    let before = csystem_monotonic_nanoseconds()
    queue.addOperation(AsyncOperation { await gate.pass() })
    try await onOwnThread { gate.waitForArrivals(1) }
    let after = csystem_monotonic_nanoseconds()
    try await recording(queue) { collector in
      let changed = queue.takeChanges(for: collector, limit: 100).changed
      let started = try #require(changed.first?.started)
      #expect(started >= before && started <= after && changed.first?.isStartApproximate == false)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}

private final class CancellingOther: Operation, @unchecked Sendable {
  private let other: Operation
  init(_ other: Operation) { self.other = other }
  override func cancel() {
    other.cancel()
    super.cancel()
  }
}

private final class OwnKind: Operation, @unchecked Sendable {
  private(set) var readCount = 0
  var kind: Int {
    readCount += 1
    return 7
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

private struct Mishap: Error, Equatable {}

@Suite("Failed operations are counted")
struct FailureTests {
  private typealias Counts = QueueSnapshot.Counts

  /// Operations that fail in different ways, and a word for each.
  private static func failures() -> [(String, Operation)] {
    let recording = BlockOperation {}
    recording.addExecutionBlock { [unowned recording] in _ = recording.fail(with: Mishap()) }
    let early = Operation()
    early.fail(with: Mishap())
    return [
      ("a throwing invocation", InvocationOperation<Int> { throw Mishap() }),
      ("a throwing asynchronous operation", AsyncOperation<Int> { throw Mishap() }),
      ("an error that the work records", recording),
      ("an error that is recorded before the start", early),
      ("a failed member of a group", GroupOperation([InvocationOperation<Int> { throw Mishap() }])),
      (
        "the last attempt",
        RetryOperation(maximumAttempts: 2) { _ in AsyncOperation<Int> { throw Mishap() } }
      ),
      (
        "a timeout",
        TimeoutOperation(after: .zero) {
          AsyncOperation<Void> { try await Task.sleep(for: .seconds(60)) }
        }
      ),
    ]
  }

  @Test("Each way to fail counts once, within finished", arguments: 0..<7)
  func eachWayToFail(index: Int) async throws {
    let (way, operation) = Self.failures()[index]
    try await onOwnThread {
      let queue = OperationQueue()
      queue.addOperation(operation)
      queue.addOperation {}
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.snapshot().counts == Counts(finished: 2, failed: 1, total: 2), "\(way)")
    }
  }

  @Test("A cancelled operation counts as cancelled and not as failed, whatever its error")
  func cancelledOperationsHaveNotFailed() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let failed = InvocationOperation<Int> { throw Mishap() }
      let dependent = BlockOperation {}
      dependent.addDependency(failed, requires: .success)
      let reasoned = BlockOperation {}
      reasoned.cancel(with: Mishap())
      let recorded = BlockOperation {}
      recorded.fail(with: Mishap())
      recorded.cancel()
      queue.addOperations([failed, dependent, reasoned, recorded], waitUntilFinished: true)
      #expect(
        queue.snapshot().counts == Counts(finished: 1, failed: 1, cancelled: 3, total: 4))
    }
  }

  @Test func anErrorThatComesAfterTheFinishIsNotCounted() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operation = BlockOperation {}
      queue.addOperations([operation], waitUntilFinished: true)
      #expect(!operation.fail(with: Mishap()))
      #expect(queue.snapshot().counts == Counts(finished: 1, total: 1))
    }
  }

  @Test("Errors that race with the finish and with a cancellation are counted exactly")
  func racesAreCounted() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operations = (0..<Effort.scaled(20_000)).map { _ in Operation() }
      onThreads(3) { thread in
        for operation in operations {
          switch thread {
          case 0: queue.addOperation(operation)
          case 1: operation.fail(with: Mishap())
          default: if operation.id.rawValue % 2 == 0 { operation.cancel() }
          }
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      let cancelledCount = operations.count { $0.isCancelled }
      let failedCount = operations.count { $0.error != nil && !$0.isCancelled }
      #expect(
        queue.snapshot().counts
          == Counts(
            finished: operations.count - cancelledCount, failed: failedCount,
            cancelled: cancelledCount, total: operations.count))
    }
  }

  @Test("The change to finished says whether the operation has failed")
  func stateChangesHaveTheFailure() async throws {
    let queue = OperationQueue()
    let changes = queue.stateChanges()
    let failed = InvocationOperation<Int> { throw Mishap() }
    let successful = BlockOperation {}
    successful.addDependency(failed)
    try await onOwnThread {
      queue.addOperations([failed, successful], waitUntilFinished: true)
    }
    var ends: [OperationID: Bool] = [:]
    for await change in changes where change.newState == .finished {
      ends[change.operation] = change.hasFailed
      if ends.count == 2 { break }
    }
    #expect(ends == [failed.id: true, successful.id: false])
  }

  @Test("The record of an operation says whether it has failed")
  func recordsHaveTheFailure() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      keepingRecords(of: [queue]) { collector in
        let failed = InvocationOperation<Int> { throw Mishap() }
        let cancelled = BlockOperation {}
        cancelled.cancel(with: Mishap())
        let successful = BlockOperation {}
        queue.addOperations([failed, cancelled, successful], waitUntilFinished: true)
        let changed = queue.takeChanges(for: collector, limit: 10).changed
        #expect(changed.filter(\.hasFailed).map(\.id) == [failed.id])
        #expect(changed.count == 3 && changed.allSatisfy { $0.state == .finished })
      }
    }
  }

  @Test(
    "A reading returns the errors of failed operations and the reasons of cancellations, and the queue keeps none"
  )
  func readingTakesErrors() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      try keepingRecords(of: [queue]) { collector in
        let failed = InvocationOperation<Int> { throw Mishap() }
        let cancelled = BlockOperation {}
        cancelled.cancel(with: Mishap())
        queue.addOperations([BlockOperation {}, failed, cancelled], waitUntilFinished: true)
        let changes = queue.takeChanges(for: collector, limit: 10)
        #expect(changes.errors.count == 2)
        for operation in [failed, cancelled] {
          let index = try #require(changes.changed.firstIndex { $0.id == operation.id })
          #expect(changes.errors[index] is Mishap)
          #expect(changes.records[index].takeError() == nil)
        }
      }
    }
  }

  @Test("Errors that no collector has read are released outside the queue's lock")
  func droppedErrorsAreReleasedOutsideTheLock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let releases = Locked(0)
      keepingRecords(of: [queue]) { _ in
        for _ in 0..<3 {
          let error = ErrorOfAQueue(queue: queue, releases: { releases.withLock { $0 += 1 } })
          queue.addOperations([InvocationOperation<Int> { throw error }], waitUntilFinished: true)
        }
        #expect(releases.withLock { $0 } == 0)
      }
      #expect(poll(for: .seconds(Patience.seconds)) { releases.withLock { $0 } == 3 })
    }
  }

  @Test("Reasons of cancellations that no collector has read are released outside the queue's lock")
  func droppedReasonsAreReleasedOutsideTheLock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let releases = Locked(0)
      keepingRecords(of: [queue]) { _ in
        for _ in 0..<3 {
          let operation = BlockOperation {}
          operation.cancel(
            with: ErrorOfAQueue(queue: queue, releases: { releases.withLock { $0 += 1 } }))
          queue.addOperations([operation], waitUntilFinished: true)
        }
        #expect(releases.withLock { $0 } == 0)
      }
      #expect(poll(for: .seconds(Patience.seconds)) { releases.withLock { $0 } == 3 })
    }
  }

  @Test("A subclass may announce its failure under a lock that its error needs")
  func failureUnderALock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      keepingRecords(of: [queue]) { _ in
        queue.addOperations([SelfFinishingOperation()], waitUntilFinished: true)
        #expect(queue.snapshot().counts == Counts(finished: 1, failed: 1, total: 1))
      }
    }
  }

  @Test("cancelAllOperations(with:) cancels all operations, and each has the reason as its error")
  func cancellingAllWithAReason() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operations = (0..<3).map { _ in BlockOperation {} }
      let early = BlockOperation {}
      early.fail(with: CancellationError())
      queue.addOperations(operations + [early], waitUntilFinished: false)
      queue.cancelAllOperations(with: Mishap())
      #expect(operations.allSatisfy { $0.isCancelled && $0.error is Mishap })
      #expect(early.isCancelled && early.error is CancellationError)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.snapshot().counts == Counts(cancelled: 4, total: 4))
    }
  }
}

/// An error that uses its queue when it is released, which needs the queue's lock.
private final class ErrorOfAQueue: Error {
  private let queue: OperationQueue
  private let releases: @Sendable () -> Void

  init(queue: OperationQueue, releases: @escaping @Sendable () -> Void) {
    self.queue = queue
    self.releases = releases
  }

  deinit {
    _ = queue.operationCount
    releases()
  }
}

/// An operation that announces its finish while it holds its own lock. The description of its error needs the
/// same lock.
private final class SelfFinishingOperation: Operation, @unchecked Sendable {
  private struct LockedError: Error, CustomStringConvertible {
    unowned let operation: SelfFinishingOperation

    var description: String { operation.isDone.withLock { "done: \($0)" } }
  }

  private let isDone = Locked(false)

  // The library reads `isFinished` while the operation holds its lock, so the property does not need the lock.
  private let hasFinished = Atomic(false)

  override var isAsynchronous: Bool { true }
  override var isFinished: Bool { hasFinished.load(ordering: .acquiring) }

  override func start() {
    fail(with: LockedError(operation: self))
    isDone.withLock { isDone in
      willChangeValue(forKey: "isFinished")
      isDone = true
      hasFinished.store(true, ordering: .releasing)
      didChangeValue(forKey: "isFinished")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Races with the end of a queue", .oneAtATime, .timeLimit(.minutes(10)))
struct EndingStressTests {
  @Test(
    "Each operation that races with shutdown runs before it returns, or is refused and never runs")
  func additionsAgainstShutdown() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(600) {
      try await onOwnThread { [seed = random.next()] in Self.closeWhileAdding(seed) }
    }
  }

  private static func closeWhileAdding(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = [-1, 1, 2].randomElement(using: &random) ?? 1
    let mode = OperationQueueShutdownMode.allCases.randomElement(using: &random) ?? .drain
    let observation =
      Bool.random(using: &random) ? queue.observe(\.operationCount) { _, _ in } : nil
    let state = Flags()
    let all = Monitored<[Operation]>([])
    let ran = Monitored<Set<ObjectIdentifier>>([])
    let seeds = (0..<4).map { _ in random.next() }
    onThreads(4) { index in
      var random = SeededGenerator(seed: seeds[index])
      if index == 0 {
        for _ in 0..<Int.random(in: 0..<200, using: &random) { _ = random.next() }
        queue.shutdown(mode)
        return state.isReturned.store(true, ordering: .sequentiallyConsistent)
      }
      for _ in 0..<40 {
        let batch = (0..<Int.random(in: 1...3, using: &random)).map { _ -> Operation in
          let body: @Sendable (Operation) -> Void = { operation in
            if state.isReturned.load(ordering: .sequentiallyConsistent) {
              state.count.add(1, ordering: .relaxed)
            }
            ran.change { _ = $0.insert(ObjectIdentifier(operation)) }
          }
          switch Int.random(in: 0..<4, using: &random) {
          case 0: return SelfUsingOperation(work: body)
          case 1: return StubbornSelfUsingOperation(work: body)
          default: break
          }
          let operation = BlockOperation()
          operation.addExecutionBlock { [unowned operation] in body(operation) }
          return operation
        }
        all.change { $0 += batch }
        if batch.count == 1 { queue.addOperation(batch[0]) } else { queue.addOperations(batch) }
        if Int.random(in: 0..<8, using: &random) == 0 { queue.addBarrierBlock {} }
      }
    }
    for operation in all.value {
      operation.waitUntilFinished()
      let hasRun = ran.value.contains(ObjectIdentifier(operation))
      if operation.error is OperationQueueClosedError {
        #expect(!hasRun && operation.isCancelled, "A refused operation has run")
      }
      if mode == .drain {
        #expect(hasRun != (operation.error is OperationQueueClosedError))
        #expect(hasRun != operation.isCancelled)
      } else if !operation.isCancelled {
        #expect(hasRun)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    let lateCount = state.count.load(ordering: .relaxed)
    #expect(lateCount == 0, "An operation has run after shutdown has returned")
    observation?.invalidate()
  }

  @Test(
    "Each operation that races with cancelPendingOperations runs uncancelled, or is cancelled and never runs"
  )
  func startsAgainstCancellation() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(1_000) {
      try await onOwnThread { [seed = random.next()] in Self.cancelWhileRunning(seed) }
    }
  }

  private static func cancelWhileRunning(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = [1, 2, 4].randomElement(using: &random) ?? 1
    let state = Flags()
    let ran = Monitored<Set<ObjectIdentifier>>([])
    let body: @Sendable (Operation) -> Void = { operation in
      if operation.isCancelled { state.count.add(1, ordering: .relaxed) }
      ran.change { _ = $0.insert(ObjectIdentifier(operation)) }
      if operation.isCancelled { state.count.add(1, ordering: .relaxed) }
    }
    let exclusion = MutualExclusion(name: "one")
    let operations = (0..<200).map { number -> Operation in
      if number % 3 == 0 {
        let operation = BlockOperation()
        operation.addExecutionBlock { [unowned operation] in body(operation) }
        return operation
      }
      let operation = SelfUsingOperation(work: body)
      if number % 3 == 1 { operation.exclusions = [exclusion] }
      return operation
    }
    let spins = Int.random(in: 0..<20_000, using: &random)
    onThreads(2) { index in
      guard index == 1 else { return queue.addOperations(operations) }
      for _ in 0..<spins { state.count.add(0, ordering: .relaxed) }
      queue.cancelPendingOperations()
      queue.cancelPendingOperations()
    }
    queue.waitUntilAllOperationsAreFinished()
    let cancelledCount = state.count.load(ordering: .relaxed)
    #expect(cancelledCount == 0)
    for operation in operations {
      #expect(operation.isCancelled != ran.value.contains(ObjectIdentifier(operation)))
    }
  }
}

/// An operation whose `cancel()` has no effect.
private final class StubbornSelfUsingOperation: SelfUsingOperation, @unchecked Sendable {
  override func cancel() {}
}

/// What the operations of a test have seen.
private final class Flags: Sendable {
  /// Whether `shutdown` has returned.
  let isReturned = Atomic(false)
  /// The number of events that must not happen.
  let count = Atomic(0)
}

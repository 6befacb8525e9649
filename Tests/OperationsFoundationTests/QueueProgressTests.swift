// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsFoundation
import Synchronization
import TestSupport
import Testing

@Suite("A queue's progress")
struct QueueProgressTests {
  /// An operation that finishes when a test requests it, announces the finish itself, and never
  /// calls `super.start()`.
  private final class SelfFinishing: Operation, @unchecked Sendable {
    private let hasStarted = Atomic<Bool>(false)
    private let hasFinished = Atomic<Bool>(false)

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { hasStarted.load(ordering: .acquiring) && !isFinished }
    override var isFinished: Bool { hasFinished.load(ordering: .acquiring) }

    override func start() {
      willChangeValue(forKey: "isExecuting")
      hasStarted.store(true, ordering: .releasing)
      didChangeValue(forKey: "isExecuting")
      startThread { self.finish() }
    }

    func finish() {
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      hasFinished.store(true, ordering: .releasing)
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }

  private final class OwnMain: Operation, @unchecked Sendable {
    override func main() {}
  }

  @Test("PG-1: nothing is reported before the total is set, and each operation counts 1 after that")
  func optIn() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let progress = queue.progress
      #expect(queue.progress === progress)
      queue.addOperations([BlockOperation {}, OwnMain()], waitUntilFinished: true)
      #expect(progress.completedUnitCount == 0 && progress.totalUnitCount == 0)
      progress.totalUnitCount = 4
      #expect(progress.completedUnitCount == 0 && progress.fractionCompleted == 0)
      for count in 1...4 {
        let operation = count.isMultiple(of: 2) ? BlockOperation {} : OwnMain()
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(progress.completedUnitCount == Int64(count))
        #expect(progress.fractionCompleted == Double(count) / 4)
      }
      #expect(progress.isFinished)
    }
  }

  @Test("PG-1, F-16: every kind of operation counts once, however it finishes; a barrier does not")
  func kinds() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let early = SelfFinishing()
      let cancelled = BlockOperation { Issue.record("cancelled, and ran") }
      let cancelledTwice = OwnMain()
      let observed = BlockOperation {}
      let observation = observed.observe(\.isFinished) { _, _ in }
      let several = BlockOperation {}
      several.addExecutionBlock {}
      let dependent = BlockOperation {}
      dependent.addDependency(several)
      let all = [
        BlockOperation {}, OwnMain(), SelfFinishing(), early, cancelled, cancelledTwice, observed,
        several, dependent,
      ]
      queue.progress.totalUnitCount = Int64(all.count)
      queue.addOperations(all, waitUntilFinished: false)
      queue.addBarrierBlock {}
      early.finish()
      #expect(queue.progress.completedUnitCount == 1, "finished before it was started")
      cancelled.cancel()
      cancelledTwice.cancel()
      cancelledTwice.cancel()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.progress.completedUnitCount == Int64(all.count))
      #expect(queue.progress.fractionCompleted == 1)
      observation.invalidate()
    }
  }

  @Test("PG-1: operations of a queue on a dispatch queue, and of the main queue's kind, count too")
  func underlyingQueue() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.underlyingQueue = DispatchQueue(label: "progress")
      queue.progress.totalUnitCount = 3
      queue.addOperations(
        [BlockOperation {}, OwnMain(), SelfFinishing()], waitUntilFinished: true)
      #expect(queue.progress.completedUnitCount == 3)
    }
  }

  @Test("PG-1: awaited operations are counted, even if others finish at the same time")
  func countedBeforeItLeaves() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(300) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let operations = (0..<32).map { $0.isMultiple(of: 3) ? OwnMain() : BlockOperation {} }
        queue.progress.totalUnitCount = Int64(operations.count)
        queue.addOperations(operations, waitUntilFinished: false)
        for (index, operation) in operations.enumerated() {
          operation.waitUntilFinished()
          #expect(queue.progress.completedUnitCount > Int64(index))
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 32)
        #expect(queue.progress.fractionCompleted == 1)
      }
    }
  }

  @Test("PG-1: counting that begins while operations finish includes all operations in the queue")
  func beginsAmidst() async throws {
    try await onOwnThread {
      for round in 0..<Effort.scaled(2_000) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3
        for _ in 0..<16 { queue.addOperation {} }
        for _ in 0..<(round % 61) { _ = queue.isSuspended }
        let before = queue.operationCount
        queue.progress.totalUnitCount = Int64(max(1, before))
        let after = queue.operationCount
        queue.waitUntilAllOperationsAreFinished()
        // An operation that was leaving the queue when the counting began is counted somewhat
        // later, on the thread on which it left.
        var patience = 1_000_000
        while queue.progress.completedUnitCount < Int64(after), patience > 0 {
          sched_yield()
          patience -= 1
        }
        let completed = queue.progress.completedUnitCount
        #expect(completed >= Int64(after) && completed <= Int64(before))
      }
    }
  }

  @Test("PG-1: a child of a parent, filled from many threads, completes the parent exactly")
  func parent() async throws {
    try await onOwnThread {
      let total = Int64(Effort.scaled(20_000))
      let queue = OperationQueue()
      let parent = Progress.discreteProgress(totalUnitCount: 10)
      queue.progress.totalUnitCount = total
      parent.addChild(queue.progress, withPendingUnitCount: 10)
      for _ in 0..<total { queue.addOperation {} }
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.progress.completedUnitCount == total)
      #expect(parent.completedUnitCount == 10 && parent.isFinished)
    }
  }

  @Test("PG-1: the counts may be set for the next batch, in a barrier while the queue works")
  func nextBatch() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let progress = queue.progress
      progress.totalUnitCount = 2
      for _ in 0..<2 { queue.addOperation {} }
      queue.addBarrierBlock {
        progress.completedUnitCount = 0
        progress.totalUnitCount = 3
      }
      for _ in 0..<3 { queue.addOperation {} }
      queue.waitUntilAllOperationsAreFinished()
      #expect(progress.completedUnitCount == 3 && progress.totalUnitCount == 3)
      #expect(progress.fractionCompleted == 1)
    }
  }

  @Test("PG-2: cancelling the progress cancels no operation")
  func cancelsNothing() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = BlockOperation {}
      queue.addOperation(operation)
      #expect(!queue.cancelsOperationsWithProgress)
      queue.progress.cancel()
      #expect(queue.progress.isCancelled && !operation.isCancelled)
      queue.cancelAllAndResume()
    }
  }

  @Test("PG-2: on request, cancelling it or its parent cancels the operations in the queue")
  func cancels() async throws {
    try await onOwnThread {
      for cancelsParent in [false, true] {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.cancelsOperationsWithProgress = true
        #expect(queue.progress.isCancellable)
        let parent = Progress.discreteProgress(totalUnitCount: 1)
        parent.addChild(queue.progress, withPendingUnitCount: 1)
        queue.progress.totalUnitCount = 1
        let operation = BlockOperation {}
        queue.addOperation(operation)
        cancelsParent ? parent.cancel() : queue.progress.cancel()
        #expect(operation.isCancelled)
        let later = BlockOperation {}
        queue.addOperation(later)
        #expect(!later.isCancelled, "only the operations in the queue are cancelled")
        queue.cancelAllAndResume()
      }
    }
  }

  @Test("PG-2: requested after the cancellation, it cancels the operations in the queue then")
  func asksLate() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = BlockOperation {}
      queue.addOperation(operation)
      queue.progress.cancel()
      #expect(!operation.isCancelled)
      queue.cancelsOperationsWithProgress = true
      #expect(operation.isCancelled)
      queue.cancelAllAndResume()
    }
  }

  @Test(
    "PG-1: a queue is released although its progress is retained")
  func lifetime() {
    var queue: OperationQueue? = OperationQueue()
    weak let weakQueue = queue
    let held = queue?.progress
    held?.totalUnitCount = 1
    queue?.foundationQueue.name = "gone"
    queue = nil
    #expect(weakQueue == nil)
    #expect(held?.totalUnitCount == 1)
    held?.cancel()

    var other: OperationQueue? = OperationQueue()
    weak let weakProgress = other?.progress
    #expect(weakProgress != nil)
    other = nil
    #expect(weakProgress == nil)
  }

  @Test("PG-1: threads that ask at the same time are given the same progress")
  func sameForAll() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(50) {
        let queue = OperationQueue()
        let seen = Monitored<Set<ObjectIdentifier>>([])
        onThreads(4) { _ in
          let progress = queue.progress
          progress.totalUnitCount = 1
          seen.change { _ = $0.insert(ObjectIdentifier(progress)) }
        }
        #expect(seen.value.count == 1)
      }
    }
  }
}

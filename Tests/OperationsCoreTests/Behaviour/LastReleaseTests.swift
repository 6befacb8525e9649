// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests that a finished operation returns its slot before it releases captured objects, because
/// the `deinit` of a captured object may need the slot.
@Suite("The release of objects that an operation retained")
struct LastReleaseTests {
  /// The call by which the `deinit` of a `Visitor` waits for the operation that it adds.
  private enum Wait: CaseIterable {
    case operation, queue
    /// The `deinit` waits for a semaphore, so the library has no information about this wait.
    case semaphore
  }

  /// An object whose `deinit` adds an operation to the queue and waits for the operation.
  private final class Visitor: Sendable {
    private let queue: OperationQueue
    private let log: EventLog<String>
    private let wait: Wait

    init(to queue: OperationQueue, _ log: EventLog<String>, by wait: Wait = .operation) {
      self.queue = queue
      self.log = log
      self.wait = wait
    }

    deinit {
      let isOver = DispatchSemaphore(value: 0)
      let visit = BlockOperation { [log] in
        log.note("visit")
        isOver.signal()
      }
      queue.addOperation(visit)
      switch wait {
      case .operation: visit.waitUntilFinished()
      case .queue: queue.waitUntilAllOperationsAreFinished()
      case .semaphore: isOver.wait()
      }
      log.note("released")
    }

    func touch() {}
  }

  private final class HoldingOperation: Operation, @unchecked Sendable {
    private let visitor: Visitor
    init(_ visitor: Visitor) { self.visitor = visitor }
  }

  private class PlainBlockSubclass: BlockOperation, @unchecked Sendable {}

  /// A block operation that finishes without running its blocks.
  private final class UnrunBlocks: BlockOperation, @unchecked Sendable {
    override func main() {}
  }

  private static let limit = Duration.seconds(20)

  private func onNarrowQueue(
    _ add: @escaping @Sendable (OperationQueue, EventLog<String>) -> Void
  ) async throws {
    try await onOwnThread(within: Self.limit) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      add(queue, log)
      log.wait(for: "released")
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events.filter { $0 != "run" } == ["visit", "released"])
    }
  }

  private func block(
    capturing queue: OperationQueue, _ log: EventLog<String>, by wait: Wait = .operation
  ) -> @Sendable () -> Void {
    let visitor = Visitor(to: queue, log, by: wait)
    return {
      visitor.touch()
      log.note("run")
    }
  }

  @Test("BL-5: the captures of a plain block may wait for its queue", arguments: [false, true])
  func plainBlock(waitsForQueue: Bool) async throws {
    try await onNarrowQueue { queue, log in
      queue.addOperation(block(capturing: queue, log, by: waitsForQueue ? .queue : .operation))
    }
  }

  @Test("BL-5: captures of a block with dependents may wait for its queue")
  func blockWithDependents() async throws {
    try await onNarrowQueue { queue, log in
      let first = BlockOperation(block: block(capturing: queue, log))
      let second = BlockOperation {}
      second.addDependency(first)
      queue.addOperations([first, second], waitUntilFinished: false)
      second.waitUntilFinished()
      #expect(first.isFinished)
    }
  }

  @Test("DE-15: a block whose captures wait for its queue forgets its dependencies")
  func blockThatForgets() async throws {
    try await onNarrowQueue { queue, log in
      let first = BlockOperation {}
      let second = BlockOperation(block: block(capturing: queue, log))
      second.addDependency(first)
      second.releasesDependenciesWhenFinished = true
      queue.addOperations([first, second], waitUntilFinished: false)
      log.wait(for: "released")
      #expect(second.dependencies.isEmpty)
    }
  }

  @Test("BL-5: captures of an observed block may wait for its queue, and observers see one finish")
  func observedBlock() async throws {
    try await onNarrowQueue { queue, log in
      let operation = BlockOperation(block: block(capturing: queue, log))
      let finishes = EventLog<Bool>()
      let observation = operation.observe(\.isFinished) { operation, _ in
        finishes.note(operation.isFinished)
      }
      queue.addOperation(operation)
      operation.waitUntilFinished()
      log.wait(for: "released")
      observation.invalidate()
      #expect(finishes.events == [true])
    }
  }

  @Test("BL-6: captures of one of several blocks may wait for its queue")
  func severalBlocks() async throws {
    try await onNarrowQueue { queue, log in
      let operation = BlockOperation {}
      operation.addExecutionBlock(block(capturing: queue, log))
      queue.addOperation(operation)
    }
  }

  @Test("BL-5: captures of a barrier may wait for its queue")
  func barrier() async throws {
    try await onNarrowQueue { queue, log in
      queue.addBarrierBlock(block(capturing: queue, log))
    }
  }

  @Test(
    "CA-5: captures of a cancelled block may wait, observed or not", arguments: Wait.allCases,
    [false, true])
  private func cancelledBlock(wait: Wait, isObserved: Bool) async throws {
    try await onNarrowQueue { queue, log in
      let operation = BlockOperation(block: block(capturing: queue, log, by: wait))
      let observation = isObserved ? operation.observe(\.isFinished) { _, _ in } : nil
      operation.cancel()
      queue.addOperation(operation)
      log.wait(for: "released")
      observation?.invalidate()
    }
  }

  @Test(
    "H-5: captures of an invocation may wait", arguments: [Wait.operation, .queue],
    [false, true])
  private func invocation(wait: Wait, isCancelled: Bool) async throws {
    try await onNarrowQueue { queue, log in
      let operation = InvocationOperation(block(capturing: queue, log, by: wait))
      if isCancelled { operation.cancel() }
      queue.addOperation(operation)
    }
  }

  @Test(
    "H-5: captures of an asynchronous operation may wait for its queue, run or cancelled",
    arguments: [Wait.operation, .queue], [false, true])
  private func asynchronous(wait: Wait, isCancelled: Bool) async throws {
    try await onNarrowQueue { queue, log in
      let body = block(capturing: queue, log, by: wait)
      let operation = AsyncOperation { body() }
      if isCancelled { operation.cancel() }
      queue.addOperation(operation)
    }
  }

  @Test("H-5: captures of an uncalled asynchronous closure may wait for its queue")
  func asynchronousWithoutCall() async throws {
    final class Ignoring: AsyncOperation<Void>, @unchecked Sendable {
      override func run() async throws {}
    }
    try await onNarrowQueue { queue, log in
      let body = block(capturing: queue, log)
      queue.addOperation(Ignoring { body() })
    }
  }

  @Test("BL-5: captures of a block with exclusions may wait for its queue")
  func excludingBlock() async throws {
    try await onNarrowQueue { queue, log in
      let operation = BlockOperation(block: block(capturing: queue, log))
      operation.exclusions = [MutualExclusion(name: "one at a time")]
      queue.addOperation(operation)
    }
  }

  @Test(
    "BL-5, K-15: captures of a block subclass may wait for its queue, run or not",
    arguments: [true, false], Wait.allCases)
  private func subclass(runs: Bool, wait: Wait) async throws {
    try await onNarrowQueue { queue, log in
      let operation = runs ? PlainBlockSubclass() : UnrunBlocks()
      operation.addExecutionBlock(block(capturing: queue, log, by: wait))
      queue.addOperation(operation)
    }
  }

  @Test("DE-9: a forgotten dependency may wait", arguments: [false, true], Wait.allCases)
  private func forgottenDependency(isSubclass: Bool, wait: Wait) async throws {
    try await forgetDependency(isSubclass: isSubclass, isObserved: false, wait)
  }

  @Test(
    "DE-9: a dependency that an observed one forgets may wait", arguments: Wait.allCases)
  private func forgottenDependencyOfObserved(wait: Wait) async throws {
    for isSubclass in [false, true] {
      try await forgetDependency(isSubclass: isSubclass, isObserved: true, wait)
    }
  }

  private func forgetDependency(isSubclass: Bool, isObserved: Bool, _ wait: Wait) async throws {
    try await onNarrowQueue { queue, log in
      let operation = isSubclass ? Operation() : BlockOperation {}
      do {
        let dependency = HoldingOperation(Visitor(to: queue, log, by: wait))
        dependency.start()
        operation.addDependency(dependency)
      }
      operation.releasesDependenciesWhenFinished = true
      let observation = isObserved ? operation.observe(\.isFinished) { _, _ in } : nil
      queue.addOperation(operation)
      operation.waitUntilFinished()
      log.wait(for: "released")
      observation?.invalidate()
    }
  }

  @Test("DE-8: deadlocks() runs no deinit of an operation on the thread that calls it")
  func searchForDeadlocks() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let rounds = Effort.scaled(200)
      let releases = EventLog<pthread_t>()
      let searchCount = Monitored(0)
      let searcher = Monitored<pthread_t?>(nil)
      let isDone = Monitored(false)
      onThreads(2) { thread in
        if thread == 0 {
          searcher.change { $0 = pthread_self() }
          while !isDone.value {
            #expect(queue.deadlocks().isEmpty)
            searchCount.change { $0 += 1 }
          }
          return
        }
        for _ in 0..<rounds {
          for _ in 0..<100 { queue.addOperation(NotingRelease(releases)) }
          queue.addBarrierBlock {}
          for _ in 0..<100 { queue.addOperation(NotingRelease(releases)) }
          queue.waitUntilAllOperationsAreFinished()
        }
        isDone.change { $0 = true }
      }
      releases.wait(forCount: 200 * rounds)
      #expect(!releases.events.contains { $0 == searcher.value })
      #expect(searchCount.value > 0)
    }
  }

  /// The queue and another thread release the last two references to an operation at the same time.
  @Test("H-5: the dependency of a finished block is released on a thread without another operation")
  func racingReleases() async throws {
    try await onOwnThread(within: .seconds(120)) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      let count = Effort.scaled(2_000)
      for _ in 0..<count {
        do {
          let dependency = HoldingOperation(Visitor(to: queue, log))
          dependency.start()
          let first = BlockOperation {}
          first.addDependency(dependency)
          let second = BlockOperation {}
          queue.addOperations([first, second], waitUntilFinished: false)
          first.waitUntilFinished()
        }
      }
      log.wait(for: "the last release") { $0.count { $0 == "released" } == count }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// An object whose `deinit` notes the thread that has released the last reference.
  private final class ThreadProbe: Sendable {
    private let threads: EventLog<Int32>
    init(_ threads: EventLog<Int32>) { self.threads = threads }
    deinit { threads.note(csystem_thread_id()) }
    func touch() {}
  }

  private static func observe(
    _ operation: Operation, capturing probe: ThreadProbe
  ) -> NSKeyValueObservation {
    operation.observe(\.isFinished) { _, _ in probe.touch() }
  }

  @Test("H-5: a worker that holds its next operation does not release the handlers of observers")
  func observedOperation() async throws {
    try await onOwnThread(within: Self.limit) {
      let threads = EventLog<Int32>()
      var operation: Operation? = BlockOperation {}
      let observation = operation.map { Self.observe($0, capturing: ThreadProbe(threads)) }
      CurrentWork.betweenOperations { operation = nil }
      threads.wait(forCount: 1)
      withExtendedLifetime(observation) {}
      #expect(threads.events != [csystem_thread_id()])
    }
  }

  /// While a worker makes an operation of another queue ready, this queue becomes empty, and all
  /// other references to the queue are released.
  @Test("H-5: a worker that makes an operation of another queue ready does not destroy the queue")
  func otherQueue() async throws {
    try await onNarrowQueue { queue, log in
      queue.isSuspended = true
      let first = BlockOperation {}
      do {
        let other = Monitored<Unmanaged<OperationQueue>?>(nil)
        let pool = WorkerPool(WorkerPoolConfiguration(processorCount: 2, stackSize: 1 << 20)) {
          let error = csystem_start_thread_with_stack($0, $1, $2)
          // Only the stack of the sampler, the thread that checks for blocked workers, has the
          // default size. So the test delays only workers.
          if $2 != 0 { Self.waitForLastReference(to: other.value) }
          return error
        }
        let otherQueue = OperationQueue(pool: pool)
        _ = otherQueue.companion { Visitor(to: queue, log) }
        let second = BlockOperation {}
        second.addDependency(first)
        // If an operation is added to a suspended queue, the queue requests no worker.
        otherQueue.isSuspended = true
        otherQueue.addOperation(second)
        otherQueue.isSuspended = false
        other.change { $0 = .passUnretained(otherQueue) }
      }
      queue.addOperation(first)
      queue.isSuspended = false
    }
  }

  /// Waits until the caller has the only reference to the queue.
  private static func waitForLastReference(to queue: Unmanaged<OperationQueue>?) {
    guard let address = queue?.toOpaque() else { return }
    let isLast = poll(for: .seconds(Patience.seconds)) {
      swift_isUniquelyReferenced_nonNull_native(address)
    }
    precondition(isLast, "Another thread keeps its reference")
  }
}

/// An operation whose `deinit` notes the thread on which it runs.
private final class NotingRelease: Operation, @unchecked Sendable {
  private let log: EventLog<pthread_t>

  init(_ log: EventLog<pthread_t>) { self.log = log }

  deinit { log.note(pthread_self()) }
}

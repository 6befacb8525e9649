// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

/// Tests that an operation releases its work if the work will not run. Otherwise, a block that
/// captures its own operation would keep the operation alive.
@Suite("Work of operations that finish before it begins")
struct DiscardedWorkTests {
  private final class EarlyBlock: BlockOperation, @unchecked Sendable {
    private let isOver = Flag()
    override var isFinished: Bool { super.isFinished || isOver.isRaised }

    func finish() {
      willChangeValue(forKey: "isFinished")
      isOver.raise()
      didChangeValue(forKey: "isFinished")
    }
  }

  @Test("BL-5, K-15: blocks of an operation that finished by itself are released", arguments: 0..<3)
  func finishedByItself(way: Int) {
    let log = EventLog<String>()
    let operation = EarlyBlock()
    do {
      let probe = DeinitProbe("released", in: log)
      operation.addExecutionBlock { probe.touch() }
      operation.addExecutionBlock { probe.touch() }
    }
    let queue = OperationQueue()
    queue.isSuspended = true
    if way == 0 { queue.addOperation(operation) }
    operation.finish()
    #expect(log.events == ["released"])
    if way == 1 { operation.start() }
    #expect(operation.executionBlocks.isEmpty)
  }

  @Test("BL-5, K-24: the blocks of an operation that an observer finishes early are released")
  func finishedByAnObserver() {
    let log = EventLog<String>()
    let operation = EarlyBlock()
    do {
      let probe = DeinitProbe("released", in: log)
      operation.addExecutionBlock {
        probe.touch()
        log.note("run")
      }
    }
    let observation = operation.observe(\.isExecuting) { operation, _ in operation.finish() }
    operation.start()
    #expect(log.events == ["released"])
    observation.invalidate()
  }

  @Test("BL-5, K-15: blocks that begin while their operation finishes are released once")
  func finishedWhileItBegins() async throws {
    final class Captured: Sendable {}
    try await onOwnThread {
      let queue = OperationQueue()
      for _ in 0..<Effort.scaled(100_000) {
        let operation = EarlyBlock()
        do {
          let strong = Captured()
          operation.addExecutionBlock { withExtendedLifetime(strong) {} }
          operation.addExecutionBlock { withExtendedLifetime(strong) {} }
        }
        // A worker and this thread race for the blocks: the worker takes the blocks to run them,
        // and this thread takes them to release them.
        queue.addOperation(operation)
        operation.finish()
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(queue.operationCount == 0)
    }
  }

  @Test("IN-1, K-15: the body of an invocation that finished by itself is released")
  func invocation() {
    final class EarlyInvocation: InvocationOperation<Int>, @unchecked Sendable {
      private let isOver = Flag()
      override var isFinished: Bool { super.isFinished || isOver.isRaised }
      override func start() {
        isOver.raise()
        didChangeValue(forKey: "isFinished")
        super.start()
      }
    }
    let log = EventLog<String>()
    let operation: EarlyInvocation
    do {
      let probe = DeinitProbe("released", in: log)
      operation = EarlyInvocation {
        probe.touch()
        return 1
      }
    }
    operation.start()
    #expect(log.events == ["released"])
  }

  @Test("H-5: a block that captures its operation does not keep it")
  func blockThatCapturesItsOperation() {
    weak var weakly: Operation?
    do {
      let operation = EarlyBlock()
      weakly = operation
      operation.addExecutionBlock { _ = operation.isCancelled }
      operation.finish()
    }
    #expect(weakly == nil)
  }
}

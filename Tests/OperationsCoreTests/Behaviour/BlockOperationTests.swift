// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Block operations")
struct BlockOperationTests {
  @Test("BL-1: blocks are counted, the first one included")
  func counting() {
    let operation = BlockOperation {}
    #expect(operation.executionBlocks.count == 1)
    operation.addExecutionBlock {}
    operation.addExecutionBlock {}
    #expect(operation.executionBlocks.count == 3)
    let empty = BlockOperation()
    #expect(empty.executionBlocks.isEmpty)
    empty.addExecutionBlock {}
    #expect(empty.executionBlocks.count == 1)
  }

  @Test(
    "F-10, #2938, BL-2, BL-7: several blocks run at the same time, in one slot",
    arguments: [true, false])
  func concurrency(isQueued: Bool) async throws {
    try await onOwnThread {
      let gate = Gate()
      let operation = BlockOperation()
      for _ in 0..<5 { operation.addExecutionBlock { gate.pass() } }
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      if isQueued {
        queue.addOperation(operation)
      } else {
        startThread { operation.start() }
      }
      gate.waitForArrivals(5)
      #expect(operation.isExecuting && !operation.isFinished)
      gate.open()
      operation.waitUntilFinished()
      #expect(operation.executionBlocks.count == (isQueued ? 0 : 5))
    }
  }

  @Test("BL-4: without blocks it finishes")
  func empty() {
    let operation = BlockOperation()
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("BL-5: blocks are released after they have run, or when they will never run")
  func release() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for isCancelled in [true, false] {
        let log = EventLog<String>()
        let operation = BlockOperation()
        for name in ["first", "second"] {
          let probe = DeinitProbe(name, in: log)
          // Each block captures its operation. Only the release of the blocks breaks this reference
          // cycle.
          operation.addExecutionBlock {
            probe.touch()
            _ = operation.isCancelled
          }
        }
        if isCancelled { operation.cancel() }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        log.wait(forCount: 2)
        #expect(Set(log.events) == ["first", "second"])
      }
    }
  }

  @Test("BL-5, BL-1: called by hand, main runs the blocks each time", arguments: [1, 3])
  func mainByHand(blockCount: Int) {
    let runs = Monitored(0)
    let operation = BlockOperation()
    for _ in 0..<blockCount { operation.addExecutionBlock { runs.change { $0 += 1 } } }
    operation.main()
    #expect(runs.value == blockCount && !operation.isFinished)
    operation.start()
    #expect(runs.value == 2 * blockCount && operation.isFinished)
    operation.main()
    #expect(runs.value == 3 * blockCount)
    #expect(operation.executionBlocks.count == blockCount)
  }

  @Test("BL-5: main that is called by hand before a queue runs the operation takes no block")
  func mainBeforeTheQueue() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = BlockOperation()
      do {
        let probe = DeinitProbe("released", in: log)
        operation.addExecutionBlock {
          probe.touch()
          log.note("run")
        }
      }
      operation.main()
      OperationQueue().addOperation(operation)
      operation.waitUntilFinished()
      log.wait(for: "released")
      #expect(log.events == ["run", "run", "released"])
      operation.main()
      #expect(log.events.count == 3 && operation.executionBlocks.isEmpty)
    }
  }

  @Test("BL-5: a subclass's main that calls super's twice runs the blocks twice")
  func superMainTwice() async throws {
    final class Twice: BlockOperation, @unchecked Sendable {
      override func main() {
        super.main()
        super.main()
      }
    }
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = Twice()
      do {
        let probe = DeinitProbe("released", in: log)
        operation.addExecutionBlock {
          probe.touch()
          log.note("run")
        }
      }
      OperationQueue().addOperation(operation)
      operation.waitUntilFinished()
      log.wait(for: "released")
      #expect(log.events == ["run", "run", "released"])
    }
  }

  @Test("BL-5: a direct call of main races the queue, and each block runs completely")
  func mainRacesTheQueue() async throws {
    final class Captured: Sendable { let number = 7 }
    try await onOwnThread {
      let queue = OperationQueue()
      for _ in 0..<Effort.scaled(20_000) {
        let sum = Atomic<Int>(0)
        let operation = BlockOperation()
        for _ in 0..<2 {
          let captured = Captured()
          operation.addExecutionBlock {
            sum.wrappingAdd(captured.number, ordering: .relaxed)
          }
        }
        queue.addOperation(operation)
        operation.main()
        operation.waitUntilFinished()
        let total = sum.load(ordering: .relaxed)
        #expect(total == 14 || total == 28)
      }
    }
  }

  @Test("BL-5: cancelled before its start, no block runs")
  func cancelled() {
    let log = EventLog<String>()
    let operation = BlockOperation { log.note("ran") }
    operation.cancel()
    operation.start()
    #expect(operation.isFinished && log.events.isEmpty)
  }

  @Test("BL-1: a subclass is served like any other operation, and its main may call super's")
  func subclass() async throws {
    try await onOwnThread {
      final class Noting: BlockOperation, @unchecked Sendable {
        let log = EventLog<String>()
        override func main() {
          log.note("before")
          super.main()
          log.note("after")
        }
      }
      let operation = Noting()
      operation.addExecutionBlock { operation.log.note("block") }
      OperationQueue().addOperation(operation)
      operation.waitUntilFinished()
      #expect(operation.log.events == ["before", "block", "after"])
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
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
      #expect(operation.executionBlocks.isEmpty)
    }
  }

  @Test("BL-4: without blocks it finishes")
  func empty() {
    let operation = BlockOperation()
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("BL-5: blocks are released after they have run, and where they never will")
  func release() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for isCancelled in [true, false] {
        let log = EventLog<String>()
        let operation = BlockOperation()
        for name in ["first", "second"] {
          let probe = DeinitProbe(name, in: log)
          // With a cycle through itself, which only the release of the blocks breaks.
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

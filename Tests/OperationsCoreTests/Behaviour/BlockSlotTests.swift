// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Blocks inside their operation")
struct BlockSlotTests {
  @Test("BL-6: inside each block the operation executes", arguments: [1, 3], [true, false])
  func executing(blockCount: Int, isQueued: Bool) async throws {
    try await onOwnThread {
      let log = EventLog<[Bool]>()
      let operation = BlockOperation()
      for _ in 0..<blockCount {
        operation.addExecutionBlock { [unowned operation] in
          log.note([operation.isExecuting, operation.isFinished, operation.state == .executing])
        }
      }
      if isQueued { OperationQueue().addOperation(operation) } else { operation.start() }
      operation.waitUntilFinished()
      #expect(log.events == Array(repeating: [true, false, true], count: blockCount))
    }
  }

  @Test("BL-7: all blocks together take one slot: one other operation runs beside them, no second")
  func oneSlot() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let gate = Gate()
      let several = BlockOperation()
      for _ in 0..<4 { several.addExecutionBlock { gate.pass() } }
      let others = (0..<2).map { _ in BlockOperation { gate.pass() } }
      queue.addOperations([several] + others, waitUntilFinished: false)
      gate.waitForArrivals(5)
      #expect(others[0].isExecuting && others[1].state == .ready)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(gate.arrivedCount == 6)
    }
  }

  @Test(
    "BL-2: the last block to return finishes the operation, whichever that is", arguments: 0..<3)
  func lastBlock(late: Int) async throws {
    try await onOwnThread {
      let gate = Gate()
      let returned = Monitored(0)
      let operation = BlockOperation()
      for index in 0..<3 {
        operation.addExecutionBlock {
          if index == late { gate.pass() } else { returned.change { $0 += 1 } }
        }
      }
      OperationQueue().addOperation(operation)
      returned.wait(for: "the other blocks") { $0 == 2 }
      gate.waitForArrivals(1)
      #expect(operation.isExecuting && !operation.isFinished)
      gate.open()
      operation.waitUntilFinished()
    }
  }
}

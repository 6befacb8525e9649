// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Awaiting the finish")
struct AwaitingTests {
  @Test("WA-6, WA-5: on return it has left its queue and its dependents are released")
  func guaranteesOnReturn() async {
    let queue = OperationQueue()
    for round in 0..<Effort.scaled(2_000) {
      let operation = round.isMultiple(of: 2) ? BlockOperation {} : PlainSubclass()
      let dependent = Operation()
      dependent.addDependency(operation)
      queue.addOperation(operation)
      await operation.finished()
      #expect(operation.isFinished && queue.operationCount == 0 && dependent.isReady)
    }
  }

  @Test("WA-6: many tasks and threads wait for one operation, and those that come late too")
  func manyWaiters() async throws {
    let operation = BlockOperation {}
    let log = EventLog<Int>()
    for thread in 0..<3 {
      startThread {
        operation.waitUntilFinished()
        log.note(thread)
      }
    }
    await withTaskGroup { group in
      for _ in 0..<20 { group.addTask { await operation.finished() } }
      group.addTask {
        operation.addExecutionBlock {}
        OperationQueue().addOperation(operation)
      }
    }
    await operation.finished()
    #expect(try await onOwnThread { log.wait(forCount: 3) })
  }

  @Test("WA-6: a task that is cancelled waits on, and the operation is not cancelled")
  func cancelledTask() async {
    let operation = Operation()
    let isWaiting = Flag()
    let task = Task {
      isWaiting.raise()
      await operation.finished()
      return operation.isFinished
    }
    task.cancel()
    while !isWaiting.isRaised { await Task.yield() }
    #expect(!operation.isCancelled)
    operation.start()
    #expect(await task.value)
  }
}

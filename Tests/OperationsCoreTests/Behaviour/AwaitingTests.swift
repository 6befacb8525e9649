// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("Awaiting the finish", .timeLimit(.minutes(5)))
struct AwaitingTests {
  @Test("WA-6, WA-5: on return it has left its queue and its dependents are released")
  func guaranteesOnReturn() async {
    let queue = OperationQueue()
    for round in 0..<Effort.scaled(2_000) {
      let operation = round.isMultiple(of: 2) ? BlockOperation {} : PlainSubclass()
      let dependent = Operation()
      dependent.addDependency(operation)
      queue.addOperation(operation)
      await operation.waitUntilFinished()
      #expect(operation.isFinished && queue.operationCount == 0 && dependent.isReady)
    }
  }

  @Test("WA-6: many tasks and threads wait for one operation, some of them after it finished")
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
      for _ in 0..<20 { group.addTask { _ = await operation.waitUntilFinished() } }
      group.addTask {
        operation.addExecutionBlock {}
        OperationQueue().addOperation(operation)
      }
    }
    await operation.waitUntilFinished()
    #expect(try await onOwnThread { log.wait(forCount: 3) })
  }

  @Test("WA-6: cancelling a waiting task ends its wait, and does not affect the operation")
  func cancelledTask() async {
    let operation = Operation()
    let isWaiting = Flag()
    let task = Task {
      isWaiting.raise()
      return await operation.waitUntilFinished()
    }
    while !isWaiting.isRaised { await Task.yield() }
    task.cancel()
    #expect(await task.value == false)
    #expect(!operation.isCancelled && !operation.isFinished)
    operation.start()
    #expect(await operation.waitUntilFinished())
  }

  @Test(
    "WA-6: a task that is cancelled before it waits receives past finishes, and no later ones")
  func cancelledBeforeItWaits() async {
    let finished = Operation()
    finished.start()
    let unfinished = Operation()
    let answers = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await [finished.waitUntilFinished(), unfinished.waitUntilFinished()]
    }.value
    #expect(answers == [true, false])
  }

  @Test("WA-6: a wait that was cancelled leaves nothing behind in the operation")
  func cancelledWaitsAreForgotten() async {
    let operation = Operation()
    for _ in 0..<3 {
      let task = Task { await operation.waitUntilFinished() }
      task.cancel()
      #expect(await task.value == false)
    }
    #expect(operation.rare?.waiters.isEmpty != false)
  }

  @Test("WA-6: cancelling races the finish: each wait ends once, and says true only of a finish")
  func cancellingRacesTheFinish() async {
    for _ in 0..<Effort.scaled(2_000) {
      let operation = Operation()
      let waits = (0..<3).map { _ in
        Task { await (operation.waitUntilFinished(), operation.isFinished) }
      }
      let starter = Task { operation.start() }
      for wait in waits.dropFirst() { wait.cancel() }
      for wait in waits {
        let (wasFinished, isFinished) = await wait.value
        #expect(isFinished || !wasFinished)
      }
      #expect(await waits[0].value.0)
      await starter.value
    }
  }
}

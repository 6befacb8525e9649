// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("The stream of state changes")
struct StateChangesTests {
  /// A change of an operation's state: the old state, the new state, and whether the operation was
  /// cancelled.
  private struct Step: Equatable, CustomStringConvertible {
    let old: OperationState?
    let new: OperationState
    var isCancelled = false

    var description: String {
      "\(old.map { "\($0)" } ?? "–")→\(new)\(isCancelled ? " cancelled" : "")"
    }
  }

  /// Reads changes until a number of operations have finished.
  private func steps(
    of changes: OperationStateChanges, untilFinished count: Int
  ) async -> [OperationStateChange] {
    var all: [OperationStateChange] = []
    var finishedCount = 0
    for await change in changes {
      all.append(change)
      if change.newState == .finished { finishedCount += 1 }
      if finishedCount == count { break }
    }
    return all
  }

  private func steps(_ changes: [OperationStateChange], of operation: Operation) -> [Step] {
    changes.filter { $0.operation == operation.id }.map {
      Step(old: $0.oldState, new: $0.newState, isCancelled: $0.isCancelled)
    }
  }

  @Test("Each state change of each operation is reported once, in order")
  func order() async {
    let queue = OperationQueue()
    queue.isSuspended = true
    let changes = queue.stateChanges()
    let dependency = BlockOperation {}
    let dependent = PlainSubclass()
    dependent.addDependency(dependency)
    let cancelled = BlockOperation {}
    for operation in [dependent, dependency, cancelled] { queue.addOperation(operation) }
    #expect(queue.operationCount == 3)
    cancelled.cancel()
    #expect(queue.operationCount == 3)
    queue.isSuspended = false
    let all = await steps(of: changes, untilFinished: 3)
    #expect(
      steps(all, of: dependency) == [
        Step(old: nil, new: .ready), Step(old: .ready, new: .executing),
        Step(old: .executing, new: .finished),
      ])
    #expect(
      steps(all, of: dependent) == [
        Step(old: nil, new: .waiting), Step(old: .waiting, new: .ready),
        Step(old: .ready, new: .executing), Step(old: .executing, new: .finished),
      ])
    #expect(
      steps(all, of: cancelled) == [
        Step(old: nil, new: .ready), Step(old: .ready, new: .ready, isCancelled: true),
        Step(old: .ready, new: .executing, isCancelled: true),
        Step(old: .executing, new: .finished, isCancelled: true),
      ])
    #expect(all.allSatisfy { $0.queue == queue.id && $0.droppedCount == 0 })
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.time <= $1.time })
  }

  @Test("Changes that do not fit are lost, and the change after the gap has their number")
  func lost() async throws {
    let queue = OperationQueue()
    let changes = queue.stateChanges(bufferingOldest: 4)
    try await onOwnThread {
      queue.maxConcurrentOperationCount = 1
      for _ in 0..<5 { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
    }
    var iterator = changes.makeAsyncIterator()
    for _ in 0..<4 { #expect(await iterator.next()?.droppedCount == 0) }
    queue.addOperation {}
    #expect(await iterator.next()?.droppedCount == 5 * 3 - 4)
    #expect(await iterator.next()?.droppedCount == 0)
  }

  @Test("Two subscribers each receive all later changes, and no earlier ones")
  func twoSubscribers() async throws {
    let queue = OperationQueue()
    try await onOwnThread {
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    }
    let first = queue.stateChanges()
    let second = queue.stateChanges()
    let operation = BlockOperation {}
    queue.addOperation(operation)
    for changes in [first, second] {
      let all = await steps(of: changes, untilFinished: 1)
      #expect(all.count == 3 && all.allSatisfy { $0.operation == operation.id })
    }
  }

  @Test("Cancelling the reading task ends its loop")
  func cancelledReader() async {
    let queue = OperationQueue()
    for _ in 0..<200 {
      let changes = queue.stateChanges()
      let reader = Task {
        var count = 0
        for await _ in changes { count += 1 }
        return count
      }
      reader.cancel()
      #expect(await reader.value == 0)
    }
  }

  @Test("Several tasks may read one sequence; cancelling one leaves the others waiting")
  func severalReaders() async throws {
    let queue = OperationQueue()
    let changes = queue.stateChanges()
    let finishedCount = Monitored(0)
    let readers = (0..<4).map { _ in
      Task {
        for await change in changes where change.newState == .finished {
          finishedCount.change { $0 += 1 }
        }
      }
    }
    readers[0].cancel()
    await readers[0].value
    try await onOwnThread {
      for round in 1...200 {
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        guard finishedCount.wait(for: "round \(round)", until: { $0 == round }) else { return }
      }
    }
    for reader in readers {
      reader.cancel()
      await reader.value
    }
  }

  @Test("A subscription keeps the queue, and ends with its sequence")
  func lifetime() async throws {
    try await onOwnThread {
      weak var remembered: OperationQueue?
      do {
        let changes = OperationQueue().stateChanges()
        let queues = QueueRegistry.queues
        #expect(!queues.isEmpty)
        let holder = OperationQueue()
        let other = holder.stateChanges()
        remembered = holder
        withExtendedLifetime((changes, other)) {}
      }
      #expect(remembered == nil)
    }
  }

  @Test("WA-6: a reader that its executor resumes on the worker may wait for the next operation")
  func resumedOnTheWorker() async throws {
    try await onOwnThread(within: Self.limit) {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let operations = [BlockOperation {}, BlockOperation {}]
      let hasWaited = self.afterFinish(of: operations[0], in: queue) {
        operations[1].waitUntilFinished()
      }
      queue.addOperations(operations, waitUntilFinished: false)
      queue.isSuspended = false
      hasWaited.pass()
    }
  }

  @Test("WA-6: a reader that its executor resumes on a searching worker may use the queue")
  func resumedOnTheSearchingWorker() async throws {
    try await onOwnThread(within: Self.limit) {
      let queue = OperationQueue()
      let first = BlockOperation {}
      let hasWaited = self.afterFinish(of: first, in: queue) {
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      }
      queue.addOperation(first)
      hasWaited.pass()
    }
  }

  private static let limit = Duration.seconds(20)

  /// Subscribes to the changes of a queue with a task that runs on the threads that resume it. The
  /// task calls `body` when the operation has finished, and then opens the returned gate.
  private func afterFinish(
    of operation: Operation, in queue: OperationQueue, _ body: @escaping @Sendable () -> Void
  ) -> Gate {
    let changes = queue.stateChanges()
    let id = operation.id
    let hasReturned = Gate()
    Task(executorPreference: CallingThread()) {
      for await change in changes where change.operation == id && change.newState == .finished {
        body()
        hasReturned.open()
        return
      }
    }
    return hasReturned
  }
}

/// Runs each job on the thread that enqueues it.
private final class CallingThread: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}

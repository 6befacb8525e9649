// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import TestSupport
import Testing

@Suite("Counts and changes of a queue that runs on a dispatch queue")
struct UnderlyingQueueMonitorTests {
  private func makeQueue(on dispatchQueue: DispatchQueue) -> OperationQueue {
    let queue = OperationQueue()
    queue.underlyingQueue = dispatchQueue
    return queue
  }

  private func counts(of queue: OperationQueue) -> [Int] {
    let counts = queue.takeChanges(for: CollectorID(), limit: 0).counts
    return [
      counts.waiting, counts.ready, counts.executing, counts.cancelling, counts.finished,
      counts.cancelled, counts.total,
    ]
  }

  @Test("Each operation is counted in one state at each moment")
  func exactCounts() async throws {
    try await onOwnThread {
      let dispatchQueue = DispatchQueue(label: "suspended")
      let queue = makeQueue(on: dispatchQueue)
      dispatchQueue.suspend()
      let gate = Gate()
      let first = BlockOperation { gate.pass() }
      let second = PlainSubclass()
      let third = BlockOperation {}
      third.addDependency(second)
      for operation in [first, second, third] { queue.addOperation(operation) }
      // A block that has not begun on the dispatch queue holds no slot: its operation is still
      // ready.
      #expect(counts(of: queue) == [1, 2, 0, 0, 0, 0, 3])
      dispatchQueue.resume()
      gate.waitForArrivals(1)
      #expect(counts(of: queue) == [1, 1, 1, 0, 0, 0, 3])
      third.cancel()
      #expect(counts(of: queue) == [0, 2, 1, 1, 0, 0, 3])
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(counts(of: queue) == [0, 0, 0, 0, 2, 1, 3])
    }
  }

  @Test("Each state change of each operation is reported once", arguments: [false, true])
  func changes(isConcurrent: Bool) async throws {
    let queue = makeQueue(
      on: DispatchQueue(label: "watched", attributes: isConcurrent ? .concurrent : []))
    let changes = queue.stateChanges()
    let operations = (0..<200).map { index in
      index.isMultiple(of: 2) ? BlockOperation {} : PlainSubclass()
    }
    try await onOwnThread { queue.addOperations(operations, waitUntilFinished: true) }
    var steps: [OperationID: [OperationState]] = [:]
    var finishedCount = 0
    for await change in changes {
      steps[change.operation, default: []].append(change.newState)
      if change.newState == .finished { finishedCount += 1 }
      if finishedCount == operations.count { break }
    }
    #expect(steps.count == operations.count)
    #expect(steps.values.allSatisfy { $0 == [.ready, .executing, .finished] })
  }
}

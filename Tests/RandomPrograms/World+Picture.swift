// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

extension World {
  /// Returns the visible state of the operations and queues. A queue that is `nil` in the expected
  /// state is no longer used, and may be released somewhat later, so it is left out.
  func picture(asIn expected: Picture) -> Picture {
    var picture = Picture()
    let entries = reports.snapshot.entries
    for index in program.operations.indices {
      picture.runCounts.append(entries[index].beginCount)
      if let operation = operation(index) {
        picture.operations.append(view(of: operation, index))
      } else {
        picture.operations.append(nil)
      }
    }
    for index in program.queues.indices {
      let isNeeded = expected.queues[index] != nil
      picture.queues.append(isNeeded ? livingQueue(index).map(view) : nil)
    }
    return picture
  }

  private func view(of operation: Operation, _ index: Int) -> Picture.OperationView {
    var isSettled = operation.state == .executing || operation.state == .finished
    if !program.operations[index].kind.hasCondition { isSettled = true }
    return Picture.OperationView(
      isReady: operation.isReady, isExecuting: operation.isExecuting,
      isFinished: operation.isFinished, isCancelled: operation.isCancelled,
      queuePriority: operation.queuePriority, dependencies: indices(of: operation.dependencies),
      state: isSettled ? operation.state : nil)
  }

  private func view(of queue: OperationQueue) -> Picture.QueueView {
    Picture.QueueView(
      operations: indices(of: queue.operations), operationCount: queue.operationCount,
      isSuspended: queue.isSuspended,
      maxConcurrentOperationCount: queue.maxConcurrentOperationCount,
      counts: queue.schedulerContent.counts)
  }

  private func indices(of operations: [Operation]) -> [Int?] { operations.map(index) }

  /// Returns the results that come somewhat later than the visible state, such as released objects.
  /// Results that are `nil` in the expected value are not specified, so they are left out.
  func aftermath(asIn expected: Aftermath) -> Aftermath {
    let state = reports.snapshot
    var aftermath = Aftermath()
    for index in program.operations.indices {
      let entry = state.entries[index]
      aftermath.completionCounts.append(entry.completionCount)
      aftermath.returnedCounts.append(entry.returnedCount)
      aftermath.isDestroyed.append(isDestroyed(index, entry))
      let isOpen = expected.isBlockDestroyed[index] == nil
      aftermath.isBlockDestroyed.append(isOpen ? nil : entry.isCaptureDestroyed)
    }
    aftermath.returnedFromQueueCounts = state.returnedFromQueueCount
    aftermath.isQueueDestroyed = state.isQueueDestroyed
    return aftermath
  }
}

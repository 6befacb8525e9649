// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

extension Model {
  /// The visible state that the documented rules require.
  var picture: Picture {
    Picture(
      runCounts: items.map(\.runCount), operations: items.indices.map(view),
      queues: lines.indices.map(queueView))
  }

  private func view(of index: Int) -> Picture.OperationView? {
    let item = items[index]
    guard item.isHeld, item.kind != .barrier else { return nil }
    let isReady = isReady(index)
    let state: OperationState? =
      switch item.phase {
      case .finished: .finished
      case .executing: .executing
      case .pending:
        item.kind.hasCondition
          ? nil : isReady && (item.turn.exclusion == nil || item.isCancelled) ? .ready : .waiting
      }
    return Picture.OperationView(
      isReady: isReady, isExecuting: item.phase == .executing,
      isFinished: item.phase == .finished, isCancelled: item.isCancelled,
      queuePriority: item.priority, dependencies: item.dependencies, state: state)
  }

  private func queueView(of queue: Int) -> Picture.QueueView? {
    guard isLiving(queue: queue) else { return nil }
    let line = lines[queue]
    let listed = operations(in: queue)
    return Picture.QueueView(
      operations: listed, operationCount: listed.count, isSuspended: line.isSuspended,
      maxConcurrentOperationCount: line.width, counts: counts(of: listed, in: line))
  }

  /// Returns the queue's counts, which do not include barriers.
  private func counts(of listed: [Int], in line: Line) -> QueueSnapshot.Counts {
    let executing = listed.count { line.executing.contains($0) }
    let ready = listed.count { line.ready.contains($0) }
    return QueueSnapshot.Counts(
      waiting: listed.count - executing - ready, ready: ready, executing: executing,
      cancelling: listed.count { items[$0].isCancelled }, finished: line.finishedCount,
      cancelled: line.cancelledCount, total: line.totalCount)
  }

  /// The results, such as calls of completion blocks and releases of objects, that the documented
  /// rules require.
  var aftermath: Aftermath {
    let exists = whichExist
    return Aftermath(
      completionCounts: items.map { $0.hasCompletionBlock && $0.phase == .finished ? 1 : 0 },
      returnedCounts: items.map { $0.phase == .finished ? $0.waiterCount : 0 },
      isDestroyed: items.indices.map { items[$0].kind != .barrier && !exists[$0] },
      isBlockDestroyed: items.indices.map { isBlockDestroyed($0, exists[$0]) },
      returnedFromQueueCounts: lines.map(\.returnedCount),
      isQueueDestroyed: lines.indices.map { !isLiving(queue: $0) })
  }

  /// Returns whether the block of an operation must have been released; `nil` if the time is not
  /// specified. A block is released after it has run in a queue, and at the latest with its
  /// operation. [BL-5]
  private func isBlockDestroyed(_ index: Int, _ exists: Bool) -> Bool? {
    let item = items[index]
    guard item.kind == .block || item.kind == .barrier && item.queue != nil else { return nil }
    if !exists { return true }
    switch item.phase {
    case .pending: return false
    case .executing: return nil
    case .finished: return item.runCount > 0 || item.kind == .barrier ? item.queue != nil : nil
    }
  }
}

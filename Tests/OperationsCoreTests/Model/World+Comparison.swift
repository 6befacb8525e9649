// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore

extension World {
  /// What differs from the model in what is settled once nothing is under way.
  func differences(from model: Model) -> [String] {
    var differences = Differences()
    let entries = reports.snapshot.entries
    for (index, item) in model.items.enumerated() {
      let name = Program.name(ofOperation: index)
      differences.note("runs of \(name)", entries[index].beginCount, item.runCount)
      guard item.kind != .barrier, let operation = operation(index) else { continue }
      compare(operation, index, with: model, &differences)
    }
    for index in model.lines.indices {
      guard let queue = livingQueue(index) else { continue }
      compare(queue, index, with: model, &differences)
    }
    return differences.texts + reports.snapshot.violations
  }

  private func compare(
    _ operation: Operation, _ index: Int, with model: Model, _ differences: inout Differences
  ) {
    let item = model.items[index]
    let name = Program.name(ofOperation: index)
    differences.note("\(name).isReady", operation.isReady, model.isReady(index))
    differences.note("\(name).isExecuting", operation.isExecuting, item.phase == .executing)
    differences.note("\(name).isFinished", operation.isFinished, item.phase == .finished)
    differences.note("\(name).isCancelled", operation.isCancelled, item.isCancelled)
    differences.note("\(name).queuePriority", operation.queuePriority, item.priority)
    differences.note(
      "\(name).dependencies", names(of: operation.dependencies), Self.names(of: item.dependencies))
    if let state = model.state(of: index) {
      differences.note("\(name).state", operation.state, state)
    }
  }

  private func compare(
    _ queue: OperationQueue, _ index: Int, with model: Model, _ differences: inout Differences
  ) {
    let line = model.lines[index]
    let name = Program.name(ofQueue: index)
    let listed = model.operations(in: index)
    differences.note("\(name).operations", names(of: queue.operations), Self.names(of: listed))
    differences.note("\(name).operationCount", queue.operationCount, listed.count)
    differences.note("\(name).isSuspended", queue.isSuspended, line.isSuspended)
    differences.note(
      "\(name).maxConcurrentOperationCount", queue.maxConcurrentOperationCount, line.width)
    let counts = queue.core.withScheduler { scheduler, _ in scheduler.counts }
    differences.note("counts of \(name)", counts, model.counts(of: index))
  }

  /// What differs from the model in what comes a little later: completion blocks, threads that
  /// wait, and the end of what nobody needs any more.
  func lateDifferences(from model: Model) -> [String] {
    var differences = Differences()
    let state = reports.snapshot
    let living = model.living
    for (index, item) in model.items.enumerated() {
      let name = Program.name(ofOperation: index)
      let entry = state.entries[index]
      let isFinished = item.phase == .finished
      let completionCount = isFinished && item.hasCompletionBlock ? 1 : 0
      differences.note("completions of \(name)", entry.completionCount, completionCount)
      let returnedCount = isFinished ? item.waiterCount : 0
      differences.note("returned waits for \(name)", entry.returnedCount, returnedCount)
      if item.kind != .barrier {
        differences.note("whether \(name) exists", !isDestroyed(index), living.contains(index))
      }
      guard item.kind == .block || item.kind == .barrier, item.kind != .barrier || !item.isHeld
      else { continue }
      let isOver = !living.contains(index) || isFinished && item.runCount > 0
      if isOver || item.phase == .pending {
        differences.note("whether the block of \(name) exists", !entry.isCaptureDestroyed, !isOver)
      }
    }
    for (index, line) in model.lines.enumerated() {
      let name = Program.name(ofQueue: index)
      differences.note(
        "returned waits for all in \(name)", state.returnedFromQueueCount[index],
        line.returnedCount)
      differences.note(
        "whether \(name) exists", !state.isQueueDestroyed[index], model.isLiving(queue: index))
    }
    return differences.texts
  }

  private func names(of operations: [Operation]) -> [String] {
    operations.map { index(of: $0).map(Program.name(ofOperation:)) ?? $0.description }
  }

  private static func names(of indices: [Int]) -> [String] {
    indices.map(Program.name(ofOperation:))
  }
}

/// Collects what is not as it should be, each with what should be.
private struct Differences {
  private(set) var texts: [String] = []

  mutating func note<Value: Equatable>(
    _ what: @autoclosure () -> String, _ seen: Value, _ expected: Value
  ) {
    if seen != expected { texts.append("\(what()): \(seen), by the rules \(expected)") }
  }
}

extension Model {
  /// What `Operation.state` shows. `nil` where it says whether a queue has asked a condition already,
  /// which is left open.
  fileprivate func state(of index: Int) -> Operation.State? {
    switch items[index].phase {
    case .finished: .finished
    case .executing: .executing
    case .pending: items[index].kind.hasCondition ? nil : isReady(index) ? .ready : .waiting
    }
  }

  /// What a queue counts; barriers it does not.
  fileprivate func counts(of queue: Int) -> QueueScheduler.Counts {
    let line = lines[queue]
    let operations = operations(in: queue)
    let executing = operations.count { line.executing.contains($0) }
    let ready = operations.count { line.ready.contains($0) }
    return QueueScheduler.Counts(
      waiting: operations.count - executing - ready, ready: ready, executing: executing,
      cancelling: operations.count { items[$0].isCancelled }, finished: line.finishedCount,
      cancelled: line.cancelledCount, total: line.totalCount)
  }
}

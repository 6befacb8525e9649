// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Follows the unmet dependencies of an operation, each time the one that looks slowest, to the
/// operation that blocks all.
struct DependencyWalk {
  /// An estimate of the time until a dependency finishes. Later cases mean longer times.
  private enum Outlook: Comparable {
    case executing
    case ready
    case excluded
    case notReadyByItself
    /// The dependency waits for this number of dependencies.
    case waiting(Int)
    case suspended
    case neverAdded
  }

  private var isSuspendedByQueue: [QueueID: Bool] = [:]

  /// Returns the chain from an operation on; `nil` if it waits for no dependency.
  mutating func chain(from start: Operation) -> DependencyChain? {
    var operations: [Operation] = []
    var current = start
    while let next = slowest(of: current.dependenciesInTheWay) {
      if next === start || operations.contains(where: { $0 === next }) {
        return DependencyChain(operations, .cycle(OperationReference(next)))
      }
      if operations.count == DependencyChain.longest { return DependencyChain(operations, .goesOn) }
      operations.append(next)
      current = next
    }
    return operations.last.map { DependencyChain(operations, end($0)) }
  }

  private mutating func slowest(of operations: [Operation]) -> Operation? {
    var slowest: (operation: Operation, outlook: Outlook)?
    for operation in operations {
      let outlook = outlook(for: operation)
      // If several dependencies look equally slow, the first one is used.
      if slowest.map({ $0.outlook < outlook }) ?? true { slowest = (operation, outlook) }
    }
    return slowest?.operation
  }

  private mutating func outlook(for operation: Operation) -> Outlook {
    let status = operation.status.load(ordering: .acquiring)
    if !status.isPending || status.has(.dispatched) { return .executing }
    if status.isLeftAlone { return .neverAdded }
    if status.isHeldUpByDependencies { return .waiting(status.unmetDependencyCount) }
    if status.isHeldUpByItself { return .notReadyByItself }
    if status.isExcluded { return .excluded }
    guard let queue = operation.queueHoldingIt else { return .executing }
    return isSuspended(queue) ? .suspended : .ready
  }

  private mutating func isSuspended(_ queue: OperationQueue) -> Bool {
    if let known = isSuspendedByQueue[queue.id] { return known }
    let isSuspended = queue.core.withScheduler { scheduler, _ in scheduler.startsNothing }
    isSuspendedByQueue[queue.id] = isSuspended
    return isSuspended
  }

  private mutating func end(_ operation: Operation) -> DependencyChain.End {
    switch outlook(for: operation) {
    case .executing: return .executing
    // The operation has received a dependency since then.
    case .waiting: return .goesOn
    case .notReadyByItself: return .notReadyByItself
    case .excluded: return .excluded
    case .neverAdded: return .neverAdded
    case .ready, .suspended:
      guard let queue = operation.queueHoldingIt else { return .executing }
      return isSuspended(queue)
        ? .suspended(QueueReference(queue)) : .ready(QueueReference(queue))
    }
  }
}

extension DependencyChain {
  fileprivate init(_ operations: [Operation], _ end: End) {
    self.init(operations: operations.map(OperationReference.init), end: end)
  }
}

extension QueueScheduler {
  /// Whether no operation can start, however many slots are free, until the program changes that.
  var startsNothing: Bool { isSuspended || maxConcurrentOperationCount == 0 }
}

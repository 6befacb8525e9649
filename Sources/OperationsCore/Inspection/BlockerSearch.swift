// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Finds the operation that blocks another operation. The search follows a path of dependencies:
/// each operation leads to its unmet dependency that looks slowest. Only the operations on this
/// path are read.
struct BlockerSearch {
  /// An estimate of the time until a dependency finishes. Later cases mean longer times.
  private enum Outlook: Comparable {
    case executing
    case ready
    case excluded
    case notReadyByItself
    /// The dependency itself waits for this number of unmet dependencies.
    case waiting(Int)
    case suspended
    case neverAdded
  }

  private var picture: WaitPicture
  private var isSuspendedByQueue: [QueueID: Bool] = [:]

  private init(from start: Operation) { picture = WaitPicture(dependenciesOf: start) }

  /// Returns the chain from an operation to the operation that blocks it; `nil` if the operation
  /// waits for no dependency.
  static func chain(from start: Operation) -> OperationDependencyChain? {
    var search = BlockerSearch(from: start)
    return search.chain()
  }

  private mutating func chain() -> OperationDependencyChain? {
    var path = [0]
    while let last = path.last, let next = slowest(of: picture.readWait(of: last).operations) {
      if path.contains(next) { return chain(path, .cycle(OperationReference(operation(next)))) }
      if path.count > OperationDependencyChain.longest { return chain(path, .goesOn) }
      path.append(next)
    }
    guard path.count > 1, let last = path.last else { return nil }
    return chain(path, end(operation(last)))
  }

  /// Returns a path of operations as a chain. The first operation of the path, whose blocker is
  /// searched, is not part of the chain.
  private func chain(_ path: [Int], _ end: OperationDependencyChain.End) -> OperationDependencyChain
  {
    let operations = path.dropFirst().map { OperationReference(operation($0)) }
    return OperationDependencyChain(operations: operations, end: end)
  }

  private func operation(_ number: Int) -> Operation { picture.operations[number] }

  private mutating func slowest(of numbers: [Int]) -> Int? {
    var slowest: (number: Int, outlook: Outlook)?
    for number in numbers {
      let outlook = outlook(for: operation(number))
      // If several dependencies look equally slow, the first one is used.
      if slowest.map({ $0.outlook < outlook }) ?? true { slowest = (number, outlook) }
    }
    return slowest?.number
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

  private mutating func end(_ operation: Operation) -> OperationDependencyChain.End {
    switch outlook(for: operation) {
    case .executing: return .executing
    case .waiting:
      // If the operation has no delay, it has got another dependency since its dependencies were read.
      return operation.delayLeft.map { .delayed(timeLeft: $0) } ?? .goesOn
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

extension QueueScheduler {
  /// Whether no operation of this queue can start until the program resumes the queue or changes
  /// its width.
  var startsNothing: Bool { isSuspended || maxConcurrentOperationCount == 0 }
}

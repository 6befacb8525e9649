// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// A model of the documented rules for operations and queues. It is sequential and simple, and uses
/// no code of the library.
///
/// This is a value. Its methods perform the steps of a program, and its members give the required
/// state after each step.
struct Model: Hashable, Sendable {
  /// The documented rules. Tests disable single rules, to check that the comparison of the model with
  /// the library detects that a rule is missing.
  struct Rules: OptionSet, Hashable {
    let rawValue: Int

    /// CA-6: a queue retires cancelled operations before it starts others.
    static let cancelledFirst = Rules(rawValue: 1 << 0)
    /// PR-3: a queue starts the ready operation of the highest priority.
    static let priorities = Rules(rawValue: 1 << 1)
    /// PR-3: among operations of equal priority, a queue starts the operation that has been ready
    /// for longest.
    static let firstReadyFirst = Rules(rawValue: 1 << 2)
    /// PR-5: an operation that gets a new priority starts after the operations that already have
    /// this priority.
    static let tailOfNewLevel = Rules(rawValue: 1 << 3)
    /// MX-1, MX-2: the width limits the number of executing operations.
    static let width = Rules(rawValue: 1 << 4)
    /// MX-7: a suspended queue starts no operation.
    static let suspension = Rules(rawValue: 1 << 5)
    /// CA-4: a cancelled operation does not wait for its dependencies.
    static let cancelEndsWaiting = Rules(rawValue: 1 << 6)
    /// CA-9: cancelling a dependency does not satisfy its dependents.
    static let onlyFinishSatisfies = Rules(rawValue: 1 << 7)
    /// CA-2: cancelling has no effect on a finished operation.
    static let finishedStaysUncancelled = Rules(rawValue: 1 << 8)
    /// DE-9: an operation that loses its last unfinished dependency is ready.
    static let removingReleases = Rules(rawValue: 1 << 9)
    /// DE-6: a dependency counts once, even if it is added several times.
    static let idempotentDependencies = Rules(rawValue: 1 << 10)
    /// DE-14: an operation retains its dependencies.
    static let retainsDependencies = Rules(rawValue: 1 << 11)
    /// DE-18: a subclass may have its own condition, and the operation waits until the condition is
    /// met.
    static let ownCondition = Rules(rawValue: 1 << 12)
    /// BA-1: no operation overtakes a barrier, and a barrier overtakes no operation.
    static let barriers = Rules(rawValue: 1 << 13)

    /// A mutual exclusion limits the number of operations that execute with it.
    static let exclusions = Rules(rawValue: 1 << 14)
    /// An operation that requires the success of a dependency is cancelled if the dependency was
    /// cancelled.
    static let requirements = Rules(rawValue: 1 << 15)

    static let all = Rules(rawValue: (1 << 16) - 1)
  }

  enum Phase: Hashable { case pending, executing, finished }

  /// The model of an operation.
  struct Item: Hashable {
    let kind: OperationKind
    let hasCompletionBlock: Bool
    let exclusions: [Int]
    /// Whether the program still has its reference to the operation.
    var isHeld = true
    var phase = Phase.pending
    var isCancelled = false
    /// The value of the subclass's own condition, which is part of `isReady`.
    var condition = true
    var priority = Operation.QueuePriority.normal
    var dependencies: [Int] = []
    /// The dependencies that the operation waits for: their finish has not been processed for this
    /// operation.
    var awaited: [Int] = []
    /// The operations that wait for this operation, in the order in which they began to depend on
    /// it.
    var dependents: [Int] = []
    /// The dependencies whose success is required and has not been checked. If such a dependency
    /// was cancelled, this operation will be cancelled.
    var undecided: [Int] = []
    /// The operations that require the success of this operation.
    var requirers: [Int] = []
    /// The state of the operation with respect to its mutual exclusions.
    var turn = Turn()
    /// The queue to which the operation was added. It never changes.
    var queue: Int?
    var runCount = 0
    var waiterCount = 0
  }

  /// The model of a queue.
  struct Line: Hashable {
    var width: Int
    var isHeld = true
    var isSuspended = false
    /// The operations that have not left the queue, including barriers, in the order of addition.
    var entries: [Int] = []
    /// The operations that are ready, in the order in which they became ready.
    var ready: [Int] = []
    /// The operations that hold a slot.
    var executing: [Int] = []
    var finishedCount = 0
    var cancelledCount = 0
    var totalCount = 0
    var waiterCount = 0
    /// The number of threads whose wait for the empty queue has ended.
    var returnedCount = 0
  }

  let rules: Rules
  var items: [Item]
  var lines: [Line]
  /// The pending events: each list has the remaining actions of one thread, in order. The lists can
  /// proceed in any order.
  var threads: [[Event]] = []

  /// The number of operations that have requested mutual exclusions.
  var askerCount = 0
  /// Whether the result of the program is not determined by the documented rules.
  var isUndetermined = false

  init(_ program: Program, rules: Rules = .all) {
    self.rules = rules
    items = program.operations.map {
      Item(
        kind: $0.kind, hasCompletionBlock: $0.hasCompletionBlock, exclusions: $0.exclusions)
    }
    lines = program.queues.map { Line(width: $0.width) }
  }
}

// MARK: - The required state

extension Model {
  /// Returns the value that the operation's `isReady` must have. [DE-1, DE-18, ST-3]
  func isReady(_ index: Int) -> Bool {
    let item = items[index]
    let waitsForNothing = item.isCancelled && rules.contains(.cancelEndsWaiting)
    let waits = !item.awaited.isEmpty || !item.undecided.isEmpty
    let base = !waits || waitsForNothing || item.phase != .pending
    guard rules.contains(.ownCondition) else { return base }
    return switch item.kind {
    case .conditional: base && item.condition
    case .oblivious: item.condition
    case .stateful: base && item.phase == .pending
    case .block, .plain, .asynchronous, .late, .lingering, .selfFinishing, .barrier: base
    }
  }

  /// Returns whether a queue may choose the operation. A cancelled operation may always be chosen,
  /// and then finishes without running.
  func mayStart(_ index: Int) -> Bool {
    isReady(index) || items[index].isCancelled && rules.contains(.cancelEndsWaiting)
  }

  /// Returns the operations that the queue's property `operations` must contain.
  func operations(in queue: Int) -> [Int] {
    lines[queue].entries.filter { items[$0].kind != .barrier }
  }

  /// Whether each operation must still exist. [DE-14, section 1.16]
  var whichExist: [Bool] {
    var exists = items.indices.map(isHeldBySomebody)
    guard rules.contains(.retainsDependencies), exists.contains(false) else { return exists }
    var open = items.indices.filter { exists[$0] }
    while let index = open.popLast() {
      for dependency in items[index].dependencies where !exists[dependency] {
        exists[dependency] = true
        open.append(dependency)
      }
    }
    return exists
  }

  private func isHeldBySomebody(_ index: Int) -> Bool {
    let item = items[index]
    if item.isHeld { return true }
    switch item.phase {
    case .pending: return item.queue != nil || item.waiterCount > 0
    case .executing: return true
    case .finished: return false
    }
  }

  /// Returns whether the queue exists.
  func isLiving(queue: Int) -> Bool {
    let line = lines[queue]
    return line.isHeld || !line.entries.isEmpty || line.returnedCount < line.waiterCount
  }

  /// Returns whether the operation depends on itself, directly or through other operations. Such an
  /// operation is never released.
  func isInCycle(_ index: Int) -> Bool {
    var reached: Set<Int> = []
    var open = items[index].dependencies
    while let next = open.popLast() {
      if next == index { return true }
      if reached.insert(next).inserted { open += items[next].dependencies }
    }
    return false
  }
}

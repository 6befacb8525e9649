// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// What the documented rules say of a few operations and queues: one thing after the other, naive,
/// and without a line of the library's.
///
/// A value. Its methods take the steps of a program; its members say what must be seen after each.
struct Model: Hashable, Sendable {
  /// The rules that can be left out, to see that the tests notice.
  struct Rules: OptionSet, Hashable {
    let rawValue: Int

    /// CA-6: a queue retires what was cancelled before it starts anything.
    static let cancelledFirst = Rules(rawValue: 1 << 0)
    /// PR-3: of the ready ones a queue starts the one of the highest priority.
    static let priorities = Rules(rawValue: 1 << 1)
    /// PR-3: of those of one priority it starts the one that has been ready for longest.
    static let firstReadyFirst = Rules(rawValue: 1 << 2)
    /// PR-5: with a new priority it goes to the tail.
    static let tailOfNewLevel = Rules(rawValue: 1 << 3)
    /// MX-1, MX-2: so many at once, and no more.
    static let width = Rules(rawValue: 1 << 4)
    /// MX-7: a suspended queue starts nothing.
    static let suspension = Rules(rawValue: 1 << 5)
    /// CA-4: a cancelled operation waits for nothing.
    static let cancelEndsWaiting = Rules(rawValue: 1 << 6)
    /// CA-9: that a dependency was cancelled satisfies nobody.
    static let onlyFinishSatisfies = Rules(rawValue: 1 << 7)
    /// CA-2: nothing happens to a finished one.
    static let finishedStaysUncancelled = Rules(rawValue: 1 << 8)
    /// DE-9: who loses the last unfinished dependency is ready.
    static let removingReleases = Rules(rawValue: 1 << 9)
    /// DE-6: a dependency counts once, however often it is added.
    static let idempotentDependencies = Rules(rawValue: 1 << 10)
    /// DE-14: an operation retains its dependencies.
    static let retainsDependencies = Rules(rawValue: 1 << 11)
    /// DE-18: the subclass's own condition holds it up.
    static let ownCondition = Rules(rawValue: 1 << 12)
    /// BA-1: nothing overtakes a barrier, and a barrier overtakes nothing.
    static let barriers = Rules(rawValue: 1 << 13)

    static let all = Rules(rawValue: (1 << 14) - 1)
  }

  enum Phase: Hashable { case pending, executing, finished }

  /// One operation.
  struct Item: Hashable {
    let kind: OperationKind
    let hasCompletionBlock: Bool
    /// Whether the program still has its reference.
    var isHeld = true
    var phase = Phase.pending
    var isCancelled = false
    /// The subclass's own part of `isReady`.
    var condition = true
    var priority = Operation.QueuePriority.normal
    var dependencies: [Int] = []
    /// Those of the dependencies of whose finish it has not heard.
    var awaited: [Int] = []
    /// Those who want to hear of its finish, in the order in which they were told to wait for it.
    var dependents: [Int] = []
    /// The queue that it was added to, once and for all.
    var queue: Int?
    var runCount = 0
    var waiterCount = 0
  }

  /// One queue.
  struct Line: Hashable {
    var width: Int
    var isHeld = true
    var isSuspended = false
    /// Those that have not left, barriers included, in the order of addition.
    var entries: [Int] = []
    /// Those that may start as far as they are concerned, in the order in which they became so.
    var ready: [Int] = []
    /// Those that have a slot.
    var executing: [Int] = []
    var finishedCount = 0
    var cancelledCount = 0
    var totalCount = 0
    var waiterCount = 0
    /// How many of the waiters have seen the queue empty.
    var returnedCount = 0
  }

  let rules: Rules
  var items: [Item]
  var lines: [Line]
  /// What has been set going and has not happened yet: each list is what one thread still has to
  /// do, in this order. The threads are as fast as they like.
  var threads: [[Event]] = []

  init(_ program: Program, rules: Rules = .all) {
    self.rules = rules
    items = program.operations.map {
      Item(kind: $0.kind, hasCompletionBlock: $0.hasCompletionBlock)
    }
    lines = program.queues.map { Line(width: $0.width) }
  }
}

// MARK: - What is to be seen

extension Model {
  /// What the operation's `isReady` answers. [DE-1, DE-18, ST-3]
  func isReady(_ index: Int) -> Bool {
    let item = items[index]
    let waitsForNothing = item.isCancelled && rules.contains(.cancelEndsWaiting)
    let base = item.awaited.isEmpty || waitsForNothing || item.phase != .pending
    guard rules.contains(.ownCondition) else { return base }
    return switch item.kind {
    case .conditional: base && item.condition
    case .oblivious: item.condition
    case .stateful: base && item.phase == .pending
    case .block, .plain, .asynchronous, .late, .lingering, .selfFinishing, .barrier: base
    }
  }

  /// Whether a queue may start it: a cancelled one only has to be retired.
  func mayStart(_ index: Int) -> Bool {
    isReady(index) || items[index].isCancelled && rules.contains(.cancelEndsWaiting)
  }

  /// The queue's `operations`.
  func operations(in queue: Int) -> [Int] {
    lines[queue].entries.filter { items[$0].kind != .barrier }
  }

  /// Which of the operations exist. [DE-14, section 1.16]
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

  /// Whether the queue exists.
  func isLiving(queue: Int) -> Bool {
    let line = lines[queue]
    return line.isHeld || !line.entries.isEmpty || line.returnedCount < line.waiterCount
  }

  /// Whether the operation waits for itself by way of others, so that nothing will release it.
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

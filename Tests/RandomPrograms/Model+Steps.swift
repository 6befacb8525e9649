// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

extension Model {
  /// Performs one step of a program and all events that follow from it.
  ///
  /// - Returns: The step as it was performed; `nil` if the step is impossible, or if its result
  ///   depends on the speeds of the threads. If the result is `nil`, the model is unchanged.
  mutating func perform(_ step: Step) -> Step? {
    var next = self
    guard let taken = next.begin(step), let outcome = next.outcome() else { return nil }
    self = outcome
    return taken
  }

  /// Performs a step without the events that follow from it. Returns `nil` if the step is
  /// impossible.
  private mutating func begin(_ step: Step) -> Step? {
    switch step {
    case .add(let members, to: let queue): return add(members, to: queue)
    case .start(let index): return start(index) ? step : nil
    case .finish(let index): return finish(index) ? step : nil
    case .cancel(let index):
      guard isAtHand(index) else { return nil }
      threads.append([.cancel(index)])
    case .depend(let index, on: let other):
      guard isAtHand(index), isAtHand(other), index != other, keepsPlace(index),
        keepsTurn(index, with: other)
      else { return nil }
      depend(index, on: other)
    case .require(let index, on: let other):
      guard isAtHand(index), isAtHand(other), index != other,
        items[index].kind.hasPlainReadiness, keepsTurn(index, with: other)
      else { return nil }
      require(index, on: other)
    case .undepend(let index, from: let other):
      guard isAtHand(index), isAtHand(other) else { return nil }
      undepend(index, from: other)
    case .prioritise(let index, let priority):
      guard isAtHand(index) else { return nil }
      prioritise(index, priority)
    case .allow(let index): return setCondition(of: index, true) ? step : nil
    case .forbid(let index): return setCondition(of: index, false) ? step : nil
    case .drop(let index):
      guard isAtHand(index), mayBeDropped(index) else { return nil }
      items[index].isHeld = false
    case .wait(let index):
      guard isAtHand(index) else { return nil }
      items[index].waiterCount += 1
    case .cancelAll(in: let queue), .suspend(let queue), .resume(let queue),
      .setWidth(let queue, _), .dropQueue(let queue), .waitForAll(in: let queue):
      guard lines[queue].isHeld else { return nil }
      control(queue, step)
    }
    return step
  }

  /// Returns whether a step of the program can use the operation.
  private func isAtHand(_ index: Int) -> Bool {
    items[index].isHeld && items[index].kind != .barrier
  }

  /// Returns whether the operation can finish and be released if the program no longer has a
  /// reference to it.
  private func mayBeDropped(_ index: Int) -> Bool {
    let item = items[index]
    let isWaitedFor = item.waiterCount > 0 && item.phase == .pending && item.queue == nil
    return !isInCycle(index) && !isWaitedFor
  }

  // MARK: Queues

  private mutating func control(_ queue: Int, _ step: Step) {
    switch step {
    case .suspend: lines[queue].isSuspended = true
    case .resume: lines[queue].isSuspended = false
    case .setWidth(_, let width): lines[queue].width = width
    case .dropQueue: lines[queue].isHeld = false
    case .waitForAll:
      lines[queue].waiterCount += 1
      if lines[queue].entries.isEmpty { lines[queue].returnedCount += 1 }
    default:
      // Barriers are cancelled before the other operations, because an operation that precedes a
      // barrier may finish as soon as it is cancelled.
      let barriers = lines[queue].entries.filter { items[$0].kind == .barrier }
      let events = (barriers + operations(in: queue)).map { Event.cancel($0) }
      if !events.isEmpty { threads.append(events) }
    }
  }

  private mutating func add(_ members: [Int], to queue: Int) -> Step? {
    guard lines[queue].isHeld else { return nil }
    var taken: [Int] = []
    for index in members where mayBeAdded(index) && !taken.contains(index) {
      if items[index].kind == .barrier, members.count > 1 { continue }
      taken.append(index)
    }
    guard !taken.isEmpty else { return nil }
    for index in taken {
      items[index].queue = queue
      lines[queue].entries.append(index)
      if items[index].kind != .barrier { lines[queue].totalCount += 1 }
      if mayStart(index) { lines[queue].ready.append(index) }
    }
    return .add(taken, to: queue)
  }

  /// Returns whether the operation can be added to a queue.
  private func mayBeAdded(_ index: Int) -> Bool {
    items[index].isHeld && items[index].phase == .pending && items[index].queue == nil
  }

  // MARK: Operations

  /// Starts an operation that is not in a queue. Returns `false` if the start would be a misuse.
  /// [SA-1, SA-2]
  private mutating func start(_ index: Int) -> Bool {
    guard isAtHand(index) else { return false }
    let item = items[index]
    if item.phase == .finished { return true }
    guard item.phase == .pending, item.queue == nil, mayStart(index) else { return false }
    if item.isCancelled {
      threads.append([.finish(index)])
    } else {
      items[index].phase = .executing
      items[index].runCount += 1
    }
    return true
  }

  private mutating func finish(_ index: Int) -> Bool {
    let item = items[index]
    // An asynchronous subclass may announce that it has finished before it was started. [D-10]
    let isEarly = item.phase == .pending && item.kind.isAsynchronous && item.isHeld
    guard item.phase == .executing || isEarly else { return false }
    threads.append([.finish(index)])
    return true
  }

  /// Changes the priority of an operation, which then starts after the operations that already have
  /// the new priority. [PR-5]
  private mutating func prioritise(_ index: Int, _ priority: Operation.QueuePriority) {
    let changes = items[index].priority != priority
    items[index].priority = priority
    if changes, leaveLine(index) { invite(index) }
    guard changes, rules.contains(.tailOfNewLevel), !items[index].isCancelled else { return }
    guard let queue = items[index].queue, lines[queue].ready.contains(index) else { return }
    lines[queue].ready.removeAll { $0 == index }
    lines[queue].ready.append(index)
  }

  private mutating func setCondition(of index: Int, _ condition: Bool) -> Bool {
    guard isAtHand(index), items[index].kind.hasCondition else { return false }
    items[index].condition = condition
    lookAgain(at: index)
    return true
  }

  // MARK: Dependencies

  /// Makes an operation depend on another one. [DE-3 to DE-6, CA-10]
  mutating func depend(_ index: Int, on other: Int) {
    if items[index].dependencies.contains(other), rules.contains(.idempotentDependencies) { return }
    items[index].dependencies.append(other)
    if items[index].phase == .pending, !items[index].isCancelled, items[other].phase != .finished {
      items[index].awaited.append(other)
      items[other].dependents.append(index)
      leaveLine(index)
    }
    lookAgain(at: index)
  }

  /// Returns whether it is certain that the operation keeps its position in the start order after
  /// it has got a new dependency. An operation that ignores dependencies counts as not ready until
  /// its `isReady` is evaluated again. If the queue reads its state before the evaluation, the operation
  /// loses its position.
  private func keepsPlace(_ index: Int) -> Bool {
    guard items[index].kind == .oblivious, let queue = items[index].queue else { return true }
    return !lines[queue].ready.dropLast().contains(index)
  }

  /// Removes a dependency of an operation. [DE-9, DE-10]
  private mutating func undepend(_ index: Int, from other: Int) {
    items[index].dependencies.removeAll { $0 == other }
    stopRequiring(index, other)
    guard items[index].awaited.contains(other), rules.contains(.removingReleases) else { return }
    items[other].dependents.removeAll { $0 == index }
    items[index].awaited.removeAll { $0 == other }
    if items[index].awaited.isEmpty { lookAgain(at: index) }
  }

  /// The queue evaluates `isReady` again, because the operation has announced a change.
  mutating func lookAgain(at index: Int) {
    guard let queue = items[index].queue, items[index].phase == .pending,
      items[index].turn.exclusion == nil, !lines[queue].executing.contains(index)
    else { return }
    let isListed = lines[queue].ready.contains(index)
    if mayStart(index), !isListed {
      lines[queue].ready.append(index)
    } else if !mayStart(index), isListed {
      lines[queue].ready.removeAll { $0 == index }
    }
  }
}

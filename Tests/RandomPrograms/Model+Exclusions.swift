// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The part of the model with the mutual exclusions of operations, and with operations that require
/// the success of their dependencies.
extension Model {
  /// The operations of one queue that have the same priority.
  struct Group: Hashable {
    let queue: Int?
    let priority: Operation.QueuePriority
  }

  /// The state of an operation with respect to its mutual exclusions.
  struct Turn: Hashable {
    /// The sequence number of the operation's first request for its mutual exclusions, among all
    /// operations; `nil` if the operation has made no request.
    var number: Int?
    /// The mutual exclusion that the operation waits for.
    var exclusion: Int?
    /// The queue and the priority of the operation when it last requested its mutual exclusions.
    var group: Group?
    var refusalCount = 0
    /// Whether the operation executes and holds its mutual exclusions.
    var isHolder = false
  }

  /// The number of refused requests for mutual exclusions after which the library prefers an
  /// operation for a limited time. The model does not include time, so programs avoid this number
  /// of refusals.
  private static let patience = 8

  // MARK: Asking

  private func isFree(_ exclusion: Int) -> Bool {
    let holders = items.count { $0.turn.isHolder && $0.exclusions.contains(exclusion) }
    return holders < Program.exclusionLimits[exclusion] || !rules.contains(.exclusions)
  }

  /// Processes a request of an operation for its mutual exclusions. The operation receives all of
  /// its exclusions or none. If one is not free, the operation returns its slot.
  mutating func ask(_ index: Int) -> [Event] {
    guard items[index].phase == .pending, let queue = items[index].queue else { return [] }
    if items[index].isCancelled { return [.finish(index)] }
    if items[index].turn.number == nil {
      askerCount += 1
      items[index].turn.number = askerCount
    }
    let group = Group(queue: queue, priority: items[index].priority)
    items[index].turn.group = group
    if let missing = items[index].exclusions.first(where: { !isFree($0) }) {
      items[index].turn.exclusion = missing
      items[index].turn.refusalCount += 1
      if items[index].turn.refusalCount >= Self.patience { isUndetermined = true }
      lines[queue].executing.removeAll { $0 == index }
    } else {
      items[index].turn.isHolder = true
      execute(index)
    }
    inviteNext(for: items[index].exclusions, in: group)
    return []
  }

  /// For each free mutual exclusion, lets the first waiting operation of a group (a queue and a
  /// priority) request its exclusions again.
  private mutating func inviteNext(for exclusions: [Int], in group: Group) {
    for exclusion in exclusions where isFree(exclusion) {
      let waiting = items.indices.filter {
        items[$0].turn.exclusion == exclusion && items[$0].turn.group == group
      }
      guard let first = waiting.min(by: { number(of: $0) < number(of: $1) }) else { continue }
      items[first].turn.exclusion = nil
      invite(first)
    }
  }

  private func number(of index: Int) -> Int { items[index].turn.number ?? .max }

  mutating func invite(_ index: Int) { threads.append([.invite(index)]) }

  /// Returns whether it is certain that an operation still waits for its mutual exclusion after it
  /// has got a new dependency. It is not certain if the dependency has finished: then the queue
  /// reads the `isReady` of a subclass again, and may choose the operation.
  func keepsTurn(_ index: Int, with other: Int) -> Bool {
    items[index].turn.exclusion == nil || items[index].kind == .block
      || items[other].phase != .finished
  }

  // MARK: Leaving

  /// Makes an operation stop waiting for a mutual exclusion.
  ///
  /// - Returns: Whether the operation waited for an exclusion.
  @discardableResult
  mutating func leaveLine(_ index: Int) -> Bool {
    let turn = items[index].turn
    guard !turn.isHolder, let group = turn.group else { return false }
    items[index].turn.exclusion = nil
    inviteNext(for: items[index].exclusions, in: group)
    return turn.exclusion != nil
  }

  /// Makes an operation give up the mutual exclusions that it holds. For each of them, the first
  /// waiting operation of each group may request its exclusions again.
  mutating func release(_ index: Int) {
    guard items[index].turn.isHolder else {
      leaveLine(index)
      items[index].turn.group = nil
      return
    }
    items[index].turn.isHolder = false
    let groups = Set(items.compactMap { $0.turn.exclusion == nil ? nil : $0.turn.group })
    for exclusion in items[index].exclusions {
      for group in groups { inviteNext(for: [exclusion], in: group) }
    }
  }

  // MARK: Requirements

  /// Makes an operation depend on the success of another one.
  mutating func require(_ index: Int, on other: Int) {
    let mayWait = items[index].phase == .pending && !items[index].isCancelled
    if items[other].phase == .finished {
      if mayWait, items[other].isCancelled, rules.contains(.requirements) {
        threads.append([.cancel(index)])
      }
    } else if mayWait, !items[index].undecided.contains(other) {
      items[index].undecided.append(other)
      items[other].requirers.append(index)
      leaveLine(index)
    }
    if items[index].dependencies.contains(other) {
      lookAgain(at: index)
    } else {
      depend(index, on: other)
    }
  }

  mutating func stopRequiring(_ index: Int, _ other: Int) {
    guard items[index].undecided.contains(other) else { return }
    items[index].undecided.removeAll { $0 == other }
    items[other].requirers.removeAll { $0 == index }
    lookAgain(at: index)
  }

  /// Returns the events for the operations that required the success of an operation that has
  /// finished. If the finished operation was cancelled, other threads process these events.
  mutating func decisions(after index: Int) -> [Event] {
    let requirers = items[index].requirers
    items[index].requirers = []
    let decisions = requirers.map { Event.decide($0, index) }
    guard items[index].isCancelled, rules.contains(.requirements) else { return decisions }
    for decision in decisions { threads.append([decision]) }
    return []
  }

  mutating func decide(_ index: Int, _ other: Int) -> [Event] {
    let isPending = items[index].phase == .pending && !items[index].isCancelled
    let isDecided = items[index].undecided.contains(other)
    // A dependency does not retain the operations that require its success. If the program has
    // released such an operation, it no longer exists and nothing happens.
    guard isDecided, whichExist[index] else { return [] }
    if items[other].isCancelled, isPending, rules.contains(.requirements) {
      // The operation is cancelled before the other dependencies whose success it requires are
      // checked.
      return [.cancel(index), .decide(index, other)]
    }
    items[index].undecided.removeAll { $0 == other }
    if isPending { lookAgain(at: index) }
    return []
  }
}

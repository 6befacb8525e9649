// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a group knows of its members: how many have not finished, what went wrong, and whether there may
/// be more.
///
/// That the last member has finished and that no other can be added is one event, so that of a member
/// that finishes and somebody who adds one either the addition comes first, and the group waits for it,
/// or it is refused.
struct GroupState {
  /// What went wrong with a member.
  struct Failure {
    let error: any Error
    /// The operation that has failed: the member, or the one whose failure has cancelled it.
    let origin: OperationID
    /// Whether the member was cancelled because of another operation.
    let isConsequence: Bool

    init(_ error: any Error, origin: OperationID, isConsequence: Bool = false) {
      self.error = error
      self.origin = origin
      self.isConsequence = isConsequence
    }

    /// `nil` if it has not failed.
    init?(of operation: Operation) {
      guard let error = operation.error else { return nil }
      let cause = (error as? DependencyError)?.origin.id
      self.init(error, origin: cause ?? operation.id, isConsequence: cause != nil)
    }
  }

  private enum Phase {
    /// Members may come, and the group does not wait for them yet.
    case gathering
    /// The group waits until there is none that has not finished.
    case draining
    /// It has stopped waiting: nothing more may come.
    case closed
  }

  private var phase = Phase.gathering
  private var isCancelled = false
  private var unfinishedCount = 0
  /// In the order in which the members finished, one for each origin.
  private var failures: [Failure] = []
  /// The place of each origin in `failures`.
  private var places: [OperationID: Int] = [:]

  /// What went wrong, in the order in which the members finished.
  var errors: [any Error] { failures.map(\.error) }

  /// Whether nothing is left to wait for, for good.
  var isClosed: Bool { phase == .closed }

  /// Whether there are members that have not finished, and that nobody has cancelled with the group.
  var isLeftWithMembers: Bool { unfinishedCount > 0 && !isCancelled }

  /// One more wants to be a member. - Returns: Whether it is.
  mutating func join() -> Bool {
    guard phase != .closed, !isCancelled else { return false }
    unfinishedCount += 1
    return true
  }

  /// A member has finished, or could not be added after all.
  ///
  /// - Returns: Whether it was the last one that the group has waited for.
  mutating func leave() -> Bool {
    precondition(unfinishedCount > 0, "A member has left a group that it was not in")
    unfinishedCount -= 1
    return closeIfEmpty()
  }

  /// A member has failed. Comes before the member leaves.
  mutating func note(_ failure: Failure) {
    guard let place = places[failure.origin] else {
      places[failure.origin] = failures.count
      return failures.append(failure)
    }
    // What it has cancelled may be reported first: the error itself says more.
    if failures[place].isConsequence, !failure.isConsequence { failures[place] = failure }
  }

  /// The group begins to wait. - Returns: Whether there is nothing to wait for.
  mutating func drain() -> Bool {
    if phase == .closed { return true }
    phase = .draining
    return closeIfEmpty()
  }

  /// Nobody may join any more. - Returns: Whether this is news.
  mutating func cancel() -> Bool {
    defer { isCancelled = true }
    return !isCancelled
  }

  private mutating func closeIfEmpty() -> Bool {
    guard phase == .draining, unfinishedCount == 0 else { return false }
    phase = .closed
    return true
  }
}

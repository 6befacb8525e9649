// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The state of a group's members: the number of unfinished members, the errors, and whether
/// members can be added.
///
/// The finish of the last member and the end of additions are one event. If a member finishes while
/// another thread adds a member, either the addition comes first and the group waits for the new
/// member, or the new member is rejected.
struct GroupState {
  /// The failure of a member.
  struct Failure {
    let error: any Error
    /// The failed operation: the member, or the operation whose failure has cancelled it.
    let origin: OperationID
    /// Whether the member was cancelled because of another operation.
    let isConsequence: Bool

    init(_ error: any Error, origin: OperationID, isConsequence: Bool = false) {
      self.error = error
      self.origin = origin
      self.isConsequence = isConsequence
    }

    /// Creates the failure of a member; `nil` if the member has not failed.
    init?(of operation: Operation) {
      guard let error = operation.error else { return nil }
      let cause = (error as? OperationDependencyError)?.origin.id
      self.init(error, origin: cause ?? operation.id, isConsequence: cause != nil)
    }
  }

  private enum Phase {
    /// Members can be added to the group, and the group does not wait for them yet.
    case gathering
    /// The group waits until all members have finished. Members can still be added.
    case draining
    /// The group has stopped waiting, and no members can be added.
    case closed
  }

  private var phase = Phase.gathering
  private var isCancelled = false
  /// Whether the failure of a member cancels the other members.
  var failsFast = false
  /// The failure that has cancelled the other members; `nil` if there is none.
  private(set) var firstFailure: OperationDependencyError?
  private var unfinishedCount = 0
  /// The failures, in the order in which the members finished. Failures with the same origin (the
  /// operation that failed first) are stored once.
  private var failures: [Failure] = []
  /// For each operation that failed first (the origin of a failure), the index of its failure in
  /// `failures`.
  private var places: [OperationID: Int] = [:]

  /// The errors of the failed members, in the order in which the members finished.
  var errors: [any Error] { failures.map(\.error) }

  /// Whether the group has unfinished members, and was not cancelled.
  var isLeftWithMembers: Bool { unfinishedCount > 0 && !isCancelled }

  /// Adds a member to the group. Returns whether it was added.
  mutating func join() -> Bool {
    guard phase != .closed, !isCancelled, firstFailure == nil else { return false }
    unfinishedCount += 1
    return true
  }

  /// Removes a member that has finished or could not be added.
  ///
  /// - Returns: Whether the removed member was the last one that the group waited for.
  mutating func leave() -> Bool {
    precondition(unfinishedCount > 0, "An operation left a group that it did not belong to")
    unfinishedCount -= 1
    return closeIfEmpty()
  }

  /// Adds the failure of a member. Called before the member leaves the queue.
  ///
  /// - Parameters:
  ///   - failure: The failure.
  ///   - reason: The reason for the cancellation of the other members, if the group fails fast.
  /// - Returns: Whether the caller must cancel the other members now.
  mutating func note(_ failure: Failure, _ reason: OperationDependencyError?) -> Bool {
    add(failure)
    guard failsFast, firstFailure == nil else { return false }
    firstFailure = reason
    return reason != nil
  }

  private mutating func add(_ failure: Failure) {
    guard let place = places[failure.origin] else {
      places[failure.origin] = failures.count
      return failures.append(failure)
    }
    // A member that was cancelled because of this failure may be reported before the failed member
    // itself. The error of the failed member replaces the error that was reported first, because it
    // has more information.
    if failures[place].isConsequence, !failure.isConsequence { failures[place] = failure }
  }

  /// Begins to wait for the members. Returns `true` if all members have finished already.
  mutating func drain() -> Bool {
    if phase == .closed { return true }
    phase = .draining
    return closeIfEmpty()
  }

  /// Rejects new members from now on. Returns whether this is the first call.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The members of a group, and the queue in which they run. This object is separate from the group,
/// so that members do not retain the group.
final class GroupMembers: Sendable {
  /// The queue of the members. It is suspended until the group starts.
  let queue = GroupQueue()
  private let state = Locked(GroupState())
  /// The wait of the group's task. It ends when all members have finished.
  private let allFinished = WaitingTask()

  init() { queue.isSuspended = true }

  /// The errors of the group's members that have failed so far.
  var errors: [any Error] { state.withLock { $0.errors } }

  /// Adds an operation to the members, unless new members are no longer accepted.
  ///
  /// - Returns: Whether the operation was added.
  func add(_ operation: Operation) -> Bool {
    guard state.withLock({ $0.join() }) else { return false }
    do {
      try queue.tryAddOperation(operation)
    } catch {
      leave()
      OperationMisuse.raise(error.kind, error.description)
      return false
    }
    if !operation.reportFinish(to: self) { memberHasFinished(operation) }
    // If a member fails at the same time, either this thread sees the failure, or the thread that cancels the
    // members finds this one in the queue.
    cancelAfterFailure(operation)
    if !operation.addWaiter(GroupMember(of: self)) { leave() }
    return true
  }

  /// Handles the finish of a member that has not left the queue yet, so that errors are stored in
  /// the order in which members finish.
  func memberHasFinished(_ operation: Operation) {
    guard let failure = GroupState.Failure(of: operation) else { return }
    let reason = OperationDependencyError(of: operation)
    guard state.withLock({ $0.note(failure, reason) }) else { return }
    // No member starts after the failure, because the queue is suspended before the failed member leaves it.
    queue.core.scheduler.withLock { $0.isSuspended = true }
    // The members are cancelled on another thread, because an override of `cancel()` may need a lock of the
    // subclass that this thread holds.
    OperationQueue.duties.addOperation {
      for member in self.queue.operations { self.cancelAfterFailure(member) }
      self.queue.isSuspended = false
    }
  }

  /// Cancels a member if another member has failed and the group fails fast.
  private func cancelAfterFailure(_ member: Operation) {
    guard let reason = state.withLock({ $0.firstFailure }) else { return }
    CancellationScope.cancel(member, because: .dependency(reason.dependency.id)) {
      member.cancel(with: reason)
    }
  }

  /// Whether the failure of a member cancels the other members.
  var failsFast: Bool {
    get { state.withLock { $0.failsFast } }
    set { state.withLock { $0.failsFast = newValue } }
  }

  /// Handles that a member of the group has left the queue.
  func leave() {
    if state.withLock({ $0.leave() }) { allFinished.wake() }
  }

  /// Rejects new members from now on, and cancels the existing members at the first call. The
  /// cancelled members need not wait for the group's start or for a slot, because none of them will
  /// run.
  func cancel() {
    if state.withLock({ $0.cancel() }) { queue.cancelAllAndResume() }
  }

  /// Rejects new members as soon as all members have finished.
  ///
  /// - Returns: Whether all members have finished, so that no member can be added. If the result is
  ///   `false`, the caller must call ``waitForLast()`` once.
  func drain() -> Bool { state.withLock { $0.drain() } }

  /// Waits until all members of the group have finished, even if the task is cancelled.
  func waitForLast() async { await allFinished.waitRegardless() }

  /// Handles the release of the group. If the group has never run, its members are cancelled,
  /// because they would otherwise stay in their queue forever.
  ///
  /// The members are cancelled soon, on a thread of the library, because members may override `cancel()`, and
  /// the thread that released the group may hold locks that the override needs.
  func groupIsGone() {
    guard state.withLock({ $0.isLeftWithMembers }) else { return }
    OperationQueue.duties.addOperation { self.cancel() }
  }
}

/// The queue of a group's members.
// Unchecked `Sendable` conformance, because `group` is mutable. This property is set once, before
// another thread knows the queue.
final class GroupQueue: OperationQueue, @unchecked Sendable {
  /// The group that owns this queue. The reference is weak, because the group retains the queue.
  weak var group: Operation?

  /// The group, if it is in a queue and has not started; otherwise `nil`. While this value is not `nil`,
  /// the members wait for the start of the group. A group that is not in a queue may have been created a
  /// moment ago, so its members are not reported as waiting for it.
  var pendingGroup: Operation? {
    guard let group else { return nil }
    let status = group.status.load(ordering: .acquiring)
    return status.isPending && !status.isLeftAlone ? group : nil
  }
}

/// Notifies a group when a member has left the queue.
private final class GroupMember: Waiter {
  private let members: GroupMembers

  init(of members: GroupMembers) { self.members = members }

  func wake() { members.leave() }
}

extension Operation {
  /// Makes this operation notify the members of a group when it finishes. Returns `false` if the operation
  /// has already finished.
  fileprivate final func reportFinish(to members: GroupMembers) -> Bool {
    makeRare { rare in
      // The thread that finishes the operation checks the flag `hasFinishDuties` after the finish.
      // If the flag is set, the thread acquires the lock of the operation and finds the members of
      // the group.
      guard update({ $0.promise(.hasFinishDuties) }) else { return false }
      rare.groupMembers = members
      return true
    }
  }
}

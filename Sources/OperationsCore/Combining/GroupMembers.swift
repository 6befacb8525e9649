// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The members of a group and the queue that they run in. Apart from the group, so that members do not
/// hold that.
final class GroupMembers: Sendable {
  /// Suspended until the group starts.
  let queue = GroupQueue()
  private let state = Locked(GroupState())
  /// Woken when all have finished.
  private let allFinished = WaitingTask()

  init() { queue.isSuspended = true }

  /// What went wrong so far.
  var errors: [any Error] { state.withLock { $0.errors } }

  /// - Returns: Whether it is a member now.
  func add(_ operation: Operation) -> Bool {
    guard state.withLock({ $0.join() }) else { return false }
    do {
      try queue.tryAddOperation(operation)
    } catch {
      leave()
      Misuse.raise(error.kind, error.description)
      return false
    }
    if !operation.reportFinish(to: self) { memberHasFinished(operation) }
    if !operation.addWaiter(GroupMember(of: self)) { leave() }
    return true
  }

  /// A member has finished, and has not left the queue: so what goes wrong is noted in the order in which
  /// members finish.
  func memberHasFinished(_ operation: Operation) {
    if let failure = GroupState.Failure(of: operation) { state.withLock { $0.note(failure) } }
  }

  /// A member has left the queue.
  func leave() {
    if state.withLock({ $0.leave() }) { allFinished.wake() }
  }

  /// Keeps everybody out from now on and cancels those who are there, once. They need not wait for the
  /// group to start, nor for a width: none of them will run.
  func cancel() {
    if state.withLock({ $0.cancel() }) { queue.invalidate() }
  }

  /// - Returns: Whether all have finished, and nobody can come any more. Else there is something to wait
  ///   for, once.
  func drain() -> Bool { state.withLock { $0.drain() } }

  /// Waits until all have finished, whether or not the task is cancelled.
  func waitForLast() async { await allFinished.waitRegardless() }

  /// The group is gone. Where it has never run its members are cancelled, or they would stay for ever.
  ///
  /// Soon, on a thread of the library's: members may override `cancel()`, and whoever let go of the group
  /// may hold locks that it takes.
  func groupIsGone() {
    guard state.withLock({ $0.isLeftWithMembers }) else { return }
    OperationQueue.duties.addOperation { self.cancel() }
  }
}

/// The queue of a group's members.
// Unchecked because `group` is mutable; it is set once, before another thread knows the queue.
final class GroupQueue: OperationQueue, @unchecked Sendable {
  /// Held weakly: the group retains the queue.
  weak var group: Operation?

  /// The group that must start before its members can. `nil` if it has started, and if it is in no queue:
  /// a group that was just created is no fault.
  var pendingGroup: Operation? {
    guard let group else { return nil }
    let status = group.status.load(ordering: .acquiring)
    return status.isPending && !status.isLeftAlone ? group : nil
  }
}

/// Tells a group when a member has left the queue.
private final class GroupMember: Waiter {
  private let members: GroupMembers

  init(of members: GroupMembers) { self.members = members }

  func wake() { members.leave() }
}

extension Operation {
  /// Lets the members of a group know when this one has finished. `false` if it has finished before.
  fileprivate final func reportFinish(to members: GroupMembers) -> Bool {
    makeRare { rare in
      // The finisher looks for the flag after the finish, and then needs the lock.
      guard update({ $0.promise(.hasFinishDuties) }) else { return false }
      rare.groupMembers = members
      return true
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self: Operation {
  /// The exclusions that this operation shares with others. The limit of each exclusion is the
  /// maximum number of operations with this exclusion that execute at the same time, in any queues.
  /// Empty by default.
  ///
  /// The operation gets all of its exclusions at once, when it is ready, has a slot and is about to
  /// start. It holds them until it has finished, even if it is cancelled while it executes. If one
  /// of its exclusions is not free, the operation returns its slot and waits, and its queue
  /// continues with other operations. A waiting operation holds none of its exclusions. If it gets
  /// another dependency, it waits for this dependency first. If it is cancelled, it finishes
  /// without its exclusions.
  ///
  /// Operations that can start get an exclusion in the order of their first requests. If the first
  /// of these operations has no slot when the exclusion becomes free, another one starts. An
  /// operation that was overtaken several times is preferred: some of its exclusions are reserved
  /// for it, for a limited time. These are the exclusions that were created before the exclusion
  /// that the operation lacks.
  ///
  /// Exclusions alone never cause a deadlock. An operation that waits for another operation with
  /// exclusions, in its own code or as a group, should have only exclusions that were created
  /// before the exclusions of the other operation. Otherwise, two such operations may wait for each
  /// other. If the number of operations that execute with an exclusion is its limit, and all of
  /// them wait in their own code for other operations that need the same exclusion, they wait
  /// forever: the exclusion becomes free only when one of them has finished.
  ///
  /// Set this property before the operation is ready. After the queue has chosen the operation
  /// once, it cannot be changed, and new values are ignored. An operation that is started directly
  /// excludes no other operation and is not excluded.
  public var exclusions: Set<MutualExclusion> {
    get { withRare { $0?.exclusions ?? [] } }
    set {
      makeRare { rare in
        // The exclusions must not change after the operation has requested them. To detect this, it
        // is not sufficient to check whether the queue has chosen the operation, because an
        // operation that waits for an exclusion is no longer marked as chosen.
        guard !rare.hasAskedForExclusions, update({ $0.excludeOthers() }) else { return }
        rare.exclusions = newValue
      }
    }
  }
}

extension Operation {
  /// Requests the exclusions of this operation. Returns whether the operation holds all of its
  /// exclusions and must start now. If the result is `false`, the operation waits for an exclusion
  /// or is no longer ready.
  ///
  /// - Precondition: The operation is ready, has a slot, and would be started by the calling
  ///   thread.
  @inline(never)
  final func hasItsTurn() -> Bool {
    let exclusions = withRare { rare -> Set<MutualExclusion> in
      guard let rare, !rare.exclusions.isEmpty else { return [] }
      rare.hasAskedForExclusions = true
      return rare.exclusions
    }
    // The flag `hasFinishDuties` is set before the request. If it is set before the operation
    // finishes, the thread that finishes the operation sees the flag and calls
    // `Exclusions.leave(_:)`.
    guard !exclusions.isEmpty, update({ $0.promise(.hasFinishDuties) }) else { return true }
    if Exclusions.shared.acquire(self, exclusions) { return true }
    return false
  }

  /// Removes the operation from the line of the exclusion that it waits for, because the operation
  /// can no longer start or has another priority.
  ///
  /// - Parameter isReady: Whether its queue should choose it again.
  @inline(never)
  final func loseItsTurn(isReady: Bool) { Exclusions.shared.standBack(self, isReady: isReady) }
}

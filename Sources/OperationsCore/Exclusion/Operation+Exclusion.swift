// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self: Operation {
  /// The exclusions that this operation shares with others: of all operations that have the same one, only
  /// as many execute at the same time as its limit says, in whatever queues they are. Empty by default.
  ///
  /// The operation is given all of them at once, when it is ready, has a slot and is about to start; it has
  /// them until it has finished, in whatever way. If one of them is not free, the operation gives its slot
  /// back and waits, and its queue goes on with others. While it waits it has none of them. If it gets a
  /// dependency while it waits, it waits for that first. If it is cancelled while it waits, it finishes
  /// without them.
  ///
  /// Operations that can start are given an exclusion in the order in which they first asked for it. If the
  /// first of them has no slot when the exclusion becomes free, another one starts. An operation that was
  /// overtaken several times is preferred: exclusions that it wants and that were created before the one
  /// that it lacks are kept free for it, for a limited time.
  ///
  /// Exclusions alone never make operations wait in a circle. An operation that waits, in its own code or as
  /// a group, for another operation that has exclusions should have only exclusions that were created before
  /// those: else two such operations may wait for each other. If all operations that execute with an exclusion
  /// wait in their own code for others that need the same one, and are as many as its limit, they wait for
  /// ever: the exclusion becomes free only when one of them has finished.
  ///
  /// Set it before the operation is ready. When the queue has chosen the operation once it cannot be changed:
  /// what is set then is ignored. An operation that is started by hand excludes no other and is not excluded.
  public var exclusions: Set<MutualExclusion> {
    get { withRare { $0?.exclusions ?? [] } }
    set {
      makeRare { rare in
        // While it waits it is not chosen, but it has asked.
        guard !rare.hasAskedForExclusions, update({ $0.excludeOthers() }) else { return }
        rare.exclusions = newValue
      }
    }
  }
}

extension Operation {
  /// Whether it has all of its exclusions and must start now. Else it has a place in a line.
  ///
  /// - Precondition: It is ready, has a slot, and would be started by the calling thread.
  @inline(never)
  final func hasItsTurn() -> Bool {
    let exclusions = withRare { rare -> Set<MutualExclusion> in
      guard let rare, !rare.exclusions.isEmpty else { return [] }
      rare.hasAskedForExclusions = true
      return rare.exclusions
    }
    // The flag first: with it set before the finish, the finisher looks for it.
    guard !exclusions.isEmpty, update({ $0.promise(.hasFinishDuties) }) else { return true }
    if Exclusions.shared.acquire(self, exclusions) { return true }
    return false
  }

  /// It may have a place in a line, and cannot start any more, or has another priority.
  ///
  /// - Parameter isReady: Whether its queue should choose it again.
  @inline(never)
  final func loseItsTurn(isReady: Bool) { Exclusions.shared.standBack(self, isReady: isReady) }
}

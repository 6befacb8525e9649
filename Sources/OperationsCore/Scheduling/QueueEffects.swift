// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// What has to be done after the queue's lock was released, in the order of the members.
struct QueueEffects {
  /// What few critical sections leave to do, in an object of its own so that the others need not
  /// look at each member.
  final class Rare {
    /// To be called: somebody has asked to be told of changes.
    var wakes: [@Sendable () -> Void] = []
    /// To be woken: the queue is empty.
    var waiters: [any Waiter] = []
  }

  /// Was retired, and has waiters or a completion block.
  var aftermath: Operation?
  /// A worker more would find something to do.
  var hasWork = false
  var rare: Rare?
  /// To be released, linked through `inboxNext`: nobody pushes what has left the queue.
  private(set) var released: Unmanaged<Operation>?
  /// The queue has nothing left to do and lets go of its public object.
  var releasesOwner = false

  var rareMade: Rare {
    mutating get {
      if let rare { return rare }
      let made = Rare()
      rare = made
      return made
    }
  }

  /// Hands over the queue's reference to an operation.
  mutating func release(_ operation: Operation) {
    operation.inboxNext = released
    released = .passUnretained(operation)
  }

  /// Whether what is released is likely to run a `deinit` of the user's: it is the last reference to an
  /// operation that is not just a block.
  ///
  /// - Parameter block: The operation that has just been retired, if there is one.
  /// - Returns: `false` if nothing but blocks is released.
  @inline(__always)
  func mayRunUsersCode(after block: FinishedBlock?) -> Bool {
    guard let released else { return false }
    if let block, block.isAll(of: released) { return false }
    return hasLastReference
  }

  @inline(__always)
  private var hasLastReference: Bool {
    var current = released
    while let operation = current {
      current = operation._withUnsafeGuaranteedRef { $0.inboxNext }
      // Without a reference of its own, unlike `isKnownUniquelyReferenced`.
      guard swift_isUniquelyReferenced_nonNull_native(operation.toOpaque()) else { continue }
      if operation._withUnsafeGuaranteedRef({ !$0.isNothingButBlock }) { return true }
    }
    return false
  }

  /// Releases the operations, which may run a `deinit` of the user's.
  mutating func releaseOperations() {
    while let operation = released {
      released = operation._withUnsafeGuaranteedRef { $0.inboxNext }
      operation.release()
    }
  }
}

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

  /// Was retired, and has waiters or a completion block; retained.
  ///
  /// This reference and the next are unmanaged because a section without them must not pay for the
  /// release of nothing. ``QueueCore/perform(_:)`` gives them up.
  private var aftermath: Unmanaged<Operation>?
  private var rareReference: Unmanaged<Rare>?
  /// A worker more would find something to do.
  var hasWork = false
  /// To be released, linked through `inboxNext`: nobody pushes what has left the queue.
  private(set) var released: Unmanaged<Operation>?
  /// A plain block that is released has dependencies. If the reference to it is the last one, they may
  /// go too.
  private(set) var mayReleaseDependencies = false
  /// The queue has nothing left to do and lets go of its public object.
  var releasesOwner = false

  /// What few critical sections leave to do.
  var rare: Rare? { rareReference?.takeUnretainedValue() }

  /// As ``rare``, made if there is none.
  var rareMade: Rare {
    mutating get {
      if let rare { return rare }
      let made = Rare()
      rareReference = .passRetained(made)
      return made
    }
  }

  /// The operation was retired, and has waiters or a completion block.
  mutating func addAftermath(of operation: Operation) {
    aftermath = .passRetained(operation)
  }

  /// Takes the operation that was retired and has waiters or a completion block.
  @inline(__always)
  mutating func takeAftermath() -> Operation? { aftermath.take()?.takeRetainedValue() }

  /// Takes what few critical sections leave to do.
  @inline(__always)
  mutating func takeRare() -> Rare? { rareReference.take()?.takeRetainedValue() }

  /// Hands over the queue's reference to an operation.
  mutating func release(_ operation: Operation) {
    operation.inboxNext = released
    released = .passUnretained(operation)
  }

  /// Whether the release of the operations runs, or may run, the user's code.
  ///
  /// Decided by what the operations hold, and not by how many references there are: another thread may
  /// give up its own at any time. Notes in ``mayReleaseDependencies`` if dependencies may go.
  ///
  /// - Parameter block: The operation that has just been retired, if there is one.
  /// - Returns: Whether the release must wait until this thread holds no other operation.
  @inline(__always)
  mutating func runsUsersCode(after block: FinishedBlock?) -> Bool {
    guard let released else { return false }
    if let block, block.isAll(of: released) { return false }
    return inspectReleased()
  }

  private mutating func inspectReleased() -> Bool {
    var current = released
    while let operation = current {
      current = operation._withUnsafeGuaranteedRef { $0.inboxNext }
      switch operation._withUnsafeGuaranteedRef({ $0.heldAfterRetirement }) {
      case .nothing: continue
      case .usersObjects: return true
      case .dependencies:
        // The end of a chain: all of it goes, and is better released here than handed to another thread.
        // Without a reference of its own, unlike `isKnownUniquelyReferenced`.
        if swift_isUniquelyReferenced_nonNull_native(operation.toOpaque()) { return true }
        mayReleaseDependencies = true
      }
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

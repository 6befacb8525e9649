// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The actions to perform after the queue's lock is released, in the order of the members.
struct QueueEffects {
  /// The callbacks and waiters to wake.
  ///
  /// Few critical sections have any. They are in an object of their own, so that the other sections check
  /// one reference only.
  final class Wakeups {
    /// The callbacks to call, because something that a monitor observes has changed.
    var callbacks: [@Sendable () -> Void] = []
    /// The waiters to wake, because the queue is empty.
    var waiters: [any Waiter] = []
  }

  /// Was retired, and has waiters or a completion block; retained.
  ///
  /// This reference and the next are unmanaged because a section without them must not pay for the
  /// release of nothing. ``QueueCore/perform(_:)`` gives them up.
  private var aftermath: Unmanaged<Operation>?
  private var wakeupsReference: Unmanaged<Wakeups>?
  /// Whether one more worker would find an operation to start.
  var hasWork = false
  /// To be released, linked through `inboxNext`: nobody pushes what has left the queue.
  private(set) var released: Unmanaged<Operation>?
  /// A plain block that is released has dependencies. If the reference to it is the last one, they may
  /// go too.
  private(set) var mayReleaseDependencies = false
  /// The queue has nothing left to do and lets go of its public object.
  var releasesOwner = false

  /// The callbacks and waiters to wake, or `nil` if there are none.
  var wakeups: Wakeups? { wakeupsReference?.takeUnretainedValue() }

  /// The callbacks and waiters to wake. The getter creates the object if it does not exist.
  var mutableWakeups: Wakeups {
    mutating get {
      if let wakeups { return wakeups }
      let made = Wakeups()
      wakeupsReference = .passRetained(made)
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

  /// Takes the callbacks and waiters to wake.
  @inline(__always)
  mutating func takeWakeups() -> Wakeups? { wakeupsReference.take()?.takeRetainedValue() }

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

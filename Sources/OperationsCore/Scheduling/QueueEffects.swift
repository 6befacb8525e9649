// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The actions to perform after the queue's lock is released, in the order of the members.
struct QueueEffects {
  /// The callbacks and waiters to wake.
  ///
  /// Few critical sections wake anything. The callbacks and waiters are in a separate object, so that the
  /// other sections check only one reference.
  final class Wakeups {
    /// The callbacks to call, because a value that a monitor observes has changed.
    var callbacks: [@Sendable () -> Void] = []
    /// The waiters to wake, because the queue is empty.
    var waiters: [any Waiter] = []
  }

  /// The retired operation, if it has waiters or a completion block. The reference is retained.
  ///
  /// This reference and the next one are unmanaged, so that a section without them does not pay for
  /// a release. ``releaseOperations()`` and ``takeWakeups()`` release them.
  private(set) var aftermath: Unmanaged<Operation>?
  private var wakeupsReference: Unmanaged<Wakeups>?
  /// Whether an additional worker would find an operation to start.
  var hasWork = false
  /// The operations to release, linked through `inboxNext`, which nothing else uses once they have left
  /// the queue.
  private(set) var released: Unmanaged<Operation>?
  /// Whether the queue has no work left and releases its public object.
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

  /// Adds the retired operation, which has waiters or a completion block.
  mutating func addAftermath(of operation: Operation) {
    aftermath = .passRetained(operation)
  }

  /// Removes and returns the reference to the retired operation that has waiters or a completion block.
  @inline(__always)
  mutating func takeAftermath() -> Unmanaged<Operation>? { aftermath.take() }

  /// Returns and removes the callbacks and waiters to wake.
  @inline(__always)
  mutating func takeWakeups() -> Wakeups? { wakeupsReference.take()?.takeRetainedValue() }

  /// Adds the queue's reference to an operation.
  mutating func release(_ operation: Operation) {
    operation.inboxNext = released
    released = .passUnretained(operation)
  }

  /// Whether a task waits for the empty queue. Its executor may run it when it is woken.
  var wakesTask: Bool { wakeups?.waiters.contains { $0 is WaitingTask } ?? false }

  /// Whether there are operations to release.
  @inline(__always)
  var releasesOperations: Bool { released != nil || aftermath != nil }

  /// Whether the release of the operations may run user code.
  ///
  /// The answer depends on what the operations hold. It does not depend on the number of references,
  /// because another thread may give up its own reference at any time. If only dependencies are held, the
  /// answer may be `false`: see ``CurrentWork/isBetweenOperations``.
  ///
  /// - Parameter block: The operation that has just been retired, if there is one.
  /// - Returns: Whether the release must wait until this thread holds no other operation.
  /// - Precondition: The queue's lock is held.
  @inline(__always)
  func runsUsersCode(after block: FinishedBlock?) -> Bool {
    if let aftermath,
      aftermath._withUnsafeGuaranteedRef({ Self.outlivesQueue($0) || $0.hasRegisteredWaiters })
    {
      return true
    }
    guard let released else { return false }
    if let block, block.isAll(of: released) { return false }
    return inspectReleased()
  }

  /// Whether the queue still holds the retired operation. In that case another thread releases the queue's
  /// reference, and the reference of ``aftermath`` may be the last one.
  @inline(never)
  private static func outlivesQueue(_ operation: Operation) -> Bool {
    operation.place.stage != .gone && operation.heldAfterRetirement != .nothing
  }

  private func inspectReleased() -> Bool {
    var current = released
    while let operation = current {
      current = operation._withUnsafeGuaranteedRef { $0.inboxNext }
      switch operation._withUnsafeGuaranteedRef({ $0.heldAfterRetirement }) {
      case .nothing: continue
      case .usersObjects: return true
      case .dependencies:
        // The operation is the end of a chain. The whole chain is released on this thread, because that costs
        // less than on another thread. Unlike `isKnownUniquelyReferenced`, this function creates no
        // reference.
        if swift_isUniquelyReferenced_nonNull_native(operation.toOpaque()) { return true }
      }
    }
    return false
  }

  /// Releases the operations, which may run a `deinit` of the user.
  @inline(__always)
  mutating func releaseOperations() {
    while let operation = released {
      released = operation._withUnsafeGuaranteedRef { $0.inboxNext }
      operation.release()
    }
    takeAftermath()?.release()
  }
}

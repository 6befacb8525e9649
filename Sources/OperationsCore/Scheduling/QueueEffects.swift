// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The actions to perform after the queue's lock is released. ``QueueCore/perform(_:)`` performs
/// them in the necessary order.
// Unchecked `Sendable` conformance, because one thread at a time uses the effects.
struct QueueEffects: @unchecked Sendable {
  /// The callbacks to call and the waiters to wake.
  ///
  /// Few critical sections have any. They are in a separate object, so that the other critical
  /// sections check only one reference.
  final class Wakeups {
    /// The callbacks to call, because a value that a monitor observes has changed.
    var callbacks: [@Sendable () -> Void] = []
    /// The waiting threads and tasks to wake, because the queue is empty or has few operations.
    var waiters: [any Waiter] = []
    /// The time at which places of admitted callers end; `nil` if no call is necessary.
    var admissionTime: Int64?
  }

  /// The retired operation (the operation that has left its queue), if it has waiters or a
  /// completion block. The reference is retained.
  ///
  /// The references in this property and in `wakeupsReference` are unmanaged, so that a critical
  /// section without them has no cost for releases. ``releaseOperations()`` and ``takeWakeups()``
  /// release them.
  private(set) var aftermath: Unmanaged<Operation>?
  private var wakeupsReference: Unmanaged<Wakeups>?
  /// Whether an additional worker of the queue would find an operation to start.
  var hasWork = false
  /// The operations to release, linked through `inboxNext`. No other code uses this link after an
  /// operation has left the queue.
  private(set) var released: Unmanaged<Operation>?
  /// Whether the queue has no work left and releases its public object.
  var releasesOwner = false

  /// The callbacks to call and the waiters to wake; `nil` if there are none.
  var wakeups: Wakeups? { wakeupsReference?.takeUnretainedValue() }

  /// The callbacks to call and the waiters to wake. The getter creates the object that contains
  /// them if it does not exist.
  var mutableWakeups: Wakeups {
    mutating get {
      if let wakeups { return wakeups }
      let made = Wakeups()
      wakeupsReference = .passRetained(made)
      return made
    }
  }

  /// Sets ``aftermath`` to a retired operation (an operation that has left its queue), which has
  /// waiters or a completion block.
  mutating func addAftermath(of operation: Operation) {
    aftermath = .passRetained(operation)
  }

  /// Removes and returns the reference to the retired operation that has waiters or a completion block.
  @inline(__always)
  mutating func takeAftermath() -> Unmanaged<Operation>? { aftermath.take() }

  /// Removes and returns the callbacks to call and the waiters to wake.
  @inline(__always)
  mutating func takeWakeups() -> Wakeups? { wakeupsReference.take()?.takeRetainedValue() }

  /// Adds an operation to the list of operations to release. The queue's reference to the operation
  /// is released with the list.
  mutating func release(_ operation: Operation) {
    operation.inboxNext = released
    released = .passUnretained(operation)
  }

  /// Whether a task waits until the queue is empty or has few operations. When the task is woken, its executor may run it
  /// on this thread.
  var wakesTask: Bool { wakeups?.waiters.contains { $0 is WaitingTask } ?? false }

  /// Whether the critical section has left operations to release.
  @inline(__always)
  var releasesOperations: Bool { released != nil || aftermath != nil }

  /// Whether the release of the operations may run user code.
  ///
  /// The answer depends on the objects that the operations retain. It does not depend on the number
  /// of references, because another thread may release its own reference at any time. If the
  /// operations retain only dependencies, the answer may be `false`: see
  /// ``CurrentWork/isBetweenOperations``.
  ///
  /// - Parameter block: The operation that has just been retired, if there is one.
  /// - Returns: Whether the release must wait until this thread holds no other operation.
  /// - Precondition: The caller holds the queue's lock.
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

  /// Whether the queue still has a reference to the retired operation. In that case, another thread
  /// releases the queue's reference, so the reference in ``aftermath`` may be the last one.
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
        // If the queue has the only reference, the operation is the end of a chain of dependencies.
        // This thread then releases the whole chain, because that costs less than a release on
        // another thread. Unlike `isKnownUniquelyReferenced`, the function that is called here
        // creates no reference.
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// Releases operations one after the other instead of one inside the other, so that letting go of
/// a chain of a million needs no stack.
///
/// The outermost release on a thread works off a list; a release that happens inside a `deinit`
/// which that caused only adds to the list.
enum ReleaseList {
  /// Operations with the last reference to each. Lies on the stack of the outermost release.
  private struct Pending {
    /// Those that were retired, linked through `inboxNext`: nobody pushes them any more.
    var retired: Unmanaged<Operation>?
    /// The others. A weak reference, or who finishes a dependency, may bring one of them back, and add
    /// it to a queue, which then links it.
    var others: [Operation] = []

    mutating func add(_ operation: consuming Operation) {
      if operation.status.load(ordering: .acquiring).has(.retired) {
        operation.inboxNext = retired
        retired = .passRetained(consume operation)
      } else {
        others.append(consume operation)
      }
    }
  }

  static func release(_ operation: consuming Operation) {
    var reference: Operation? = consume operation
    // Only the last reference can lead on to a `deinit`. Where two threads let go of the last two at
    // the same time neither finds its own to be the last, and one of them goes one level deeper, from
    // where the next one is put on the list again.
    guard isKnownUniquelyReferenced(&reference), let last = reference.take() else {
      if let shared = reference.take() { releaseShared(consume shared) }
      return
    }
    guard let current = csystem_current_release() else { return releaseAll(from: consume last) }
    current.assumingMemoryBound(to: Pending.self).pointee.add(consume last)
  }

  /// Releases one of several references, which is the last one if other threads release theirs first.
  private static func releaseShared(_ operation: consuming Operation) {
    guard CurrentWork.isBetweenOperations else { return }
    // A retired block holds nothing of the user's. Its dependencies come here in their turn.
    if operation.status.load(ordering: .acquiring).has(.retired),
      operation.heldAfterRetirement != .usersObjects
    {
      return
    }
    releaseElsewhere(consume operation)
  }

  /// Releases the rare state of an operation that is destroyed, if there is one. It may hold objects of the
  /// user's.
  static func release(_ extra: OperationExtra) {
    guard extra.isRare, CurrentWork.isBetweenOperations else { return extra.release() }
    OperationQueue.completions.addOperation { extra.release() }
  }

  private static func releaseAll(from operation: consuming Operation) {
    if CurrentWork.isBetweenOperations { return releaseElsewhere(consume operation) }
    var pending = Pending()
    pending.add(consume operation)
    withUnsafeMutablePointer(to: &pending) { pending in
      csystem_set_current_release(pending)
      while releaseNext(of: pending) {}
      csystem_set_current_release(nil)
    }
  }

  /// Releases it on another thread, because nothing of the user's may run on this one.
  ///
  /// This worker was about to give up one of several references to an operation, and another thread has
  /// given up the others just before.
  @inline(never)
  private static func releaseElsewhere(_ operation: consuming Operation) {
    // The block takes over the reference: one that this thread kept could be the last.
    let reference = Unmanaged.passRetained(consume operation)
    OperationQueue.completions.addOperation { reference.release() }
  }

  /// - Returns: Whether there was one.
  private static func releaseNext(of pending: UnsafeMutablePointer<Pending>) -> Bool {
    // Each is off the list before its `deinit` adds to that.
    if let next = pending.pointee.retired {
      next._withUnsafeGuaranteedRef { pending.pointee.retired = $0.inboxNext }
      next.release()
      return true
    }
    return pending.pointee.others.popLast() != nil
  }
}

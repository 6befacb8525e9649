// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// Releases operations iteratively instead of recursively, so that releasing a chain of a million
/// operations needs no stack.
///
/// The outermost release on a thread processes a list. A release inside a resulting `deinit` only
/// adds to the list.
enum ReleaseList {
  /// The operations to release. The list has the last reference to each of them. It lives on the
  /// stack of the outermost release.
  private struct Pending {
    /// The operations to release that have left their queue (are retired), linked through
    /// `inboxNext`. No other code uses this link, because retired operations are never pushed
    /// again.
    ///
    /// The operation that was added first is released first. Meanwhile, the processor fetches the
    /// memory of the others.
    var firstRetired: Unmanaged<Operation>?
    /// The operation that was added last; `nil` if ``firstRetired`` is `nil`.
    private var lastRetired: Unmanaged<Operation>?
    /// The operations that are not retired. Another thread may still get a reference to such an
    /// operation, through a weak reference or because it finishes a dependency. It may then add the
    /// operation to a queue, which uses the operation's links.
    var others: [Operation] = []
    /// The operation of the list that is being released.
    var current: UnsafeMutableRawPointer?
    /// The block of an operation of the list that was destroyed. Its dependencies are released when
    /// another operation with a block is destroyed, or when ``firstRetired`` is `nil`. Meanwhile,
    /// the processor fetches their memory.
    var block: EdgeBlock?

    mutating func add(_ operation: consuming Operation) {
      guard operation.status.load(ordering: .acquiring).has(.retired) else {
        return others.append(consume operation)
      }
      operation.extra.load(ordering: .relaxed).prefetch()
      operation.inboxNext = nil
      let added = Unmanaged.passRetained(consume operation)
      if let last = lastRetired {
        last._withUnsafeGuaranteedRef { $0.inboxNext = added }
      } else {
        firstRetired = added
      }
      lastRetired = added
    }

    mutating func popFirstRetired() -> Unmanaged<Operation>? {
      guard let first = firstRetired else { return nil }
      firstRetired = first._withUnsafeGuaranteedRef { $0.inboxNext }
      if firstRetired == nil { lastRetired = nil }
      return first
    }
  }

  static func release(_ operation: consuming Operation) {
    var reference: Operation? = consume operation
    // Only the release of the last reference can cause a `deinit`. If two threads release the last
    // two references at the same time, neither thread finds that its own reference is the last. One
    // of the two threads then runs one `deinit` recursively. That `deinit` adds the next operation
    // to the list again.
    guard isKnownUniquelyReferenced(&reference), let last = reference.take() else {
      if let shared = reference.take() { releaseShared(consume shared) }
      return
    }
    guard let current = csystem_current_release() else { return releaseAll(from: consume last) }
    current.assumingMemoryBound(to: Pending.self).pointee.add(consume last)
  }

  /// Releases the dependencies of a block, and frees the block. The block contains no dependents.
  ///
  /// If this thread releases a list that contains the operation, this method releases the dependencies later, and
  /// those of the block of the previous call now. If code of the user has released the operation, this method
  /// releases the dependencies now, because the code may wait for their release.
  ///
  /// - Parameters:
  ///   - block: The block.
  ///   - operation: The operation of the block, which is being destroyed.
  static func releaseDependencies(of block: EdgeBlock, in operation: Operation) {
    for dependency in block.dependencies { csystem_prefetch_line(dependency.toOpaque()) }
    guard let pending = csystem_current_release()?.assumingMemoryBound(to: Pending.self),
      pending.pointee.current == Unmanaged.passUnretained(operation).toOpaque()
    else { return releaseNow(block) }
    let previous = pending.pointee.block
    pending.pointee.block = block
    if let previous { releaseNow(previous) }
  }

  private static func releaseNow(_ block: EdgeBlock) {
    for dependency in block.dependencies { release(dependency.takeRetainedValue()) }
    block.free()
  }

  /// Releases a reference to an operation that has other references. If other threads release their
  /// references first, this reference is the last one.
  private static func releaseShared(_ operation: consuming Operation) {
    guard CurrentWork.isBetweenOperations else { return }
    // A block operation that has left its queue holds no objects of the user. When it is destroyed,
    // its dependencies are added to the list of operations to release.
    if operation.status.load(ordering: .acquiring).has(.retired),
      operation.heldAfterRetirement != .usersObjects
    {
      return
    }
    releaseElsewhere(consume operation)
  }

  /// Releases the object with the rarely used data of a destroyed operation, if the operation has
  /// one. This object may hold user objects.
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

  /// Releases an operation on another thread, because this thread may not run the user's code.
  ///
  /// This worker was about to release a reference to an operation, and this reference may be the
  /// last one because another thread has just released the other references.
  @inline(never)
  private static func releaseElsewhere(_ operation: consuming Operation) {
    // The block, which runs on another thread, receives this thread's only reference to the
    // operation. If this thread kept a reference, that reference could be the last one.
    let reference = Unmanaged.passRetained(consume operation)
    OperationQueue.completions.addOperation { reference.release() }
  }

  /// Releases objects on another thread, because this thread may not run the user's code.
  static func releaseElsewhere(_ objects: consuming [any AnyObject & Sendable]) {
    let last = Unmanaged.passRetained(Objects(consume objects))
    OperationQueue.completions.addOperation { last.release() }
  }

  /// A list of objects that retains them. A block that releases this list on another thread has the
  /// only reference to the list.
  private final class Objects: Sendable {
    private let objects: [any AnyObject & Sendable]

    init(_ objects: consuming [any AnyObject & Sendable]) { self.objects = objects }
  }

  /// Removes the next operation from the list of operations to release, and releases it.
  ///
  /// - Returns: Whether the list contained an operation.
  private static func releaseNext(of pending: UnsafeMutablePointer<Pending>) -> Bool {
    // An operation is removed from the list of operations to release before its `deinit` adds other
    // operations to this list.
    if let next = pending.pointee.popFirstRetired() {
      pending.pointee.current = next.toOpaque()
      next.release()
      pending.pointee.current = nil
      return true
    }
    if let block = pending.pointee.block.take() {
      releaseNow(block)
      return true
    }
    return pending.pointee.others.popLast() != nil
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self: Operation {
  /// Whether the operation releases its ``Operation/dependencies`` when it finishes; `false` by
  /// default.
  ///
  /// An operation retains its dependencies, and each dependency retains its own dependencies. If
  /// each operation of a program depends on the previous one, all operations stay in memory. If
  /// this property is `true` for each operation, only the unfinished operations and one finished
  /// operation stay in memory.
  ///
  /// If the operation has finished, setting this property to `true` removes its dependencies at
  /// once. The removal is not announced to observers of `dependencies`. This property can be set on
  /// any thread.
  public var releasesDependenciesWhenFinished: Bool {
    get { status.load(ordering: .acquiring).has(.releasesDependenciesWhenFinished) }
    set {
      let isLate = update { status in
        if newValue {
          status.insert(.releasesDependenciesWhenFinished)
        } else {
          status.remove(.releasesDependenciesWhenFinished)
        }
        return newValue && status.isFinished
      }
      if isLate { forgetDependencies() }
    }
  }
}

extension Operation {
  /// Removes and releases all dependencies. An unfinished dependency that was removed still
  /// decrements the number of unmet dependencies when it finishes, which has no effect on this
  /// operation.
  final func forgetDependencies() { release(takeDependencies()) }

  /// Forgets the dependencies of a block operation that this thread has executed for a queue.
  ///
  /// If the release of the dependencies may run user code, the block operation is retired first,
  /// because that code may need the slot of the block operation.
  ///
  /// - Returns: Whether the block operation was retired.
  @inline(never)
  final func forgetsUsersObjects(_ scope: UnsafeMutablePointer<CurrentWork.Scope>) -> Bool {
    let forgotten = takeDependencies()
    let mustRetire = forgotten.contains { !$0.holdsOnlyItself }
    if mustRetire { CurrentWork.retire(scope) }
    CurrentWork.releasing(scope) { release(forgotten) }
    return scope.pointee.operation == nil
  }

  /// Whether the release of this operation runs no user code.
  private final var holdsOnlyItself: Bool {
    status.load(ordering: .acquiring).has(.retired) && heldAfterRetirement == .nothing
  }

  /// Returns and removes the dependencies of an operation that forgets them when it finishes.
  final func takeForgottenDependencies() -> [Operation] {
    status.load(ordering: .acquiring).has(.releasesDependenciesWhenFinished)
      ? takeDependencies() : []
  }

  /// Releases removed dependencies, which may run the user's code.
  final func release(_ dependencies: consuming [Operation]) {
    while let dependency = dependencies.popLast() { ReleaseList.release(dependency) }
  }

  private final func takeDependencies() -> [Operation] {
    lock.lock()
    defer { lock.unlock() }
    let taken = takeDependenciesLocked()
    // The flag `hasDependencies` is cleared under the lock. A thread that adds a dependency to the
    // list after that sets the flag again.
    update { $0.remove(.hasDependencies) }
    return taken
  }
}

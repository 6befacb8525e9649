// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self: Operation {
  /// Whether the operation releases its ``Operation/dependencies`` when it finishes; `false` by
  /// default.
  ///
  /// An operation retains its dependencies, these retain their own, and so on: a program that makes
  /// each operation depend on the previous one keeps all of them. If this property is set on each,
  /// only the unfinished ones and one more are kept.
  ///
  /// On a finished operation, setting it takes effect at once. The removal is not announced to
  /// observers of `dependencies`. It can be set on any thread.
  public var forgetsDependencies: Bool {
    get { status.load(ordering: .acquiring).has(.forgetsDependencies) }
    set {
      let isLate = update { status in
        if newValue {
          status.insert(.forgetsDependencies)
        } else {
          status.remove(.forgetsDependencies)
        }
        return newValue && status.isFinished
      }
      if isLate { forgetDependencies() }
    }
  }
}

extension Operation {
  /// An unfinished dependency will still count itself off, which has no effect.
  final func forgetDependencies() { release(takeDependencies()) }

  /// Forgets the dependencies of a plain block that this thread has executed for a queue.
  ///
  /// If this may run user code, which may need the slot of the block, the block is retired first.
  ///
  /// - Returns: Whether the block was retired.
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
    status.load(ordering: .acquiring).has(.forgetsDependencies) ? takeDependencies() : []
  }

  /// Releases removed dependencies, which may run the user's code.
  final func release(_ dependencies: consuming [Operation]) {
    while let dependency = dependencies.popLast() { ReleaseList.release(dependency) }
  }

  private final func takeDependencies() -> [Operation] {
    lock.lock()
    defer { lock.unlock() }
    let taken = dependenciesLocked
    setDependenciesLocked([])
    // Under the lock: a thread that lists a dependency sets the flag again.
    update { $0.remove(.hasDependencies) }
    return taken
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

extension OperationSupplement where Self: Operation {
  /// Whether the operation lets go of its ``Operation/dependencies`` when it finishes; `false` by default.
  ///
  /// An operation keeps what it depends on alive, that what it depended on in turn, and so on: a
  /// program that makes each operation depend on the one before keeps all of them. With this set on
  /// each, only those are kept that have not finished, and one more.
  ///
  /// Set on an operation that has finished it takes effect at once. What is forgotten is not
  /// announced to observers of `dependencies`. On any thread.
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
  /// Where a dependency has not finished it will still count itself off, which matters to nobody.
  final func forgetDependencies() { release(takeDependencies()) }

  /// Forgets the dependencies of a plain block, which this thread has run for a queue.
  ///
  /// If that may run the user's code, which may need the slot of the block, retires the block first.
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

  /// Whether the release of this operation runs none of the user's code.
  private final var holdsOnlyItself: Bool {
    status.load(ordering: .acquiring).has(.retired) && heldAfterRetirement == .nothing
  }

  /// Takes the dependencies of one that forgets them when it finishes.
  final func takeForgottenDependencies() -> [Operation] {
    status.load(ordering: .acquiring).has(.forgetsDependencies) ? takeDependencies() : []
  }

  /// Releases dependencies that were taken, which may run the user's code.
  final func release(_ dependencies: consuming [Operation]) {
    while let dependency = dependencies.popLast() { ReleaseList.release(dependency) }
  }

  private final func takeDependencies() -> [Operation] {
    lock.lock()
    defer { lock.unlock() }
    let taken = dependenciesLocked
    setDependenciesLocked([])
    // Under the lock: who lists one sets it again.
    update { $0.remove(.hasDependencies) }
    return taken
  }
}

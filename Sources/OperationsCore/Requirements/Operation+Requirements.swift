// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension OperationSupplement where Self: Operation {
  /// Makes this operation depend on `operation`, with a requirement.
  ///
  /// With ``DependencyRequirement/success``, this operation is cancelled when the dependency
  /// finishes after a failure or a cancellation. The library calls `cancel(with:)` with a
  /// ``OperationDependencyError``, without waiting for other dependencies. This operation cannot start
  /// between the finish of the dependency and this call. A thread of the library makes the call
  /// soon after the finish. If `operation` has already finished, this thread makes the call. With
  /// ``DependencyRequirement/completion``, this method does the same as `addDependency(_:)`.
  ///
  /// If the dependency is already listed, this method can add the requirement, but not remove it.
  /// Removing the dependency removes the requirement. If this operation executes, is cancelled or
  /// has finished, the requirement has no effect. This includes an operation whose own `isReady`
  /// let it start before its dependencies have finished.
  ///
  /// - Parameters:
  ///   - operation: The dependency.
  ///   - requirement: The requirement for the dependency.
  /// - Precondition: `operation` is not this operation.
  public func addDependency(_ operation: Operation, requires requirement: DependencyRequirement) {
    depend(on: operation, requiresSuccess: requirement == .success)
  }
}

// MARK: - The dependent's side

extension Operation {
  /// Makes this operation require the success of a new dependency. The number of unmet dependencies
  /// is increased by one more than for the dependency alone, so that this operation waits until a
  /// thread has checked how `operation` has finished.
  ///
  /// - Returns: Whether this operation was ready before.
  @inline(never)
  final func require(_ operation: Operation) -> Bool {
    if operation.status.load(ordering: .acquiring).isFinished {
      cancelUnlessSuccessful(OperationDependencyError(of: operation))
      return false
    }
    guard makeRare({ $0.required.insert(ObjectIdentifier(operation)).inserted }) else {
      return false
    }
    let (wasReady, event) = countingUnmet { ($0.isReady, $0.dependencyWasAdded()) }
    guard event.isCounted else { return false }
    if status.load(ordering: .relaxed).has(.excludesOthers) { loseItsTurn(isReady: false) }
    if event.mustPush { pushToQueue() }
    if operation.listRequirer(self) { return wasReady }
    judge(OperationDependencyError(of: operation))
    return false
  }

  /// Makes this operation require the success of an existing dependency.
  final func requireListed(_ operation: Operation) {
    _ = require(operation)
    // While `require(_:)` added the requirement, another thread may have removed the dependency,
    // and may have found no requirement to remove. In that case, this thread removes the
    // requirement.
    if !isListed(operation) { stopRequiring(operation) }
    // The call of `require(_:)` has dropped the stored value of `isReady`. The queue reads it
    // again, because an override may return `true` although a dependency has not finished.
    if overridesReadiness, status.load(ordering: .acquiring).has(.enqueued) {
      readReadinessAgain()
    }
  }

  /// Removes the requirement that ``require(_:)`` has added, if it still exists.
  final func stopRequiring(_ operation: Operation) {
    withRare { _ = $0?.required.remove(ObjectIdentifier(operation)) }
    guard operation.status.load(ordering: .acquiring).has(.hasFinishDuties) else { return }
    // If other threads have removed the dependency and required it again, this operation may be
    // listed more than once, and all of its entries are removed.
    while operation.unlistRequirer(self) { countOffDependency() }
  }

  /// Handles the finish of a dependency whose success this operation requires. Cancels this
  /// operation if `error` is not `nil`.
  private final func judge(_ error: OperationDependencyError?) {
    cancelUnlessSuccessful(error)
    countOffDependency()
  }

  private final func cancelUnlessSuccessful(_ error: OperationDependencyError?) {
    let status = status.load(ordering: .acquiring)
    guard let error, status.isPending, !status.isCancelled, !status.has(.dispatched) else { return }
    CancellationScope.cancel(self, because: .dependency(error.dependency.id)) {
      cancel(with: error)
    }
  }
}

// MARK: - The dependency's side

extension Operation {
  /// Lists an operation that requires the success of this operation.
  ///
  /// - Returns: `false` if this operation has already finished, so that it will not notify the
  ///   listed operation.
  private final func listRequirer(_ dependent: Operation) -> Bool {
    makeRare { rare in
      // If the flag `hasFinishDuties` is set before the finish, the thread that finishes this
      // operation reads the list of operations that require its success.
      guard update({ $0.promise(.hasFinishDuties) }) else { return false }
      rare.requirers.append(dependent: .passUnretained(dependent))
      return true
    }
  }

  /// Removes an operation from the list of operations that require the success of this operation.
  ///
  /// - Returns: Whether the operation was in the list. If it was, the caller must decrement its
  ///   number of unmet dependencies.
  private final func unlistRequirer(_ dependent: Operation) -> Bool {
    withRare { $0?.requirers.remove(dependent) != nil }
  }

  /// Carries out the actions that only few operations need when they finish: releases exclusions, ends
  /// a delay, and notifies the group and the operations that require the success of this operation. Called
  /// once, by the thread that finishes the operation.
  @inline(never)
  final func performFinishDuties() {
    let status = status.load(ordering: .acquiring)
    if status.has(.excludesOthers) { Exclusions.shared.leave(self) }
    // While an operation waits for its delay, the delay is counted as an unmet dependency.
    if status.unmetDependencyCount > 0 { endDelayOfFinished() }
    let (requirers, groupMembers) = withRare { rare -> ([Unmanaged<Operation>], GroupMembers?) in
      defer { rare?.groupMembers = nil }
      return (rare?.requirers.removeAll() ?? [], rare?.groupMembers)
    }
    groupMembers?.memberHasFinished(self)
    guard !requirers.isEmpty else { return }
    let error = OperationDependencyError(of: self)
    for requirer in requirers {
      guard let dependent = Self.retained(requirer) else {
        Self.countOffSilently(requirer)
        continue
      }
      guard let error else {
        // The dependent may become ready and notify observers. An observer must not wait for this
        // operation, which has not left its queue yet. `Delivery` prevents such a wait.
        Delivery.during(self) { dependent.judge(nil) }
        continue
      }
      ForkedProcess.check("to cancel a dependent of an operation that has failed")
      // The dependent is cancelled on another thread, because an override of `cancel()` may need a
      // lock of the subclass that this thread holds.
      OperationQueue.duties.addOperation { dependent.judge(error) }
    }
  }
}

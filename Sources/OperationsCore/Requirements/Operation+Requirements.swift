// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension OperationSupplement where Self: Operation {
  /// Makes this operation wait for `operation`, and says what is asked of it.
  ///
  /// With ``DependencyRequirement/success``, one that fails or is cancelled cancels this operation
  /// when it finishes: by `cancel(because:)` with a ``DependencyError``, without waiting for other
  /// dependencies. It cannot start in between. The cancellation comes from a thread of the library's,
  /// soon after the finish; where `operation` has finished already, from this one. With
  /// ``DependencyRequirement/completion`` this is `addDependency(_:)`.
  ///
  /// A dependency that is listed already is asked for more by this, never for less. Removing the
  /// dependency removes the requirement. Once this operation executes, is cancelled or has finished,
  /// there is no effect; so there is none on a subclass whose `isReady` lets it start before what it
  /// depends on has finished, once it has.
  ///
  /// - Parameters:
  ///   - operation: What this operation waits for.
  ///   - requirement: What is asked of it.
  /// - Precondition: `operation` is another one.
  public func addDependency(_ operation: Operation, requires requirement: DependencyRequirement) {
    depend(on: operation, requiresSuccess: requirement == .success)
  }
}

// MARK: - The dependent's side

extension Operation {
  /// Counts one more than the edge, so that this operation is held up until somebody has looked at how
  /// `operation` has finished.
  ///
  /// - Returns: Whether it was ready until now.
  @inline(never)
  final func require(_ operation: Operation) -> Bool {
    if operation.status.load(ordering: .acquiring).isFinished {
      cancelUnlessSuccessful(DependencyError(of: operation))
      return false
    }
    guard makeRare({ $0.required.insert(ObjectIdentifier(operation)).inserted }) else {
      return false
    }
    let (wasReady, event) = update { ($0.isReady, $0.dependencyWasAdded()) }
    guard event.isCounted else { return false }
    if status.load(ordering: .relaxed).has(.excludesOthers) { loseItsTurn(isReady: false) }
    if event.mustPush { pushToQueue() }
    if operation.listRequirer(self) { return wasReady }
    judge(DependencyError(of: operation))
    return false
  }

  /// As ``require(_:)``, of a dependency that was listed before.
  final func requireListed(_ operation: Operation) {
    _ = require(operation)
    // Another thread may have removed it in between, and found nothing to take back.
    if !isListed(operation) { stopRequiring(operation) }
    // Its answer was forgotten: an override may be ready although a dependency has not finished.
    if overridesReadiness, status.load(ordering: .acquiring).has(.enqueued) {
      readReadinessAgain()
    }
  }

  /// Takes back ``require(_:)``, as far as that is not over.
  final func stopRequiring(_ operation: Operation) {
    withRare { _ = $0?.required.remove(ObjectIdentifier(operation)) }
    guard operation.status.load(ordering: .acquiring).has(.hasFinishDuties) else { return }
    // Where it was removed and required again meanwhile, it may be there more than once.
    while operation.unlistRequirer(self) { countOffDependency() }
  }

  /// A dependency that was counted has finished.
  private final func judge(_ error: DependencyError?) {
    cancelUnlessSuccessful(error)
    countOffDependency()
  }

  private final func cancelUnlessSuccessful(_ error: DependencyError?) {
    let status = status.load(ordering: .acquiring)
    guard let error, status.isPending, !status.isCancelled, !status.has(.dispatched) else { return }
    cancel(because: error)
  }
}

// MARK: - The dependency's side

extension Operation {
  /// - Returns: `false` where this operation has finished: nobody will be told any more.
  private final func listRequirer(_ dependent: Operation) -> Bool {
    makeRare { rare in
      // With the flag set before it finishes, the finisher comes for the list.
      guard update({ $0.promise(.hasFinishDuties) }) else { return false }
      let unowned = Unmanaged.passUnretained(dependent)
      _ = swift_unownedRetain(unowned.toOpaque())
      rare.requirers.list(unowned)
      return true
    }
  }

  /// - Returns: Whether it was listed, and the caller has to count it off.
  private final func unlistRequirer(_ dependent: Operation) -> Bool {
    let opaque = Unmanaged.passUnretained(dependent).toOpaque()
    return withRare { rare in
      guard let rare, let index = rare.requirers.firstIndex(where: { $0.toOpaque() == opaque })
      else { return false }
      rare.requirers.remove(at: index)
      swift_unownedRelease(opaque)
      return true
    }
  }

  /// What few operations have to do when they have finished. Called once, by the finisher.
  @inline(never)
  final func performFinishDuties() {
    if status.load(ordering: .acquiring).has(.excludesOthers) { Exclusions.shared.leave(self) }
    let (requirers, groupMembers) = withRare { rare -> ([Unmanaged<Operation>], GroupMembers?) in
      defer {
        rare?.requirers = []
        rare?.groupMembers = nil
      }
      return (rare?.requirers ?? [], rare?.groupMembers)
    }
    groupMembers?.memberHasFinished(self)
    guard !requirers.isEmpty else { return }
    let error = DependencyError(of: self)
    for requirer in requirers {
      guard let dependent = Self.claim(requirer) else { continue }
      guard let error else {
        // An observer may wait for this operation, which is not retired yet.
        Delivery.during(self) { dependent.judge(nil) }
        continue
      }
      // `cancel()` may be overridden, and this thread may hold a lock of the subclass's.
      OperationQueue.duties.addOperation { dependent.judge(error) }
    }
  }
}

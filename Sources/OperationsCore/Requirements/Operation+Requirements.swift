// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

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
  /// there is no effect.
  ///
  /// - Parameters:
  ///   - operation: What this operation waits for.
  ///   - requirement: What is asked of it.
  /// - Precondition: `operation` is another one.
  public func addDependency(_ operation: Operation, requires requirement: DependencyRequirement) {
    depend(on: operation, requiresSuccess: requirement == .success)
  }
}

/// An operation that requires the success of the one in whose list this is.
struct Requirer {
  weak var dependent: Operation?
}

// MARK: - The dependent's side

extension Operation {
  /// Counts one more than the edge, so that this operation is held up until somebody has looked at how
  /// `operation` has finished.
  ///
  /// - Returns: Whether it was ready until now.
  @inline(never)
  final func require(_ operation: Operation) -> Bool {
    let (wasReady, event) = update { ($0.isReady, $0.dependencyWasAdded()) }
    guard event.isCounted else { return false }
    if event.mustPush { pushToQueue() }
    if operation.listRequirer(self) { return wasReady }
    judge(DependencyError(of: operation))
    return false
  }

  /// The dependency has finished: cancels this operation where that was no success. Then nothing is
  /// required of it any more.
  private final func judge(_ error: DependencyError?) {
    if let error { cancel(because: error) }
    countOffDependency()
  }
}

// MARK: - The dependency's side

extension Operation {
  /// - Returns: `false` where this operation has finished: nobody will be told any more.
  private final func listRequirer(_ dependent: Operation) -> Bool {
    makeRare { rare in
      // With the flag set before it finishes, the finisher comes for the list.
      guard update({ $0.promise(.hasFinishDuties) }) else { return false }
      rare.listRequirer(Requirer(dependent: dependent))
      return true
    }
  }

  final func isRequired(by dependent: Operation) -> Bool {
    withRare { $0?.requirers.contains { $0.dependent === dependent } ?? false }
  }

  /// - Returns: Whether it was listed, and the caller has to count it off.
  final func unlistRequirer(_ dependent: Operation) -> Bool {
    withRare { rare in
      guard let rare, !rare.requirers.isEmpty,
        let index = rare.requirers.firstIndex(where: { $0.dependent === dependent })
      else { return false }
      rare.requirers.remove(at: index)
      return true
    }
  }

  /// What few operations have to do when they have finished. Called once, by the finisher.
  @inline(never)
  final func performFinishDuties() {
    if status.load(ordering: .acquiring).has(.excludesOthers) { Exclusions.shared.leave(self) }
    let requirers = withRare { rare in
      defer { rare?.requirers = [] }
      return rare?.requirers ?? []
    }
    guard !requirers.isEmpty else { return }
    let error = DependencyError(of: self)
    for dependent in requirers.lazy.compactMap(\.dependent) {
      guard let error else {
        // An observer may wait for this operation, which is not retired yet.
        Delivery.during(self) { dependent.judge(nil) }
        continue
      }
      // `cancel()` may be overridden, and this thread may hold a lock of the subclass's.
      OperationQueue.completions.addOperation { dependent.judge(error) }
    }
  }
}

extension RareState {
  /// What never finishes would collect all that have ever required it: before the list grows it drops
  /// those that are gone.
  func listRequirer(_ requirer: Requirer) {
    if requirers.count == requirers.capacity {
      requirers.removeAll { $0.dependent == nil }
      requirers.reserveCapacity(2 * requirers.count + 1)
    }
    requirers.append(requirer)
  }
}

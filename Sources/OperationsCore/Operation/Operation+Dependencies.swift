// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The edges between an operation and its dependencies and dependents. The operation's lock guards
/// them, except when the thread that finishes the operation removes them.
///
/// The first edge of each kind is stored here. A second edge of either kind is stored in
/// ``OperationExtra``, so that chains and binary trees allocate no memory. Further edges are stored
/// in an ``EdgeBlock``, and many edges in an ``EdgeList``; see `Operation+Edges.swift`.
///
/// Dependencies are retained. Dependents are not, because a dependency must not keep its dependents
/// alive. They are *unowned-retained*: their memory stays valid, and `swift_tryRetain` returns
/// whether the operation still exists. An operation has one unowned reference for all lists of dependents
/// that contain it. The reference exists while the number of its unmet dependencies is not zero. Each entry in a
/// list is counted in this number, so a thread that has removed an entry can use the memory until it has
/// decremented the number.
struct DependencyLinks {
  var firstDependency: Unmanaged<Operation>?
  var firstDependent: Unmanaged<Operation>?

  var isEmpty: Bool { firstDependency == nil && firstDependent == nil }
}

extension Operation {
  /// The dependencies that were added, without the values of a subclass's override of
  /// `dependencies`.
  final var listedDependencies: [Operation] {
    lock.lock()
    defer { lock.unlock() }
    return dependenciesLocked
  }

  final func depend(on operation: Operation, requiresSuccess: Bool) {
    // A requirement is rare. Its announcement to no observer costs little.
    if !requiresSuccess, operation !== self, isExactlyBlockOperation, !isObserved {
      return dependQuietly(on: operation)
    }
    guard operation !== self, !isListed(operation) else {
      return dependAgain(on: operation, requiresSuccess: requiresSuccess)
    }
    let isMet = operation.status.load(ordering: .acquiring).isFinished
    dependAnnouncing(on: operation, isMet: isMet, requiresSuccess: requiresSuccess)
  }

  /// Makes a block operation without observers depend on another operation.
  @inline(__always)
  private final func dependQuietly(on operation: Operation) {
    let isMet = operation.status.load(ordering: .acquiring).isFinished
    guard let becameUnready = list(operation, isMet: isMet) else { return }
    // While the dependency was being added, another thread may have added an observer that has read
    // the earlier value. This thread sees the observer without a fence, because a thread that reads
    // the value acquires the lock that this thread has just released.
    if isObserved { notifyObserversOfDependency(becameUnready: becameUnready) }
    noteDescriptionChanged()
  }

  @inline(never)
  private final func dependAgain(on operation: Operation, requiresSuccess: Bool) {
    if operation === self {
      return OperationMisuse.raise(
        .selfDependency, "-[Operation addDependency:]: \(description) cannot depend on itself")
    }
    if requiresSuccess { requireListed(operation) }
  }

  @inline(never)
  private final func dependAnnouncing(
    on operation: Operation, isMet: Bool, requiresSuccess: Bool
  ) {
    let current = status.load(ordering: .acquiring)
    let willHold = !isMet && current.isReady && current.isPending && !current.isCancelled
    willChangeValue(forKey: "dependencies")
    if willHold { willChangeValue(forKey: "isReady") }
    let becameUnready = link(operation, isMet: isMet, requiresSuccess)
    // While this dependency was being added, the earlier dependencies may have finished, and
    // observers may have been notified that the operation became ready. In that case, this thread
    // announces that the operation is no longer ready.
    if becameUnready, !willHold { willChangeValue(forKey: "isReady") }
    // After a dependency was added, the queue evaluates a subclass's own `isReady` again, even if
    // the change was not announced.
    if willHold || becameUnready {
      ownValueDidChange(forKey: "isReady")
    } else if !isExactlyBlockOperation, status.load(ordering: .acquiring).has(.enqueued) {
      readReadinessAgain()
    }
    ownValueDidChange(forKey: "dependencies")
    noteDescriptionChanged()
  }

  final func stopDepending(on operation: Operation) {
    if csystem_is_forked_child() { checkProcessBeforeChange() }
    guard isListed(operation) else { return }
    announce("dependencies") { unlink(operation) }
    noteDescriptionChanged()
  }

  private final func notifyObserversOfDependency(becameUnready: Bool) {
    guard let observations else { return }
    Delivery.during(self) {
      if becameUnready { observations.didChange(.named("isReady"), of: self) }
      observations.didChange(.named("dependencies"), of: self)
    }
  }

  // MARK: Linking

  /// Adds a dependency, and its requirement if there is one.
  ///
  /// - Returns: Whether the operation was ready until this dependency was added.
  private final func link(_ operation: Operation, isMet: Bool, _ requiresSuccess: Bool) -> Bool {
    let isHeld = requiresSuccess && require(operation)
    return list(operation, isMet: isMet) ?? false || isHeld
  }

  private final func unlink(_ operation: Operation) {
    guard unlistDependency(operation) else { return }
    stopRequiring(operation)
    // The thread that removes this operation from the dependency's list of dependents also
    // decrements the number of unmet dependencies. That thread is either this thread or the thread
    // that finishes the dependency.
    guard removeFromDependents(of: operation) else { return }
    let verdict = countingMet { $0.dependencyWasMet(isAnnounced: !isExactlyBlockOperation) }
    if verdict.becameReady { announceReadiness() }
    if verdict.mustPush { pushToQueue() }
  }

  /// Removes this operation from the list of dependents of a removed dependency.
  ///
  /// If another thread adds the dependency at the same time, that thread may have listed the
  /// dependency, and not yet this operation as its dependent. In that case, this method waits until
  /// it has. That thread holds no lock and runs no code of the user between these two steps.
  ///
  /// The method does not wait if this operation is being destroyed, because its entry may have been
  /// removed with those of other operations that no longer exist. In a forked child, the other thread
  /// may not exist. In that case, the method waits for some milliseconds, and then the caller corrects
  /// the count.
  ///
  /// - Returns: Whether the caller must decrement the number of unmet dependencies.
  private final func removeFromDependents(of operation: Operation) -> Bool {
    var attempts: Int32 = 0
    while true {
      if operation.unlistDependent(self) { return true }
      let current = status.load(ordering: .acquiring)
      let isCounted = current.isPending && !current.isCancelled && current.unmetDependencyCount > 0
      if !isCounted || operation.status.load(ordering: .sequentiallyConsistent).isFinished
        || swift_isDeallocating(Unmanaged.passUnretained(self).toOpaque())
      {
        return false
      }
      if csystem_is_forked_child(), attempts > 128 { return true }
      csystem_yield(attempts)
      attempts = min(attempts + 1, 1_000)
    }
  }

  /// Lists a dependency and, if it has not finished, counts it as unmet and adds this operation to
  /// its dependents.
  ///
  /// The dependency is counted before this operation becomes a dependent. In the opposite order,
  /// the count could be decremented for a dependency that was never counted. If the dependency
  /// finishes between these two steps, it does not find this dependent, and this method corrects
  /// the count.
  ///
  /// - Returns: Whether this operation was ready until this dependency was added; `nil` if the
  ///   dependency was already listed.
  @inline(__always)
  private final func list(_ operation: Operation, isMet: Bool) -> Bool? {
    lock.lock()
    if isListedLocked(operation) {
      lock.unlock()
      return nil
    }
    let (wasReady, event) =
      isMet
      ? (false, (isCounted: false, mustPush: false))
      : countingUnmet { ($0.isReady, $0.dependencyWasAdded()) }
    listLocked(operation)
    lock.unlock()
    guard event.isCounted else { return false }
    if status.load(ordering: .relaxed).has(.excludesOthers) { loseItsTurn(isReady: false) }
    let isRegistered = operation.listDependent(self)
    if event.mustPush { pushToQueue() }
    if !isRegistered { countOffDependency() }
    return isRegistered && wasReady
  }

  // MARK: Counting

  /// Applies an event that may increment the number of unmet dependencies. The caller has a strong reference to
  /// `self`.
  @inline(__always)
  final func countingUnmet<Result>(_ event: (inout OperationStatus) -> Result) -> Result {
    let (result, isFirst) = update { status in
      let wasUnmet = status.unmetDependencyCount > 0
      return (event(&status), !wasUnmet && status.unmetDependencyCount > 0)
    }
    // The caller's reference keeps the memory valid until this call, and the counted dependency is in no list yet.
    if isFirst { _ = swift_unownedRetain(Unmanaged.passUnretained(self).toOpaque()) }
    return result
  }

  /// Applies an event that may decrement the number of unmet dependencies. The caller has a strong reference to
  /// `self`.
  @inline(__always)
  final func countingMet<Result>(_ event: (inout OperationStatus) -> Result) -> Result {
    let (result, isLast) = update { status in
      let wasUnmet = status.unmetDependencyCount > 0
      return (event(&status), wasUnmet && status.unmetDependencyCount == 0)
    }
    if isLast { swift_unownedRelease(Unmanaged.passUnretained(self).toOpaque()) }
    return result
  }

  /// Decrements the number of unmet dependencies of an operation that has finished or no longer exists. If it no
  /// longer exists and this was its last entry in a list, its memory is freed.
  static func countOffSilently(_ operation: Unmanaged<Operation>) {
    let isLast = operation._withUnsafeGuaranteedRef { $0.update { $0.countMet() } }
    if isLast { swift_unownedRelease(operation.toOpaque()) }
  }

  /// Decrements the number of unmet dependencies. The caller has a strong reference to `self`.
  final func countOffDependency() {
    let verdict = countingMet { $0.dependencyWasMet() }
    if verdict.becameReady { announceReadinessToObservers() }
    if verdict.mustPush { pushToQueue() }
    if verdict.asksReadiness, overridesReadiness {
      // The other thread, which evaluates `isReady`, gets an unowned reference, so that it does not
      // keep the operation alive.
      let unowned = Unmanaged.passUnretained(self)
      _ = swift_unownedRetain(unowned.toOpaque())
      Self.askReadinessElsewhere([unowned])
    }
  }

  // MARK: Edges of the dependent

  /// The dependencies, in the order in which they were added.
  ///
  /// - Precondition: The caller holds the operation's lock.
  final var dependenciesLocked: [Operation] {
    guard let first = links.firstDependency else { return [] }
    return [first.takeUnretainedValue()] + furtherDependenciesLocked
  }

  final func isListed(_ operation: Operation) -> Bool {
    guard status.load(ordering: .acquiring).has(.hasDependencies) else { return false }
    lock.lock()
    defer { lock.unlock() }
    return isListedLocked(operation)
  }

  /// Returns whether `operation` is in the list of dependencies.
  ///
  /// - Precondition: The caller holds the operation's lock.
  private final func isListedLocked(_ operation: Operation) -> Bool {
    guard let first = links.firstDependency else { return false }
    if first.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() { return true }
    return isListedFurtherLocked(operation)
  }

  /// Adds a dependency to the list, which does not contain it.
  ///
  /// - Precondition: The caller holds the operation's lock.
  @inline(__always)
  private final func listLocked(_ operation: Operation) {
    if links.firstDependency == nil {
      // The flag `hasDependencies` is set when a dependency is counted. A dependency that had
      // already finished was not counted, so the flag must be set here.
      if !status.load(ordering: .relaxed).has(.hasDependencies) {
        update { $0.insert(.hasDependencies) }
      }
      links.firstDependency = .passRetained(operation)
    } else if extra.load(ordering: .relaxed).isNothing {
      extra.store(OperationExtra(dependency: operation), ordering: .relaxed)
    } else {
      listFurtherLocked(dependency: .passRetained(operation))
    }
  }

  /// Removes a dependency from the list. The caller keeps the dependency alive, so this method
  /// frees no memory.
  ///
  /// - Returns: Whether the dependency was in the list.
  private final func unlistDependency(_ operation: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard let first = links.firstDependency else { return false }
    guard first.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() else {
      return unlistFurtherLocked(dependency: operation)
    }
    links.firstDependency = takeSecondDependencyLocked()
    first.release()
    return true
  }

  // MARK: Release

  /// Releases the references to the dependencies and dependents when the operation is destroyed.
  @inline(never)
  final func releaseDependencies() {
    if let first = links.firstDependency.take() { ReleaseList.release(first.takeRetainedValue()) }
    // An operation that still exists would retain this one.
    if let first = links.firstDependent { Self.countOffSilently(first) }
    let extra = extra.load(ordering: .relaxed)
    if let second = extra.dependency {
      self.extra.store(OperationExtra(), ordering: .relaxed)
      extra.release()
      ReleaseList.release(second)
    } else if let second = extra.dependent {
      Self.countOffSilently(second)
    } else if !extra.isNothing {
      releaseFurtherEdges()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The edges between an operation and its dependencies and dependents. The operation's lock guards
/// them, except when the thread that finishes the operation removes them.
///
/// The first edge of each kind is stored here. A second edge of either kind is stored in
/// ``OperationExtra``, so that chains and binary trees allocate no memory. Further edges are stored
/// in ``RareState``.
///
/// Dependencies are retained. Dependents are not, because a dependency must not keep its dependents
/// alive. They are *unowned-retained*: their memory stays valid, and `swift_tryRetain` returns
/// whether the operation still exists.
struct DependencyLinks {
  var firstDependency: Operation?
  var firstDependent: Unmanaged<Operation>?

  var isEmpty: Bool { firstDependency == nil && firstDependent == nil }
}

extension Operation {
  /// If an operation has at least this number of dependencies, a set is used to find duplicates.
  private static let setThreshold = 8

  /// The dependencies that were added, without the values of a subclass's override of
  /// `dependencies`.
  final var listedDependencies: [Operation] {
    lock.lock()
    defer { lock.unlock() }
    return dependenciesLocked
  }

  final func depend(on operation: Operation, requiresSuccess: Bool) {
    guard operation !== self, !isListed(operation) else {
      return dependAgain(on: operation, requiresSuccess: requiresSuccess)
    }
    let isMet = operation.status.load(ordering: .acquiring).isFinished
    if isObserved || !isExactlyBlockOperation {
      return dependAnnouncing(on: operation, isMet: isMet, requiresSuccess: requiresSuccess)
    }
    let becameUnready = link(operation, isMet: isMet, requiresSuccess)
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

  /// Adds a dependency to the list of this operation, and, if the dependency has not finished, adds
  /// this operation to the dependents of the dependency.
  ///
  /// - Returns: Whether the operation was ready until this dependency was added.
  @inline(__always)
  private final func link(
    _ operation: Operation, isMet: Bool, _ requiresSuccess: Bool
  ) -> Bool {
    let isHeld = requiresSuccess && require(operation)
    let (isCounted, becameUnready) = isMet ? (false, false) : countDependency(operation)
    // The dependency is added to the list of dependencies last. So a thread that removes a listed
    // dependency finds this operation in the list of dependents of that dependency. If another
    // thread has added the same dependency at the same time, this operation is listed there twice,
    // and this thread removes one of the two entries.
    if !listDependency(operation), isCounted, operation.unlistDependent(self) {
      countOffDependency()
    }
    return isHeld || becameUnready
  }

  private final func unlink(_ operation: Operation) {
    guard unlistDependency(operation) else { return }
    stopRequiring(operation)
    // The thread that removes this operation from the dependency's list of dependents also
    // decrements the number of unmet dependencies. That thread is either this thread or the thread
    // that finishes the dependency.
    guard operation.unlistDependent(self) else { return }
    let verdict = update { $0.dependencyWasMet(isAnnounced: !isExactlyBlockOperation) }
    if verdict.becameReady { announceReadiness() }
    if verdict.mustPush { pushToQueue() }
  }

  // MARK: Counting

  /// Counts `operation` as an unmet dependency, and then adds this operation to the dependents of
  /// `operation`. If `operation` finishes between these two steps, it does not find this dependent,
  /// and this method corrects the count. In the opposite order, the count could be decremented for
  /// a dependency that was never counted.
  ///
  /// - Returns: Whether the dependency is counted now, and whether this operation was ready before.
  @inline(__always)
  private final func countDependency(
    _ operation: Operation
  ) -> (isCounted: Bool, becameUnready: Bool) {
    let (becameUnready, event) = update { ($0.isReady, $0.dependencyWasAdded()) }
    guard event.isCounted else { return (false, false) }
    if status.load(ordering: .relaxed).has(.excludesOthers) { loseItsTurn(isReady: false) }
    let isRegistered = operation.listDependent(self)
    if event.mustPush { pushToQueue() }
    if !isRegistered { countOffDependency() }
    return (isRegistered, becameUnready)
  }

  /// Decrements the number of unmet dependencies. The caller has a strong reference to `self`.
  final func countOffDependency() {
    let verdict = update { $0.dependencyWasMet() }
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
    let extra = extra.load(ordering: .relaxed)
    if let second = extra.dependency { return [first, second] }
    return [first] + (extra.rare?.moreDependencies ?? [])
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
    if first === operation { return true }
    let extra = extra.load(ordering: .relaxed)
    guard let rare = extra.rare else { return extra.dependency === operation }
    return rare.dependencySet.isEmpty
      ? rare.moreDependencies.contains { $0 === operation }
      : rare.dependencySet.contains(ObjectIdentifier(operation))
  }

  /// Adds a dependency to the list.
  ///
  /// - Returns: Whether the dependency was not in the list before.
  @inline(__always)
  private final func listDependency(_ operation: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if links.firstDependency == nil {
      // The flag `hasDependencies` is set when a dependency is counted. A dependency that had
      // already finished was not counted, so the flag must be set here.
      if !status.load(ordering: .relaxed).has(.hasDependencies) {
        update { $0.insert(.hasDependencies) }
      }
      links.firstDependency = operation
      return true
    }
    if isListedLocked(operation) { return false }
    if extra.load(ordering: .relaxed).isNothing {
      extra.store(OperationExtra(dependency: operation), ordering: .relaxed)
    } else {
      let rare = rareLocked
      rare.moreDependencies.append(operation)
      if !rare.dependencySet.isEmpty {
        rare.dependencySet.insert(ObjectIdentifier(operation))
      } else if rare.moreDependencies.count > Self.setThreshold {
        rare.dependencySet = Set(rare.moreDependencies.map(ObjectIdentifier.init))
      }
    }
    return true
  }

  /// Removes a dependency from the list. The caller keeps the dependency alive, so this method
  /// frees no memory.
  ///
  /// - Returns: Whether the dependency was in the list.
  private final func unlistDependency(_ operation: Operation) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    var all = dependenciesLocked
    guard let index = all.firstIndex(where: { $0 === operation }) else { return false }
    all.remove(at: index)
    setDependenciesLocked(all)
    return true
  }

  /// Replaces the list of dependencies.
  ///
  /// - Precondition: The caller holds the operation's lock, and keeps removed operations alive.
  final func setDependenciesLocked(_ all: [Operation]) {
    links.firstDependency = all.first
    let extra = extra.load(ordering: .relaxed)
    if let rare = extra.rare {
      rare.moreDependencies = Array(all.dropFirst())
      rare.dependencySet = []
    } else if extra.dependency != nil {
      // The operation had two dependencies, and now has at most one. So the place of the second
      // dependency is emptied.
      self.extra.store(OperationExtra(), ordering: .relaxed)
      extra.release()
    }
  }

  // MARK: Release

  /// Releases the references to the dependencies and dependents when the operation is destroyed.
  @inline(never)
  final func releaseDependencies() {
    if let first = links.firstDependency.take() { ReleaseList.release(first) }
    if let first = links.firstDependent { swift_unownedRelease(first.toOpaque()) }
    let extra = extra.load(ordering: .relaxed)
    if let second = extra.dependency {
      self.extra.store(OperationExtra(), ordering: .relaxed)
      extra.release()
      ReleaseList.release(second)
    } else if let second = extra.dependent {
      swift_unownedRelease(second.toOpaque())
    } else if let rare = extra.rare {
      while let dependency = rare.moreDependencies.popLast() { ReleaseList.release(dependency) }
      for dependent in rare.moreDependents + rare.requirers {
        swift_unownedRelease(dependent.toOpaque())
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// An announced change has three effects, in this order: the status of the operation is updated,
/// observers are notified, and then the library carries out the consequences of the change.
extension Operation {
  /// The actions that the library carries out for a change of an operation, after it has notified
  /// the observers.
  private struct Consequences: OptionSet {
    let rawValue: Int
    static let finished = Consequences(rawValue: 1 << 0)
    static let cancelled = Consequences(rawValue: 1 << 1)
    static let becameReady = Consequences(rawValue: 1 << 2)
    static let readsReadiness = Consequences(rawValue: 1 << 3)
    static let readsPriority = Consequences(rawValue: 1 << 4)
  }

  /// Whether the operation has or had observers.
  @inline(__always)
  final var isObserved: Bool { status.load(ordering: .acquiring).has(.observed) }

  // MARK: The pair

  final func valueWillChange(forKey key: String) {
    guard isObserved, let observations else { return }
    Delivery.during(self) { observations.willChange(ObservedKey(key), of: self) }
  }

  final func valueDidChange(forKey key: String) {
    let key = ObservedKey.canonical(key)
    var consequences = advance(key)
    if !isExactlyBlockOperation {
      for affected in AffectingKeys.keys(affectedBy: key, of: type(of: self)) {
        consequences.formUnion(advance(affected))
      }
    }
    // The memory fence pairs with the fence in `register`. If an observer has registered and has
    // read the value before this change, this thread sees the observer and notifies it.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if isObserved { notifyObservers(ofChangeOf: key) }
    if !consequences.isEmpty { follow(consequences) }
  }

  private final func notifyObservers(ofChangeOf key: String) {
    guard let observations else { return }
    let wasAnnounced = Delivery.during(self) {
      observations.didChange(.named(key), of: self)
    }
    // The base class announces its own changes to observers before it makes them. If such an
    // announcement is not found, the observers were added after the announcement, which is not a
    // mistake of the program.
    if wasAnnounced || Delivery.isOwnChange(of: self) { return }
    OperationDiagnostic.note(
      .didChangeWithoutWillChange,
      "\(description) called didChangeValue for “\(key)” without willChangeValue before it; "
        + "observers receive no old value")
  }

  /// Reads the property with this key on this thread, which may hold the subclass's lock, and
  /// updates the operation's status.
  private final func advance(_ key: String) -> Consequences {
    switch key {
    case "isFinished":
      if status.load(ordering: .acquiring).isFinished { return [] }
      return saysThatItHasFinished && finishAsAnnounced() ? .finished : []
    case "isExecuting":
      if isExecuting { update { $0.noteExecuting() } }
      return []
    case "isCancelled":
      // A subclass may store its own flag for `isCancelled`, and not call `super.cancel()`.
      guard isCancelled else { return [] }
      if MonitorLevel.isOn { noteCancellationCause() }
      let verdict = update { $0.subclassWasCancelled() }
      if verdict.becameReady { return .becameReady }
      return verdict.isNews ? .cancelled : []
    case "isReady": return .readsReadiness
    case "queuePriority": return isExactlyBlockOperation ? [] : .readsPriority
    default: return []
    }
  }

  /// Finishes the operation because its subclass has announced the finish.
  ///
  /// If the subclass does not override `isExecuting`, the change of `isExecuting` is announced
  /// here, because the subclass does not announce it.
  ///
  /// - Returns: Whether this call has finished the operation.
  private final func finishAsAnnounced() -> Bool {
    let status = status.load(ordering: .acquiring)
    guard status.has(.observed), status.isExecuting, let observations,
      observations.concernsAnyone(.named("isExecuting")), endsExecutingByFinishing
    else { return update { $0.finish() } }
    return Delivery.during(self) {
      observations.willChange(.named("isExecuting"), of: self)
      let isFirst = update { $0.finish() }
      observations.didChange(.named("isExecuting"), of: self)
      return isFirst
    }
  }

  private final func follow(_ consequences: Consequences) {
    if consequences.contains(.readsReadiness) { readReadinessAgain() }
    if consequences.contains(.readsPriority) { readPriorityAgain() }
    if consequences.contains(.becameReady) { announceReadiness() }
    if consequences.contains(.cancelled) { pushNews() }
    if consequences.contains(.finished) {
      // If a subclass or an observer finishes the operation before its start, this thread releases
      // the work of the operation, because no other code releases it.
      finishWasSet(discardsWork: true)
    }
  }

  // MARK: Changes of the base class

  /// Calls `didChangeValue(forKey:)`, which a subclass may override, for a change that the base
  /// class has made.
  @inline(__always)
  final func ownValueDidChange(forKey key: String) {
    Delivery.during(self, isOwnChange: true) { didChangeValue(forKey: key) }
  }

  /// Announces that a property is about to change, makes the change, and announces that the
  /// property has changed.
  ///
  /// Subclasses can override the announcing methods. For an operation without observers whose class
  /// is `BlockOperation` itself, the methods need not be called.
  final func announce(_ key: String, change: () -> Void) {
    announce(key) {
      change()
      return true
    }
  }

  /// Announces and makes a change of a property, unless the change is no longer possible.
  ///
  /// - Parameters:
  ///   - key: The changed key.
  ///   - change: Makes the change, and returns whether anything has changed. If nothing has
  ///     changed, no observer is notified.
  @inline(__always)
  final func announce(_ key: String, change: () -> Bool) {
    if isExactlyBlockOperation, !isObserved {
      guard change() else { return }
      // When this thread checked for observers, the operation had none. Since then, an observer may
      // have registered, and may have read the value before the change. So this thread checks
      // again.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if isObserved { observations?.didChange(.named(key), of: self) }
      return
    }
    willChangeValue(forKey: key)
    guard change() else {
      observations?.withdrawChange(.named(key))
      return
    }
    ownValueDidChange(forKey: key)
  }

  /// Announces that the operation has become ready. The operation counts as ready only from this
  /// announcement on.
  ///
  /// Called once for each event that has returned `becameReady`, on the thread of the event.
  final func announceReadiness() {
    willChangeValue(forKey: "isReady")
    update { $0.releaseReadiness() }
    ownValueDidChange(forKey: "isReady")
    pushNews()
  }

  /// Announces `isReady` of an operation that was ready and has been cancelled, as `NSOperation`
  /// does.
  final func announceUnchangedReadiness() {
    willChangeValue(forKey: "isReady")
    ownValueDidChange(forKey: "isReady")
    pushNews()
  }

  /// Announces, like ``announceReadiness()``, that the operation has become ready, on the thread
  /// that has finished a dependency. Only observers are notified. No method of the subclass is
  /// called, because the thread may hold a lock of the dependency.
  final func announceReadinessToObservers() {
    let observations = observations
    Delivery.during(self) { observations?.willChange(.named("isReady"), of: self) }
    update { $0.releaseReadiness() }
    Delivery.during(self) { _ = observations?.didChange(.named("isReady"), of: self) }
    pushNews()
  }

  /// Notifies the queue, which then reads the operation's state again.
  final func pushNews() {
    if update({ $0.claimPush() }) { pushToQueue() }
  }

  // MARK: By name

  final func knownValue(forKey key: String) -> Any? {
    switch ObservedKey.canonical(key) {
    case "isReady": isReady
    case "isExecuting": isExecuting
    case "isFinished": isFinished
    case "isCancelled": isCancelled
    case "isAsynchronous": isAsynchronous
    case "isConcurrent": isConcurrent
    case "dependencies": dependencies
    case "queuePriority": queuePriority
    case "completionBlock": completionBlock
    case "qualityOfService": qualityOfService
    case "name": name
    default: refuseUnknownKey(key)
    }
  }

  private final func refuseUnknownKey(_ key: String) -> Any? {
    OperationMisuse.raise(
      .undefinedKey,
      "-[Operation valueForKey:]: \(description) is not key value coding-compliant for the key "
        + "“\(key)”")
    return nil
  }
}

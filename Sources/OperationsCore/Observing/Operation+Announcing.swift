// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// What follows when a change is announced: the queue's view of the operation advances, observers
/// are told, and the rest of the library acts, in this order.
extension Operation {
  /// What is left to do once the observers know.
  private struct Consequences: OptionSet {
    let rawValue: Int
    static let finished = Consequences(rawValue: 1 << 0)
    static let cancelled = Consequences(rawValue: 1 << 1)
    static let becameReady = Consequences(rawValue: 1 << 2)
    static let readsReadiness = Consequences(rawValue: 1 << 3)
    static let readsPriority = Consequences(rawValue: 1 << 4)
  }

  /// Whether somebody observes or has observed this operation.
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
    // Against the one in `register`: whoever has registered without seeing this change is seen here.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if isObserved { tellObservers(ofChangeOf: key) }
    if !consequences.isEmpty { follow(consequences) }
  }

  private final func tellObservers(ofChangeOf key: String) {
    guard let observations else { return }
    let wasAnnounced = Delivery.during(self) {
      observations.didChange(.named(key), of: self)
    }
    // The base class has announced its change before: to nobody, where observers have come since.
    if wasAnnounced || Delivery.isOwnChange(of: self) { return }
    Diagnostic.note(
      .didChangeWithoutWillChange,
      "\(description) announces by didChangeValue that “\(key)” has changed, and has not announced "
        + "before by willChangeValue that it would; observers get no old value")
  }

  /// Reads the property on this thread, which may hold the subclass's lock, and lets the status
  /// follow.
  private final func advance(_ key: String) -> Consequences {
    switch key {
    case "isFinished":
      if status.load(ordering: .acquiring).isFinished { return [] }
      return saysThatItHasFinished && finishAsAnnounced() ? .finished : []
    case "isExecuting":
      if isExecuting { update { $0.noteExecuting() } }
      return []
    case "isCancelled":
      // A subclass may keep a flag of its own and not call `super.cancel()`.
      guard isCancelled else { return [] }
      let verdict = update { $0.subclassWasCancelled() }
      if verdict.becameReady { return .becameReady }
      return verdict.isNews ? .cancelled : []
    case "isReady": return .readsReadiness
    case "queuePriority": return isExactlyBlockOperation ? [] : .readsPriority
    default: return []
    }
  }

  /// The subclass has announced its finish.
  ///
  /// If `isExecuting` is the base class's, its change is announced here, because the subclass does not.
  ///
  /// - Returns: Whether it has finished by this.
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
      // Where a subclass finishes before its start, or an observer does, nothing else lets go of it.
      finishWasSet(discardsWork: true)
    }
  }

  // MARK: Changes of the base class

  /// `didChangeValue(forKey:)`, which a subclass may override, for a change that the base class has
  /// made.
  @inline(__always)
  final func ownValueDidChange(forKey key: String) {
    Delivery.during(self, isOwnChange: true) { didChangeValue(forKey: key) }
  }

  /// Makes a change of a property between its two announcements.
  ///
  /// The methods are a subclass's to override; a plain block operation without observers has
  /// nobody to call.
  final func announce(_ key: String, change: () -> Void) {
    announce(key) {
      change()
      return true
    }
  }

  /// As above, for a change that may come too late.
  ///
  /// - Parameters:
  ///   - key: What changes.
  ///   - change: Returns whether it has changed anything. Where not, nobody is told.
  @inline(__always)
  final func announce(_ key: String, change: () -> Bool) {
    if isExactlyBlockOperation, !isObserved {
      guard change() else { return }
      // Somebody may have registered, and read what was before the change.
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

  /// Lets go of the readiness that an event has held back, and says so.
  ///
  /// Called once for each event that has answered `becameReady`, on the thread that brought it.
  final func announceReadiness() {
    willChangeValue(forKey: "isReady")
    update { $0.releaseReadiness() }
    ownValueDidChange(forKey: "isReady")
    pushNews()
  }

  /// Announces `isReady` of an operation that was ready and has been cancelled, as `NSOperation` does.
  final func announceUnchangedReadiness() {
    willChangeValue(forKey: "isReady")
    ownValueDidChange(forKey: "isReady")
    pushNews()
  }

  /// As ``announceReadiness()``, on the thread that has finished a dependency: tells observers and
  /// calls no method of the subclass's, because the thread may hold a lock of the dependency's.
  final func announceReadinessToObservers() {
    let observations = observations
    Delivery.during(self) { observations?.willChange(.named("isReady"), of: self) }
    update { $0.releaseReadiness() }
    Delivery.during(self) { _ = observations?.didChange(.named("isReady"), of: self) }
    pushNews()
  }

  /// Lets the queue look at the operation again.
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
    Misuse.raise(
      .undefinedKey,
      "-[Operation valueForKey:]: \(description) is not key value coding-compliant for the key "
        + "“\(key)”")
    return nil
  }
}

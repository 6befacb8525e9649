// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Queues can be observed.
extension OperationQueue: KeyValueObservable, ObservationHost {
  /// The class that declares the properties that can be observed by name.
  public typealias ObservedRoot = OperationQueue

  final var observations: KeyValueObservations? { keyValueObservations }

  static func keys(affecting key: String) -> Set<String> { [] }

  /// Adds a registration, and then reads the initial value. A change between these two steps is reported
  /// twice. In the opposite order, such a change could be missed.
  final func register(_ registration: KeyValueRegistration) -> KeyValueObservations {
    keyValueObservations.add(registration)
    // The mark `observed` is stored with sequential consistency. A thread that changes a property
    // later sees the flag and notifies the observers. If a thread has changed the property before,
    // this thread reads the changed value.
    core.insert(.observed)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    registration.notifyInitially(self)
    return keyValueObservations
  }

  // MARK: The pair

  final func valueWillChange(forKey key: String) {
    guard core.isObserved else { return }
    keyValueObservations.willChange(ObservedKey(key), of: self)
  }

  final func valueDidChange(forKey key: String) {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard core.isObserved else { return }
    keyValueObservations.didChange(ObservedKey(key), of: self)
  }

  /// Announces that a property is about to change, makes the change, and announces that the
  /// property has changed. Does nothing if `isSame` is `true`, which means that the new value is
  /// equal to the old value.
  final func announce(_ key: String, unless isSame: Bool, change: () -> Void) {
    if isSame { return }
    willChangeValue(forKey: key)
    change()
    didChangeValue(forKey: key)
  }

  final func knownValue(forKey key: String) -> Any? {
    switch ObservedKey.canonical(key) {
    case "operations": operations
    case "operationCount": operationCount
    case "maxConcurrentOperationCount": maxConcurrentOperationCount
    case "isSuspended": isSuspended
    case "qualityOfService": qualityOfService
    case "name": name
    default: refuseUnknownKey(key)
    }
  }

  private final func refuseUnknownKey(_ key: String) -> Any? {
    OperationMisuse.raise(
      .undefinedKey,
      "-[OperationQueue valueForKey:]: “\(name ?? "")” is not key value coding-compliant for the key "
        + "“\(key)”")
    return nil
  }
}

extension QueueCore {
  /// Makes a change of the queue's contents, and announces it if there are observers.
  ///
  /// The two pairs of announcements are nested, as in Apple's documentation: the pair of `operations`
  /// encloses the pair of `operationCount`.
  @inline(__always)
  func announcingContents<Result>(_ change: () -> Result) -> Result {
    if isObserved { return announceContents(change) }
    let result = change()
    announceContentsAfterwards()
    return result
  }

  @inline(never)
  private func announceContents<Result>(_ change: () -> Result) -> Result {
    let owner = owner.takeUnretainedValue()
    owner.willChangeValue(forKey: "operations")
    owner.willChangeValue(forKey: "operationCount")
    let result = change()
    notifyObserversOfContents()
    return result
  }

  /// Announces a change of the queue's contents that was made while the queue had no observers. An
  /// observer may have been added meanwhile, and may have read the value before the change.
  @inline(__always)
  func announceContentsAfterwards() {
    if isObserved { notifyObserversOfContents() }
  }

  /// Announces a change of the queue's contents, like ``announceContentsAfterwards()``, but on
  /// another thread.
  @inline(never)
  func announceContentsElsewhere() {
    let owner = owner.takeUnretainedValue()
    OperationQueue.completions.addOperation { owner.core.notifyObserversOfContents() }
  }

  @inline(never)
  private func notifyObserversOfContents() {
    let owner = owner.takeUnretainedValue()
    owner.didChangeValue(forKey: "operationCount")
    owner.didChangeValue(forKey: "operations")
  }
}

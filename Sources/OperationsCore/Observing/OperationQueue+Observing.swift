// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Queues can be observed.
extension OperationQueue: KeyValueObservable, ObservationHost {
  /// The class that declares the named properties.
  public typealias ObservedRoot = OperationQueue

  final var observations: KeyValueObservations? { keyValueObservations }

  static func keys(affecting key: String) -> Set<String> { [] }

  /// Registers first and then reads the initial value: a change in between is reported in both
  /// ways, while the other order could miss it.
  final func register(_ registration: KeyValueRegistration) -> KeyValueObservations {
    keyValueObservations.add(registration)
    // Sequentially consistent: a thread that makes a change after this sees it and notifies. An
    // earlier change is seen by the read below.
    core.isObserved.store(true, ordering: .sequentiallyConsistent)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    registration.notifyInitially(self)
    return keyValueObservations
  }

  // MARK: The pair

  final func valueWillChange(forKey key: String) {
    guard core.isObserved.load(ordering: .sequentiallyConsistent) else { return }
    keyValueObservations.willChange(ObservedKey(key), of: self)
  }

  final func valueDidChange(forKey key: String) {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard core.isObserved.load(ordering: .sequentiallyConsistent) else { return }
    keyValueObservations.didChange(ObservedKey(key), of: self)
  }

  /// Makes a change of a property between its two announcements, or without them if the value is
  /// the same.
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
    Misuse.raise(
      .undefinedKey,
      "-[OperationQueue valueForKey:]: “\(name ?? "")” is not key value coding-compliant for the key "
        + "“\(key)”")
    return nil
  }
}

extension QueueCore {
  /// Makes a change of the queue's contents, and announces it if there are observers.
  ///
  /// The order is that of the documentation's nested pairs: `operations` outside, `operationCount`
  /// inside.
  @inline(__always)
  func announcingContents<Result>(_ change: () -> Result) -> Result {
    if isObserved.load(ordering: .sequentiallyConsistent) { return announceContents(change) }
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
    tellObserversOfContents()
    return result
  }

  /// Announces a change that was made without observers: an observer may have been added meanwhile,
  /// and have read the value before the change.
  @inline(__always)
  func announceContentsAfterwards() {
    if isObserved.load(ordering: .sequentiallyConsistent) { tellObserversOfContents() }
  }

  /// Like ``announceContentsAfterwards()``, but on another thread.
  @inline(never)
  func announceContentsElsewhere() {
    let owner = owner.takeUnretainedValue()
    OperationQueue.completions.addOperation { owner.core.tellObserversOfContents() }
  }

  @inline(never)
  private func tellObserversOfContents() {
    let owner = owner.takeUnretainedValue()
    owner.didChangeValue(forKey: "operationCount")
    owner.didChangeValue(forKey: "operations")
  }
}

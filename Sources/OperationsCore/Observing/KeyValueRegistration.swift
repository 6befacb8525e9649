// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// One observer of one key of one object.
// Unchecked `Sendable` conformance, because the closures accept any object. They are called only
// with the observed object.
final class KeyValueRegistration: @unchecked Sendable {
  /// A change of the observed property, with values of unknown types.
  struct Change {
    var new: Any?
    var old: Any?
    var isPrior = false
  }

  let key: ObservedKey
  let options: NSKeyValueObservingOptions
  /// The identity of the observer that was passed to `addObserver`. `removeObserver` uses it to
  /// find the registration.
  let observer: ObjectIdentifier?
  let context: UnsafeMutableRawPointer?
  /// Returns whether the observer has been released.
  private let isObserverGone: () -> Bool
  /// The keys on whose values the value of the observed key depends.
  private let affectingKeys: Set<String>
  /// Reads the observed property.
  let read: (AnyObject) -> Any?
  private let handler: (AnyObject, Change) -> Void
  /// A closure that is called once, when the registration of the observer ends.
  private let ended: @Sendable () -> Void
  private let active = Atomic<Bool>(true)

  init(
    key: ObservedKey, options: NSKeyValueObservingOptions, affectingKeys: Set<String> = [],
    observer: ObjectIdentifier? = nil, context: UnsafeMutableRawPointer? = nil,
    isObserverGone: @escaping () -> Bool = { false },
    read: @escaping (AnyObject) -> Any?, ended: @escaping @Sendable () -> Void = {},
    handler: @escaping (AnyObject, Change) -> Void
  ) {
    self.key = key
    self.options = options
    self.affectingKeys = affectingKeys
    self.observer = observer
    self.context = context
    self.isObserverGone = isObserverGone
    self.read = read
    self.ended = ended
    self.handler = handler
  }

  /// Whether the observer still receives changes.
  var isActive: Bool { active.load(ordering: .acquiring) }

  /// Whether the observer has been released.
  var hasLostObserver: Bool { isObserverGone() }

  func end() {
    if active.exchange(false, ordering: .acquiringAndReleasing) { ended() }
  }

  func isConcerned(by changed: ObservedKey) -> Bool {
    if changed == key { return true }
    guard let name = changed.name else { return false }
    return affectingKeys.contains(name)
  }

  /// Notifies the observer, unless the registration has ended.
  func notify(_ object: AnyObject, _ change: Change) {
    if isActive { handler(object, change) }
  }

  /// Sends the initial notification, if the observer has requested it with `.initial`.
  func notifyInitially(_ object: AnyObject) {
    guard options.contains(.initial) else { return }
    notify(object, Change(new: options.contains(.new) ? read(object) : nil))
  }
}

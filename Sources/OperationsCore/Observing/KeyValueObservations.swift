// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// Who observes one object, and which announced changes have not happened yet.
///
/// Observers, and the getters that they want read, are called on the thread that announces the
/// change, outside the lock.
final class KeyValueObservations: Sendable {
  private struct State {
    /// In the order of registration, which is the order of delivery.
    var registrations: [KeyValueRegistration] = []
    /// With so many registrations those of observers that have gone are taken out.
    var registrationLimit = 16
    var pending = PendingChanges()
  }

  private let state = Locked(State())

  // MARK: Registrations

  func add(_ registration: KeyValueRegistration) {
    let isCrowded = state.withLock { state in
      state.registrations.append(registration)
      return state.registrations.count >= state.registrationLimit
    }
    if isCrowded { removeObserversThatAreGone() }
  }

  private func removeObserversThatAreGone() {
    // Asked and released outside the lock: who asks may be the last to hold an observer.
    let gone = state.withLock { $0.registrations }.filter { $0.hasLostObserver }
    let numbers = Set(gone.map(ObjectIdentifier.init))
    state.withLock { state in
      state.registrations.removeAll { numbers.contains(ObjectIdentifier($0)) }
      state.registrationLimit = max(16, 2 * state.registrations.count)
    }
    for registration in gone { registration.end() }
  }

  /// Ends a registration: it is not called any more, except where another thread is just about to.
  func remove(_ registration: KeyValueRegistration) {
    registration.end()
    let removed = state.withLock { state in
      state.registrations.firstIndex { $0 === registration }
        .map { state.registrations.remove(at: $0) }
    }
    withExtendedLifetime(removed) {}
  }

  /// The registration that was made last of those that match.
  func last(where matches: (KeyValueRegistration) -> Bool) -> KeyValueRegistration? {
    state.withLock { $0.registrations }.last(where: matches)
  }

  /// The observed object is being destroyed.
  func objectIsGone() {
    // With the changes that have not come, whose old values hold registrations too.
    let last = state.withLock { state in
      defer { state = State() }
      return state
    }
    for registration in last.registrations { registration.end() }
  }

  // MARK: Changes

  func willChange(_ key: ObservedKey, of object: AnyObject) {
    let concerned = registrations(concernedBy: key)
    var oldValues: [(KeyValueRegistration, Any)] = []
    for registration in concerned where registration.options.contains(.old) {
      if let value = registration.read(object) { oldValues.append((registration, value)) }
    }
    let pending = addPending(key, oldValues)
    for registration in concerned where registration.options.contains(.prior) {
      registration.notify(
        object, KeyValueRegistration.Change(old: pending.oldValue(for: registration), isPrior: true)
      )
    }
  }

  /// - Returns: `false` where somebody observes the key and nobody had said that it would change.
  @discardableResult
  func didChange(_ key: ObservedKey, of object: AnyObject) -> Bool {
    let pending = takePending(key)
    let concerned = registrations(concernedBy: key)
    for registration in concerned {
      var change = KeyValueRegistration.Change(old: pending?.oldValue(for: registration))
      if registration.isActive, registration.options.contains(.new) {
        change.new = registration.read(object)
      }
      registration.notify(object, change)
    }
    return pending != nil || concerned.isEmpty
  }

  /// The change that this thread has announced does not come: nobody is told of it.
  func withdrawChange(_ key: ObservedKey) {
    let pending = takePending(key)
    withExtendedLifetime(pending) {}
  }

  /// Whether there is an observer of the key.
  func concernsAnyone(_ key: ObservedKey) -> Bool { !registrations(concernedBy: key).isEmpty }

  private func registrations(concernedBy key: ObservedKey) -> [KeyValueRegistration] {
    state.withLock { $0.registrations }.filter { $0.isConcerned(by: key) }
  }

  private func addPending(
    _ key: ObservedKey, _ oldValues: [(KeyValueRegistration, Any)]
  ) -> PendingChanges.Change {
    let thread = csystem_thread_number()
    let (change, dropped) = state.withLock { state in
      state.pending.append(key, oldValues, ofThread: thread)
    }
    withExtendedLifetime(dropped) {}
    return change
  }

  private func takePending(_ key: ObservedKey) -> PendingChanges.Change? {
    let thread = csystem_thread_number()
    // Compared outside the lock: what a key path has for arguments may be the user's to compare. The
    // array is this thread's: the others neither read nor change it, but for dropping it.
    let change = state.withLock { $0.pending.changes(ofThread: thread) }.last { $0.key == key }
    guard let change else { return nil }
    return state.withLock { $0.pending.remove(change.number, ofThread: thread) }
  }
}

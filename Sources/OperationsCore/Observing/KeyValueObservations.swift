// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The observers of one object, and the announced changes that have not happened yet.
///
/// Observers, and the getters that they need, are called on the thread that announces the change,
/// outside the lock.
final class KeyValueObservations: Sendable {
  private struct State {
    /// The registrations, in the order in which they were made. Observers are notified in the same
    /// order.
    var registrations: [KeyValueRegistration] = []
    /// When the number of registrations reaches this limit, the registrations of released observers
    /// are removed.
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
    // Registrations are checked and released outside the lock, because the check may hold the last
    // reference to an observer.
    let gone = state.withLock { $0.registrations }.filter { $0.hasLostObserver }
    let numbers = Set(gone.map(ObjectIdentifier.init))
    state.withLock { state in
      state.registrations.removeAll { numbers.contains(ObjectIdentifier($0)) }
      state.registrationLimit = max(16, 2 * state.registrations.count)
    }
    for registration in gone { registration.end() }
  }

  /// Ends a registration. Its handler is no longer called, except by another thread that is already
  /// about to call it.
  func remove(_ registration: KeyValueRegistration) {
    registration.end()
    let removed = state.withLock { state in
      state.registrations.firstIndex { $0 === registration }
        .map { state.registrations.remove(at: $0) }
    }
    withExtendedLifetime(removed) {}
  }

  /// Returns the last registration for which `matches` returns `true`; `nil` if there is no such
  /// registration.
  func last(where matches: (KeyValueRegistration) -> Bool) -> KeyValueRegistration? {
    state.withLock { $0.registrations }.last(where: matches)
  }

  /// Ends all registrations, because the observed object is being destroyed. If this thread is a
  /// worker that may not run user code, another thread ends them.
  func objectIsGone() {
    if CurrentWork.isBetweenOperations {
      OperationQueue.completions.addOperation { self.endAll() }
    } else {
      endAll()
    }
  }

  private func endAll() {
    // When the observed object is destroyed, its announced changes are removed too, because their
    // old values retain registrations.
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

  /// Notifies the observers of a key that its value has changed.
  ///
  /// - Returns: `false` if the key has observers and `willChange` was not called before the change.
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

  /// Removes this thread's announcement of a change that does not happen.
  func withdrawChange(_ key: ObservedKey) {
    let pending = takePending(key)
    withExtendedLifetime(pending) {}
  }

  /// Returns whether the key has observers.
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
    // The announced changes of this thread are copied under the lock and compared with the key
    // outside the lock, because the comparison of a key path's arguments may run the user's code.
    // Other threads neither read nor complete these changes, but may drop them.
    let change = state.withLock { $0.pending.changes(ofThread: thread) }.last { $0.key == key }
    guard let change else { return nil }
    return state.withLock { $0.pending.remove(change.number, ofThread: thread) }
  }
}

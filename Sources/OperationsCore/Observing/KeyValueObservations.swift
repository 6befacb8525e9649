// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// Who observes one object, and which announced changes have not happened yet.
///
/// Observers, and the getters that they want read, are called on the thread that announces the
/// change, outside the lock.
final class KeyValueObservations: Sendable {
  /// Announced by `willChange` and not yet by `didChange`. Pairs match by key and thread, the
  /// innermost first.
  private struct Pending {
    /// Tells it apart from all others of this object.
    let number: UInt64
    let thread: UInt64
    let key: ObservedKey
    /// The values before the change, of those that asked for them.
    let oldValues: [(registration: KeyValueRegistration, value: Any)]

    func oldValue(for registration: KeyValueRegistration) -> Any? {
      oldValues.first { $0.registration === registration }?.value
    }
  }

  private struct State {
    /// In the order of registration, which is the order of delivery.
    var registrations: [KeyValueRegistration] = []
    /// With so many registrations those of observers that have gone are taken out.
    var registrationLimit = 16
    var pending: [Pending] = []
    var lastNumber: UInt64 = 0
  }

  /// More changes at once are not announced by any real program. Where they are announced and never
  /// come, the oldest are forgotten.
  private static let pendingLimit = 256

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

  private func registrations(concernedBy key: ObservedKey) -> [KeyValueRegistration] {
    state.withLock { $0.registrations }.filter { $0.isConcerned(by: key) }
  }

  private func addPending(
    _ key: ObservedKey, _ oldValues: [(KeyValueRegistration, Any)]
  ) -> Pending {
    let (pending, forgotten) = state.withLock { state -> (Pending, Pending?) in
      state.lastNumber += 1
      let pending = Pending(
        number: state.lastNumber, thread: csystem_thread_number(), key: key, oldValues: oldValues)
      state.pending.append(pending)
      let isTooMany = state.pending.count > Self.pendingLimit
      return (pending, isTooMany ? state.pending.removeFirst() : nil)
    }
    withExtendedLifetime(forgotten) {}
    return pending
  }

  private func takePending(_ key: ObservedKey) -> Pending? {
    let thread = csystem_thread_number()
    // Compared outside the lock: what a key path has for arguments may be the user's to compare.
    let pending = state.withLock { $0.pending }.last { $0.thread == thread && $0.key == key }
    guard let pending else { return nil }
    return state.withLock { state in
      state.pending.lastIndex { $0.number == pending.number }.map { state.pending.remove(at: $0) }
    }
  }
}

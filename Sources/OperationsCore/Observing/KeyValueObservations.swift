// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Synchronization

/// Who observes one object, and which announced changes have not happened yet.
///
/// Observers, and the getters that they want read, are called on the thread that announces the
/// change, outside the lock.
final class KeyValueObservations: Sendable {
  /// Announced by `willChange` and not yet by `didChange`. Pairs match by key and thread, the
  /// innermost first.
  private struct Pending {
    let thread: pthread_t
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
    var pending: [Pending] = []
  }

  private let state = Locked(State())

  // MARK: Registrations

  func add(_ registration: KeyValueRegistration) {
    state.withLock { $0.registrations.append(registration) }
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
    let all = state.withLock { state in
      defer { state.registrations = [] }
      return state.registrations
    }
    for registration in all { registration.end() }
  }

  // MARK: Changes

  func willChange(_ key: ObservedKey, of object: AnyObject) {
    let concerned = registrations(concernedBy: key)
    var oldValues: [(KeyValueRegistration, Any)] = []
    for registration in concerned where registration.options.contains(.old) {
      if let value = registration.read(object) { oldValues.append((registration, value)) }
    }
    let pending = Pending(thread: pthread_self(), key: key, oldValues: oldValues)
    state.withLock { $0.pending.append(pending) }
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

  private func takePending(_ key: ObservedKey) -> Pending? {
    let thread = pthread_self()
    return state.withLock { state in
      state.pending.lastIndex { pthread_equal($0.thread, thread) != 0 && $0.key == key }
        .map { state.pending.remove(at: $0) }
    }
  }
}

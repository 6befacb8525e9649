// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A registration by `observe(_:options:changeHandler:)`: ends when it is released.
///
/// It does not retain the observed object, which retains the handler until the observation ends.
/// Where the object goes away first nothing happens any more.
///
/// Source: Apple, "NSKeyValueObservation".
public final class NSKeyValueObservation: Sendable {
  private struct Entry {
    let observations: KeyValueObservations
    /// Only the observed object's registrations keep it: else a handler that holds this observation
    /// would hold itself when the object has gone.
    weak var registration: KeyValueRegistration?
  }

  private let entry: Locked<Entry?>

  init(_ registration: KeyValueRegistration, in observations: KeyValueObservations) {
    entry = Locked(Entry(observations: observations, registration: registration))
  }

  deinit { invalidate() }

  /// Ends the observation. A second call does nothing.
  ///
  /// After it returns this thread does not call the handler any more; a call that is under way on
  /// another thread may still finish. May be called from inside the handler, which is released: a
  /// handler that holds its own observation does not outlive it.
  public func invalidate() {
    guard let entry = entry.withLock({ $0.take() }), let registration = entry.registration else {
      return
    }
    entry.observations.remove(registration)
  }
}

extension KeyValueRegistration {
  /// For `observe`, with the types of the property and of the class that declares it.
  convenience init<Object: AnyObject, Observed: AnyObject, Value>(
    _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions,
    affectingKeys: (String) -> Set<String>, ended: @escaping @Sendable () -> Void = {},
    handler: @escaping (Observed, NSKeyValueObservedChange<Value>) -> Void
  ) {
    let key = ObservedKey(keyPath)
    self.init(
      key: key, options: options, affectingKeys: key.name.map(affectingKeys) ?? [],
      read: { ($0 as? Object)?[keyPath: keyPath] }, ended: ended
    ) { object, change in
      guard let object = object as? Observed else { return }
      handler(
        object,
        NSKeyValueObservedChange(
          newValue: change.new as? Value, oldValue: change.old as? Value, isPrior: change.isPrior))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A registration by `observe(_:options:changeHandler:)`, which ends when it is released.
///
/// An observation does not retain the observed object. The object retains the handler until the
/// observation ends. After the object is released, the handler is not called.
///
/// Source: Apple, "NSKeyValueObservation".
public final class NSKeyValueObservation: Sendable {
  private struct Entry {
    let observations: KeyValueObservations
    /// The reference is weak, so that only the observed object retains the registration. If it were
    /// strong, a handler that retains this observation would retain itself after the release of the
    /// object.
    weak var registration: KeyValueRegistration?
  }

  private let entry: Locked<Entry?>

  init(_ registration: KeyValueRegistration, in observations: KeyValueObservations) {
    entry = Locked(Entry(observations: observations, registration: registration))
  }

  deinit { invalidate() }

  /// Ends the observation. A second call has no effect.
  ///
  /// After this method has returned, this thread no longer calls the handler. A call of the handler
  /// on another thread may still be in progress. This method can be called inside the handler. The
  /// handler is released, even if it retains its own observation.
  public func invalidate() {
    guard let entry = entry.withLock({ $0.take() }), let registration = entry.registration else {
      return
    }
    entry.observations.remove(registration)
  }
}

extension KeyValueRegistration {
  /// Creates an observation for `observe`, with the types of the property and of the class that
  /// declares it.
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

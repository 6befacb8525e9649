// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A registration by `observe(_:options:changeHandler:)`: ends when it is released.
///
/// It retains the handler, until it ends, and not the observed object. Where that goes away first
/// nothing happens any more.
///
/// Source: Apple, "NSKeyValueObservation".
public final class NSKeyValueObservation: Sendable {
  private struct Entry {
    let observations: KeyValueObservations
    let registration: KeyValueRegistration
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
    guard let entry = entry.withLock({ $0.take() }) else { return }
    entry.observations.remove(entry.registration)
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

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Observation of operations.
extension Operation: KeyValueObservable {}

extension KeyValueObservable where Self: Operation {
  /// Calls `changeHandler` for each change of a property of ``Operation``.
  ///
  /// Operations announce `isReady`, `isExecuting`, `isFinished`, `isCancelled`, `dependencies`,
  /// `queuePriority`, `completionBlock`, `qualityOfService` and `name`; subclasses announce what
  /// they override. Handlers are called on the thread that makes the change, perhaps under a lock of
  /// the subclass's, in the order of registration: they must not block, and may call everything.
  /// With `.initial` no final value is missed, whenever the observation begins.
  ///
  /// - Parameters:
  ///   - keyPath: The property, best without its class: `\.isFinished`. Written with a subclass that
  ///     made it settable, as `\MyOperation.isFinished`, it is another property to Swift.
  ///   - options: What to be told, and when. Without any, only that something changed.
  ///   - changeHandler: Gets the operation and the change.
  /// - Returns: The registration, which ends when it is released. Keep it.
  @preconcurrency
  public func observe<Value>(
    _ keyPath: KeyPath<Operation, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    observe(keyPath, options: options, ended: {}, handler: changeHandler)
  }

  /// Calls `changeHandler` for each change of a property of a subclass's own.
  ///
  /// The subclass announces changes by `willChangeValue(for:)` and `didChangeValue(for:)` with an
  /// equal key path. For the rest see the other form.
  @_disfavoredOverload @preconcurrency
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    observe(keyPath, options: options, ended: {}, handler: changeHandler)
  }

  /// Announces that a property of ``Operation`` is about to change: `willChangeValue(forKey:)`.
  public func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    announceChange(of: keyPath, named: { $0.willChangeValue(forKey: $1) }) {
      $0.willChange($1, of: self)
    }
  }

  /// Announces that a property of ``Operation`` has changed: `didChangeValue(forKey:)`.
  public func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    announceChange(of: keyPath, named: { $0.didChangeValue(forKey: $1) }) {
      $0.didChange($1, of: self)
    }
  }

  /// Announces that a property of the subclass's own is about to change.
  @_disfavoredOverload
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announceChange(of: keyPath, named: { $0.willChangeValue(forKey: $1) }) {
      $0.willChange($1, of: self)
    }
  }

  /// Announces that a property of the subclass's own has changed.
  @_disfavoredOverload
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announceChange(of: keyPath, named: { $0.didChangeValue(forKey: $1) }) {
      $0.didChange($1, of: self)
    }
  }
}

extension KeyValueObservable where Self: Operation {
  func observe<Object: AnyObject, Value>(
    _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions,
    ended: @escaping @Sendable () -> Void,
    handler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let type = type(of: self)
    let registration = KeyValueRegistration(
      keyPath, options: options, affectingKeys: { AffectingKeys.keys(affecting: $0, of: type) },
      ended: ended, handler: handler)
    return NSKeyValueObservation(registration, in: register(registration))
  }
}

extension Operation {
  final func announceChange(
    of keyPath: AnyKeyPath, named: (Operation, String) -> Void,
    unnamed: (KeyValueObservations, ObservedKey) -> Void
  ) {
    let key = ObservedKey(keyPath)
    if let name = key.name { return named(self, name) }
    if let observations { unnamed(observations, key) }
  }

  // MARK: Observers that are objects

  /// Makes `observer` be told of changes of the property of this name.
  ///
  /// - Parameters:
  ///   - observer: Held weakly: one that goes away is not told any more.
  ///   - keyPath: One key, with or without `is`; paths with dots are not followed. With `.new` or
  ///     `.old` it is read by ``value(forKey:)``, which a subclass overrides for its own keys.
  ///   - options: What to be told, and when.
  ///   - context: Handed to the observer, and tells several registrations of it apart.
  public final func addObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String,
    options: NSKeyValueObservingOptions = [], context: UnsafeMutableRawPointer? = nil
  ) {
    let key = ObservedKey.canonical(keyPath)
    let registration = KeyValueRegistration(
      observer, keyPath: keyPath, options: options,
      affectingKeys: AffectingKeys.keys(affecting: key, of: type(of: self)), context: context
    ) { ($0 as? Operation)?.value(forKey: key) }
    _ = register(registration)
  }

  /// Ends the latest registration of the observer for this key and this context.
  ///
  /// - Precondition: There is one.
  public final func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) {
    removeObserver(observer, keyPath) { $0.context == context }
  }

  /// Ends the latest registration of the observer for this key, whatever its context.
  ///
  /// - Precondition: There is one.
  public final func removeObserver(_ observer: any KeyValueObserver, forKeyPath keyPath: String) {
    removeObserver(observer, keyPath) { _ in true }
  }

  private final func removeObserver(
    _ observer: any KeyValueObserver, _ keyPath: String,
    where matches: (KeyValueRegistration) -> Bool
  ) {
    let key = ObservedKey(keyPath)
    let found = observations?.last {
      $0.observer == ObjectIdentifier(observer) && $0.key == key && matches($0)
    }
    if let found {
      observations?.remove(found)
    } else {
      Misuse.raise(
        .observerNotRegistered,
        "-[Operation removeObserver:forKeyPath:]: \(description) has no such observer for the key "
          + "path “\(keyPath)”")
    }
  }

  // MARK: Registration

  /// The registrations, if there ever was one.
  final var observations: KeyValueObservations? { withRare { $0?.observations } }

  /// First registers and then reads the initial value: a change in between is told by both ways,
  /// where the other order could miss it.
  final func register(_ registration: KeyValueRegistration) -> KeyValueObservations {
    let observations = makeRare { rare in
      let made = rare.observations ?? KeyValueObservations()
      rare.observations = made
      return made
    }
    observations.add(registration)
    // From this event on whoever changes the status announces it. Sequentially consistent with the
    // fence in `didChangeValue`: either that sees the flag, or what was changed before it is seen
    // by the reading below.
    update { $0.insert(.observed) }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    registration.notifyInitially(self)
    return observations
  }
}

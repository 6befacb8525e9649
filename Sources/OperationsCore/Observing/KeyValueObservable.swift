// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What can be observed: ``Operation`` and ``OperationQueue``, which alone conform.
///
/// A class that does not inherit from one of them has no ``KeyValueObservationHost`` of its own. If it hands
/// out that of another object, the first use of it traps.
///
/// A change that was announced by `willChangeValue(forKey:)` is remembered until `didChangeValue(forKey:)`
/// is called on the same thread. If one thread announces more than 256 changes of one object before it
/// makes the first of them, the oldest are forgotten: observers are told of those too, but without the old
/// value.
///
/// Source: Apple, "Key-Value Observing Programming Guide".
public protocol KeyValueObservable: AnyObject {
  /// The class whose properties have names.
  associatedtype ObservedRoot: AnyObject

  /// Announces that the value of `key` is about to change.
  func willChangeValue(forKey key: String)

  /// Announces that the value of `key` has changed.
  func didChangeValue(forKey key: String)

  /// The value of a property by name.
  func value(forKey key: String) -> Any?

  /// What the library keeps of those that observe the object. For the library's own use.
  var keyValueObservationHost: KeyValueObservationHost { get }
}

/// What the library keeps of those that observe an object.
///
/// Only the library creates it. So a class that does not inherit from ``Operation`` or ``OperationQueue``
/// cannot conform to ``KeyValueObservable``: it would never be observed.
public struct KeyValueObservationHost {
  fileprivate let host: any ObservationHost
}

extension KeyValueObservable where Self: Operation {
  /// What the library keeps of those that observe the operation.
  public var keyValueObservationHost: KeyValueObservationHost { .init(host: self) }
}

extension KeyValueObservable where Self: OperationQueue {
  /// What the library keeps of those that observe the queue.
  public var keyValueObservationHost: KeyValueObservationHost { .init(host: self) }
}

/// What ``KeyValueObservable`` needs and users should not see.
protocol ObservationHost: AnyObject {
  /// The registrations, if there ever was one.
  var observations: KeyValueObservations? { get }

  /// Adds a registration, then gives it the initial value if that is wanted.
  func register(_ registration: KeyValueRegistration) -> KeyValueObservations

  /// All keys whose changes change `key`.
  static func keys(affecting key: String) -> Set<String>

  /// The properties that have names, by key paths that begin at this class.
  static var namedKeyPaths: [NamedKeyPath] { get }
}

extension KeyValueObservable {
  /// Calls `changeHandler` for each change of a property of ``Operation`` or ``OperationQueue``.
  ///
  /// Operations announce `isReady`, `isExecuting`, `isFinished`, `isCancelled`, `dependencies`,
  /// `queuePriority`, `completionBlock`, `qualityOfService` and `name`; subclasses announce what
  /// they override. Queues announce `operations`, `operationCount`, `maxConcurrentOperationCount`,
  /// `isSuspended`, `qualityOfService` and `name`. Handlers are called on the thread that makes the
  /// change, perhaps under a lock of a subclass's, in the order of registration: they must not
  /// block, and may call everything. With `.initial` no final value is missed, whenever the
  /// observation begins; but for one: an operation that a subclass finishes before its start, while
  /// dependencies hold it up, is ready from then on, and only that it has finished is announced.
  ///
  /// - Parameters:
  ///   - keyPath: The property, best without its class: `\.isFinished`. Written with a subclass that
  ///     made it settable, as `\Widened.isFinished`, it is another property to Swift, and to us: it
  ///     can be observed only where changes of that are announced by the same key path.
  ///   - options: What to be told, and when. Without any, only that something changed.
  ///   - changeHandler: Gets the object and the change.
  /// - Returns: The registration, which ends when it is released. Keep it.
  @preconcurrency
  public func observe<Value>(
    _ keyPath: KeyPath<ObservedRoot, Value>, options: NSKeyValueObservingOptions = [],
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

  /// Announces that a property of ``Operation`` or ``OperationQueue`` is about to change:
  /// `willChangeValue(forKey:)`.
  public func willChangeValue<Value>(for keyPath: KeyPath<ObservedRoot, Value>) {
    announceWill(ObservedKey(keyPath))
  }

  /// Announces that a property of ``Operation`` or ``OperationQueue`` has changed:
  /// `didChangeValue(forKey:)`.
  public func didChangeValue<Value>(for keyPath: KeyPath<ObservedRoot, Value>) {
    announceDid(ObservedKey(keyPath))
  }

  /// Announces that a property of the subclass's own is about to change, or one that it overrides.
  ///
  /// What is said at `didChangeValue(for:)` of properties that were made settable holds here too.
  @_disfavoredOverload
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announceWill(ObservedKey(keyPath))
  }

  /// Announces that a property of the subclass's own has changed, or one that it overrides.
  ///
  /// `\MyOperation.isFinished` means the same as `\.isFinished`, with one exception that Swift makes:
  /// where the subclass made the property settable it is another one, and queue, dependents and
  /// waiters learn nothing from announcing that. Such a subclass announces `\.isFinished`.
  @_disfavoredOverload
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announceDid(ObservedKey(keyPath))
  }

  private func announceWill(_ key: ObservedKey) {
    if let name = key.name { return willChangeValue(forKey: name) }
    host.observations?.willChange(key, of: self)
  }

  private func announceDid(_ key: ObservedKey) {
    if let name = key.name { return didChangeValue(forKey: name) }
    host.observations?.didChange(key, of: self)
  }

  // MARK: Observers that are objects

  /// Makes `observer` be told of changes of the property of this name.
  ///
  /// - Parameters:
  ///   - observer: Held weakly: one that goes away is not told any more.
  ///   - keyPath: One key, with or without `is`; paths with dots are not followed. With `.new` or
  ///     `.old` it is read by `value(forKey:)`, which a subclass overrides for its own keys.
  ///   - options: What to be told, and when.
  ///   - context: Handed to the observer, and tells several registrations of it apart.
  public func addObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String,
    options: NSKeyValueObservingOptions = [], context: UnsafeMutableRawPointer? = nil
  ) {
    let key = ObservedKey.canonical(keyPath)
    let registration = KeyValueRegistration(
      observer, keyPath: keyPath, options: options, affectingKeys: affectingKeys(key),
      context: context
    ) { ($0 as? Self)?.value(forKey: key) }
    _ = host.register(registration)
  }

  /// Ends the latest registration of the observer for this key and this context.
  ///
  /// - Precondition: There is one.
  public func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) {
    removeObserver(observer, keyPath) { $0.context == context }
  }

  /// Ends the latest registration of the observer for this key, whatever its context.
  ///
  /// - Precondition: There is one.
  public func removeObserver(_ observer: any KeyValueObserver, forKeyPath keyPath: String) {
    removeObserver(observer, keyPath) { _ in true }
  }

  private func removeObserver(
    _ observer: any KeyValueObserver, _ keyPath: String,
    where matches: (KeyValueRegistration) -> Bool
  ) {
    let key = ObservedKey(keyPath)
    let found = host.observations?.last {
      $0.observer == ObjectIdentifier(observer) && $0.key == key && matches($0)
    }
    if let found { return host.observations?.remove(found) ?? () }
    Misuse.raise(
      .observerNotRegistered,
      "-[\(ObservedRoot.self) removeObserver:forKeyPath:]: \(title) has no such observer for the key "
        + "path “\(keyPath)”")
  }

  /// For messages.
  private var title: String {
    if let queue = self as? OperationQueue { return "“\(queue.name ?? "")”" }
    return "\(self)"
  }

  // MARK: Registration

  private var host: any ObservationHost {
    let host = keyValueObservationHost.host
    // Else changes of this object would be announced to those that observe the other one.
    guard host === self else {
      fatalError("\(type(of: self)) cannot be observed: it returns another object's host")
    }
    return host
  }

  private func affectingKeys(_ key: String) -> Set<String> { type(of: host).keys(affecting: key) }

  /// Registers `handler`; `ended` is called once when the registration ends, or the object does.
  func observe<Object: AnyObject, Value>(
    _ keyPath: KeyPath<Object, Value>, options: NSKeyValueObservingOptions,
    ended: @escaping @Sendable () -> Void,
    handler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let registration = KeyValueRegistration(
      keyPath, options: options, affectingKeys: affectingKeys, ended: ended, handler: handler)
    return NSKeyValueObservation(registration, in: host.register(registration))
  }
}

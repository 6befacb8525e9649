// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An observable object: ``Operation`` or ``OperationQueue``, the only types that conform.
///
/// A class that inherits from neither of these types has no ``KeyValueObservationHost`` of its own. If
/// it returns the host of another object, the first use of the host traps.
///
/// A change that was announced by `willChangeValue(forKey:)` is stored until `didChangeValue(forKey:)` is
/// called on the same thread. If one thread announces more than 256 changes of one object before it makes the
/// first of these changes, the stored values of the oldest changes are dropped. Observers are still notified
/// of these changes, but without the old value.
///
/// Source: Apple, "Key-Value Observing Programming Guide".
public protocol KeyValueObservable: AnyObject {
  /// The class that declares the properties that can be observed by name: ``Operation`` or
  /// ``OperationQueue``.
  associatedtype ObservedRoot: AnyObject

  /// Announces that the value of `key` is about to change.
  func willChangeValue(forKey key: String)

  /// Announces that the value of `key` has changed.
  func didChangeValue(forKey key: String)

  /// Returns the value of the property with this name.
  func value(forKey key: String) -> Any?

  /// The library's data about the observers of the object. Only the library uses it.
  var keyValueObservationHost: KeyValueObservationHost { get }
}

/// The library's data about the observers of an object.
///
/// Only the library can create this value. So a class that does not inherit from ``Operation`` or
/// ``OperationQueue`` cannot conform to ``KeyValueObservable``, because its observers would never be
/// notified.
public struct KeyValueObservationHost {
  fileprivate let host: any ObservationHost
}

extension KeyValueObservable where Self: Operation {
  /// The library's data about the observers of the operation.
  public var keyValueObservationHost: KeyValueObservationHost { .init(host: self) }
}

extension KeyValueObservable where Self: OperationQueue {
  /// The library's data about the observers of the queue.
  public var keyValueObservationHost: KeyValueObservationHost { .init(host: self) }
}

/// The requirements of ``KeyValueObservable`` that are not visible to users.
protocol ObservationHost: AnyObject {
  /// The registrations of observers; `nil` before the first registration.
  var observations: KeyValueObservations? { get }

  /// Adds a registration, and then sends the initial value if it is requested.
  func register(_ registration: KeyValueRegistration) -> KeyValueObservations

  /// Returns all keys on whose values the value of `key` depends.
  static func keys(affecting key: String) -> Set<String>

  /// The properties that can be observed by name, with their key paths. Each key path begins with
  /// this class.
  static var namedKeyPaths: [NamedKeyPath] { get }
}

extension KeyValueObservable {
  /// Calls `changeHandler` for each change of a property of ``Operation`` or ``OperationQueue``.
  ///
  /// Operations announce `isReady`, `isExecuting`, `isFinished`, `isCancelled`, `dependencies`,
  /// `queuePriority`, `completionBlock`, `qualityOfService` and `name`. Subclasses announce the properties
  /// that they override. Queues announce `operations`, `operationCount`, `maxConcurrentOperationCount`,
  /// `isSuspended`, `qualityOfService` and `name`. Handlers are called on the thread that makes the change,
  /// possibly under a lock of a subclass, in the order of registration. They must not block, and can call any
  /// method. With `.initial`, an observer misses no final value, even if the observation begins late. There
  /// is one exception: if a subclass finishes an operation before its start, while dependencies keep it
  /// waiting, the operation is ready from then on, but only its finish is announced.
  ///
  /// - Parameters:
  ///   - keyPath: The property, preferably without its class: `\.isFinished`. If a subclass has made the
  ///     property settable, a key path such as `\Widened.isFinished` is a different property in Swift and in
  ///     this library. It can be observed only if its changes are announced with the same key path.
  ///   - options: The values and the times of notifications. Without options, a notification only reports
  ///     that the value has changed.
  ///   - changeHandler: Receives the object and the change.
  /// - Returns: The registration. Keep it, because the observation ends when the registration is released.
  @preconcurrency
  public func observe<Value>(
    _ keyPath: KeyPath<ObservedRoot, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    observe(keyPath, options: options, ended: {}, handler: changeHandler)
  }

  /// Calls `changeHandler` for each change of a property that a subclass declares.
  ///
  /// The subclass announces changes by `willChangeValue(for:)` and `didChangeValue(for:)` with an equal key
  /// path. In all other respects, this method is like the `observe` method for properties of the base class.
  @_disfavoredOverload @preconcurrency
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    observe(keyPath, options: options, ended: {}, handler: changeHandler)
  }

  /// Announces that a property of ``Operation`` or ``OperationQueue`` is about to change, by a call of
  /// `willChangeValue(forKey:)`.
  public func willChangeValue<Value>(for keyPath: KeyPath<ObservedRoot, Value>) {
    announceWill(ObservedKey(keyPath))
  }

  /// Announces that a property of ``Operation`` or ``OperationQueue`` has changed, by a call of
  /// `didChangeValue(forKey:)`.
  public func didChangeValue<Value>(for keyPath: KeyPath<ObservedRoot, Value>) {
    announceDid(ObservedKey(keyPath))
  }

  /// Announces that a property that the subclass declares or overrides is about to change.
  ///
  /// The exception for settable properties in `didChangeValue(for:)` applies here too.
  @_disfavoredOverload
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announceWill(ObservedKey(keyPath))
  }

  /// Announces that a property that the subclass declares or overrides has changed.
  ///
  /// `\MyOperation.isFinished` means the same as `\.isFinished`, with one exception in Swift: if the subclass
  /// made the property settable, it is a different property, and its announcement has no effect on the queue,
  /// on dependents and on threads that wait for the operation. Such a subclass announces `\.isFinished`.
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

  /// Adds an observer for changes of the property with this name.
  ///
  /// - Parameters:
  ///   - observer: The observer, which is referenced weakly. It is no longer notified after its release.
  ///   - keyPath: One key, with or without `is`; paths with dots are not followed. With `.new` or `.old`, the
  ///     value is read by `value(forKey:)`, which a subclass overrides for its own keys.
  ///   - options: The values and the times of notifications.
  ///   - context: A value that is passed to the observer. It distinguishes several registrations of the same
  ///     observer.
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

  /// Removes the latest registration of the observer for this key and this context.
  ///
  /// - Precondition: The observer has such a registration.
  public func removeObserver(
    _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) {
    removeObserver(observer, keyPath) { $0.context == context }
  }

  /// Removes the latest registration of the observer for this key, with any context.
  ///
  /// - Precondition: The observer has such a registration.
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
    OperationMisuse.raise(
      .observerNotRegistered,
      "-[\(ObservedRoot.self) removeObserver:forKeyPath:]: \(title) has no such observer for the key "
        + "path “\(keyPath)”")
  }

  /// The name of the observed object in messages.
  private var title: String {
    if let queue = self as? OperationQueue { return "“\(queue.name ?? "")”" }
    return "\(self)"
  }

  // MARK: Registration

  private var host: any ObservationHost {
    let host = keyValueObservationHost.host
    // If an object returned the host of another object, the changes of the first object would be announced
    // to the observers of the second object.
    guard host === self else {
      fatalError("\(type(of: self)) cannot be observed: it returns another object's host")
    }
    return host
  }

  private func affectingKeys(_ key: String) -> Set<String> { type(of: host).keys(affecting: key) }

  /// Registers `handler`. `ended` is called once, when the registration ends or the object is destroyed.
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

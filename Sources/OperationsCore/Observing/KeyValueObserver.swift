// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An object that receives notifications of changes of properties. On Apple platforms `NSObject`
/// has this role, and every object can be an observer.
///
/// Source: Apple, "observeValue(forKeyPath:of:change:context:)".
public protocol KeyValueObserver: AnyObject {
  /// Called when an observed value is about to change or has changed.
  ///
  /// This method is called on the thread that announces the change, possibly while code of
  /// a subclass holds its own lock, so an implementation must not block. No lock of this library is
  /// held during the call, and an implementation can call any method.
  ///
  /// - Parameters:
  ///   - keyPath: The key of the registration.
  ///   - object: The observed operation or queue.
  ///   - change: The requested values; see ``NSKeyValueChangeKey``.
  ///   - context: The context of the registration.
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?)
}

extension KeyValueRegistration {
  /// Creates a registration that references the observer weakly. A released observer is skipped.
  convenience init(
    _ observer: any KeyValueObserver, keyPath: String, options: NSKeyValueObservingOptions,
    affectingKeys: Set<String>, context: UnsafeMutableRawPointer?,
    read: @escaping (AnyObject) -> Any?
  ) {
    let handler = { [weak observer] (object: AnyObject, change: Change) in
      guard let observer else { return }
      observer.observeValue(
        forKeyPath: keyPath, of: object, change: change.dictionary, context: context)
    }
    self.init(
      key: ObservedKey(keyPath), options: options, affectingKeys: affectingKeys,
      observer: ObjectIdentifier(observer), context: context,
      isObserverGone: { [weak observer] in observer == nil }, read: read, handler: handler)
  }
}

extension KeyValueRegistration.Change {
  var dictionary: [NSKeyValueChangeKey: Any] {
    var all: [NSKeyValueChangeKey: Any] = [.kindKey: NSKeyValueChange.setting.rawValue]
    all[.newKey] = new
    all[.oldKey] = old
    if isPrior { all[.notificationIsPriorKey] = true }
    return all
  }
}

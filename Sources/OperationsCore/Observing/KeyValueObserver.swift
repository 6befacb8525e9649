// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// An object that is told of changes of properties: what `NSObject` is on Apple platforms, where
/// every object is one.
///
/// Source: Apple, "observeValue(forKeyPath:of:change:context:)".
public protocol KeyValueObserver: AnyObject {
  /// Called when an observed value is about to change or has changed.
  ///
  /// On the thread that announces the change, perhaps under a lock of the observed object's
  /// subclass: it must not block. No lock of this library is held, and everything may be called.
  ///
  /// - Parameters:
  ///   - keyPath: The key as it was given on registration.
  ///   - object: The observed operation or queue.
  ///   - change: What was asked for on registration; see ``NSKeyValueChangeKey``.
  ///   - context: What was given on registration.
  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?)
}

extension KeyValueRegistration {
  /// Keeps the observer weakly: one that is gone is skipped.
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

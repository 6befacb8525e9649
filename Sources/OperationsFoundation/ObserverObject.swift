// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  /// A base class for observers that override `observeValue(forKeyPath:of:change:context:)`. On Apple
  /// platforms `NSObject` itself declares this method.
  ///
  /// To compile code that has `class Watcher: NSObject` with such an override, write `class Watcher:
  /// ObserverObject`. The library references an observer weakly. The registrations of an observer end when it
  /// is released.
  open class ObserverObject: NSObject, KeyValueObserver {
    /// Creates an observer without registrations.
    public override init() { super.init() }

    /// Called when an observed value is about to change or has changed; see `KeyValueObserver`.
    ///
    /// The default implementation does nothing. An override may call it for keys that it does not handle.
    ///
    /// - Parameters:
    ///   - keyPath: The key that was passed at registration.
    ///   - object: The observed operation or queue.
    ///   - change: The values that the registration asked for; see `NSKeyValueChangeKey`.
    ///   - context: The context that was passed at registration.
    open func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  /// A base class for observers that override `observeValue(forKeyPath:of:change:context:)`: what
  /// `NSObject` itself is on Apple platforms, where that method is one of its own.
  ///
  /// Code that has `class Watcher: NSObject` with such an override compiles once the class is
  /// `class Watcher: ObserverObject`. An observer is held weakly; its registrations end with it.
  open class ObserverObject: NSObject, KeyValueObserver {
    /// Creates an observer that observes nothing yet.
    public override init() { super.init() }

    /// Called when an observed value is about to change or has changed; see `KeyValueObserver`.
    ///
    /// Does nothing: overrides may pass on to it what they do not know.
    ///
    /// - Parameters:
    ///   - keyPath: The key as it was given on registration.
    ///   - object: The observed operation or queue.
    ///   - change: What was asked for on registration; see `NSKeyValueChangeKey`.
    ///   - context: What was given on registration.
    open func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {}
  }
#endif

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport

/// An observer in the style of `NSObject`. It records the key and the values of each notification.
final class Listener: KeyValueObserver, Sendable {
  let log = EventLog<String>()

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let old = change?[.oldKey].map { "\($0)" } ?? "?"
    let new = change?[.newKey].map { "\($0)" } ?? "?"
    let isPrior = change?[.notificationIsPriorKey] as? Bool == true
    log.note("\(isPrior ? "prior " : "")\(keyPath ?? "?") \(old)→\(new)")
  }
}

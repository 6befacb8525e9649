// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Somebody who waits for something that happens once.
protocol Waiter: AnyObject, Sendable {
  /// It has happened. Called outside every lock, at most once, on any thread; must not block.
  func wake()
}

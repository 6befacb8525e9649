// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// An object that calls a closure in its `deinit`. Tests capture it in blocks.
final class AtDeinit: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }

  /// Does nothing. Calling it makes a closure capture the object.
  func touch() {}
}

/// A queue that calls a closure in its `deinit`.
final class QueueWithDeinit: OperationQueue, @unchecked Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
    super.init()
  }

  deinit { body() }
}

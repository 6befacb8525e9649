// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The process's handler for one type of reports. The program can replace it on any thread.
struct ReportHandler<Report>: ~Copyable, Sendable {
  private let stored = Locked<(@Sendable (Report) -> Void)?>(nil)

  /// The present handler; `nil` if there is none.
  var handler: (@Sendable (Report) -> Void)? { stored.withLock { $0 } }

  /// Replaces the handler. The previous handler is released after the lock, because the objects that it
  /// captures may have a `deinit` of the user.
  func replace(with new: (@Sendable (Report) -> Void)?) {
    let replaced = stored.withLock { handler in
      defer { handler = new }
      return handler
    }
    withExtendedLifetime(replaced) {}
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Calls a function after an event has happened an expected number of times.
final class Countdown: Sendable {
  private let rest: Mutex<Int>
  private let whenOver: @Sendable () -> Void

  /// Expects `count` calls of `countDown()`; above 0.
  init(from count: Int, whenOver: @escaping @Sendable () -> Void) {
    rest = Mutex(count)
    self.whenOver = whenOver
  }

  /// Counts one event. The last event calls the function on its own thread.
  func countDown() {
    let isOver = rest.withLock { rest in
      rest -= 1
      return rest == 0
    }
    if isOver { whenOver() }
  }
}

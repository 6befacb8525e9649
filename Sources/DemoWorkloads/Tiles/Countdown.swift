// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// A counter that calls a function after an event has happened an expected number of times.
final class Countdown: Sendable {
  private let rest: Mutex<Int>
  private let whenOver: @Sendable () -> Void

  /// Creates a counter that expects `count` calls of `countDown()`. The count is above 0.
  init(from count: Int, whenOver: @escaping @Sendable () -> Void) {
    rest = Mutex(count)
    self.whenOver = whenOver
  }

  /// Counts one event. If it is the last expected event, calls the function on the present thread.
  func countDown() {
    let isOver = rest.withLock { rest in
      rest -= 1
      return rest == 0
    }
    if isOver { whenOver() }
  }
}

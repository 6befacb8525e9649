// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import Synchronization

/// Wakes a loop that waits in `poll`. Any thread may wake the loop.
///
/// If several threads ring before the loop answers, the loop wakes once, and only one of the threads writes
/// the descriptor's counter.
public final class Waker: Sendable {
  /// A descriptor that is readable from a call of ``ring()`` until the next call of ``answer()``.
  public let descriptor: Int32
  private let isRinging = Atomic(false)

  /// Creates a waker that has not rung.
  ///
  /// - Throws: ``TerminalError`` if the system has no descriptor left.
  public init() throws(TerminalError) {
    descriptor = cmonitor_event()
    guard descriptor >= 0 else { throw TerminalError(.noResources) }
  }

  deinit { cmonitor_close(descriptor) }

  /// Wakes the loop. Any thread may call this method, which never blocks.
  public func ring() {
    guard !isRinging.exchange(true, ordering: .acquiringAndReleasing) else { return }
    cmonitor_set_event(descriptor)
  }

  /// Resets the waker. The loop calls this method first, and then searches for work. Therefore a ring during
  /// the search wakes the loop again.
  public func answer() {
    cmonitor_clear_event(descriptor)
    // The atomic exchange has acquire ordering. If a call of `ring()` found the flag already set, it wrote no
    // descriptor, but it still precedes this exchange. Therefore the loop sees the work that the thread added
    // before that call.
    _ = isRinging.exchange(false, ordering: .acquiringAndReleasing)
  }
}

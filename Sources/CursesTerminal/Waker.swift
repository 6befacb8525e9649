// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CTerminalSystem
import Glibc
import Synchronization

/// Wakes a loop that waits in `poll`, from any thread.
///
/// However often it rings before the loop answers, the loop wakes once, and the counter is written once.
public final class Waker: Sendable {
  /// Readable after ``ring()`` was called, until ``answer()``.
  public let descriptor: Int32
  private let isRinging = Atomic(false)

  /// Creates a waker that has not rung.
  ///
  /// - Throws: ``TerminalError`` if the system has no descriptor left.
  public init() throws(TerminalError) {
    descriptor = cterminal_event_descriptor()
    guard descriptor >= 0 else { throw TerminalError(.noResources) }
  }

  deinit { _ = close(descriptor) }

  /// Wakes the loop. Any thread may call it; it never blocks.
  public func ring() {
    guard !isRinging.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var one: UInt64 = 1
    _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
  }

  /// Resets the waker. The loop calls this first, and then looks for work: a later ring wakes the loop again.
  public func answer() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
    // Acquires, so that work that was done before a ring that wrote nothing is seen after this.
    _ = isRinging.exchange(false, ordering: .acquiringAndReleasing)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CTerminalSystem
import Glibc
import Synchronization

/// Wakes a loop that sits in `poll`, from any thread.
///
/// However often it rings before the loop answers, the loop wakes once, and one byte count is
/// written.
public final class Waker: Sendable {
  /// Is readable once ``ring()`` was called, until ``answer()``.
  public let descriptor: Int32
  private let isRinging = Atomic(false)

  /// Creates a waker that is silent.
  ///
  /// - Throws: ``TerminalError`` where the system has no descriptor left.
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

  /// Falls silent. The loop calls this first, and then looks what there is to do: whoever rings
  /// after it wakes the loop again.
  public func answer() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
    // Acquires, so that what was done before a ring that wrote nothing is seen after this.
    _ = isRinging.exchange(false, ordering: .acquiringAndReleasing)
  }
}

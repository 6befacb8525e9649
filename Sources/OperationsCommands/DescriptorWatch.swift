// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore

/// Waits until a file descriptor is readable. No thread is blocked.
final class DescriptorWatch: Sendable {
  /// The time between two checks of a descriptor that the system cannot watch.
  private static let checkInterval = Duration.milliseconds(50)

  private let descriptor: Int32
  private let findWaits: @Sendable () -> DescriptorWaits?
  private let events = CommandEvents()
  private let lastWait = Locked<(waits: DescriptorWaits, number: UInt64)?>(nil)

  /// Creates a watch of a descriptor.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - findWaits: Returns the waits of the process, or `nil` if there are none at this moment.
  init(
    _ descriptor: Int32, findWaits: @escaping @Sendable () -> DescriptorWaits? = { .current }
  ) {
    self.descriptor = descriptor
    self.findWaits = findWaits
  }

  /// Whether `end()` was called.
  var hasEnded: Bool { events.has(.end) }

  /// Waits until the descriptor is readable or `end()` is called. Only one task may wait at a time. When the method
  /// returns, the system no longer watches the descriptor, so it can be closed.
  ///
  /// Without a free descriptor, a thread or memory for the watch, and while another wait watches the same descriptor, the
  /// method checks the descriptor 20 times a second, and tries again to watch it. A regular file is always readable. If
  /// the descriptor is not open, the method returns.
  func wait() async {
    while !hasEnded, await !waitForEvent(), !csystem_is_readable(descriptor) {
      await events.wait(for: [.end], atMost: Self.checkInterval)
    }
  }

  /// Returns `false` if the system cannot watch the descriptor.
  private func waitForEvent() async -> Bool {
    guard let waits = findWaits() else { return false }
    return await waits.wait(for: descriptor) { number in
      // Either this thread sees that `end()` was called, or `end()` sees this wait.
      lastWait.withLock { $0 = (waits, number) }
      return hasEnded
    }
  }

  /// Ends the current wait and all later ones.
  func end() {
    events.note(.end)
    if let (waits, number) = lastWait.withLock({ $0 }) { waits.end(number) }
  }
}

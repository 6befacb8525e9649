// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Synchronization

/// Lets threads pass at a planned pace, all together.
final class StormGate: Sendable {
  private let start = ContinuousClock.now
  private let throttle: Mutex<Throttle>

  /// - Parameter interval: The time between two that pass.
  init(interval: Duration) { throttle = Mutex(Throttle(interval: interval)) }

  /// Blocks the thread until it may pass, or `isOver` returns `true`; looks for that every 20 ms.
  func pass(unless isOver: () -> Bool) {
    let now = ContinuousClock.now - start
    guard let wait = throttle.withLock({ $0.take(at: now) }) else { return }
    Pacer(duration: wait).wait(forShare: 1, unless: isOver)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import Synchronization

/// Measures how long it takes from adding a block until it begins.
public final class StartProbe: Sendable {
  private let startTime = Atomic<Int>(0)

  /// Adds a block so many times, each when the one before has begun.
  ///
  /// The calling thread spins all the time, so that no figure has the waking of that thread in it.
  ///
  /// - Parameters:
  ///   - count: How many times.
  ///   - pause: How long to let everything come to rest before each time.
  ///   - add: Adds the block.
  /// - Returns: For each time the nanoseconds from before the call of `add` until the block began.
  public static func measure(
    count: Int, pause: Duration, add: (@escaping @Sendable () -> Void) -> Void
  ) -> [Int] {
    let probe = StartProbe()
    let block: @Sendable () -> Void = { probe.startTime.store(now, ordering: .releasing) }
    let pause = Int(pause / .nanoseconds(1))
    return (0..<count).map { _ in
      let rested = now + pause
      while now < rested {}
      probe.startTime.store(0, ordering: .relaxed)
      let added = now
      add(block)
      while true {
        let started = probe.startTime.load(ordering: .acquiring)
        if started != 0 { return started - added }
      }
    }
  }

  /// Nanoseconds on the monotonic clock.
  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

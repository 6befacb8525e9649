// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Measures the time from the addition of a block until it begins.
public final class StartProbe: Sendable {
  private let startTime = Atomic<Int>(0)

  /// Adds a block `count` times, each time after the previous one has begun.
  ///
  /// The calling thread spins all the time, so that no measured time includes a wake-up of that
  /// thread.
  ///
  /// - Parameters:
  ///   - count: The number of additions.
  ///   - pause: The time before each addition in which all threads can become idle.
  ///   - add: Adds the block.
  /// - Returns: For each addition, the nanoseconds from before the call of `add` until the block
  ///   began.
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

  /// The time of the monotonic clock, in nanoseconds.
  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

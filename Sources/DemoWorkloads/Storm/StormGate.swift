// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// A gate that threads pass through. It limits how many threads pass in a period of time, counted over all
/// threads.
final class StormGate: Sendable {
  private let start = ContinuousClock.now
  private let throttle: Throttle
  /// The planned time at which the last thread passed. The time is atomic and not protected by a lock,
  /// because many threads use it, and waiting for a lock would make the demo too slow.
  private let last = Atomic<Int64>(0)

  /// Creates a gate through which one thread may pass in each interval.
  ///
  /// - Parameter interval: The time between two passes.
  init(interval: Duration) { throttle = Throttle(interval: interval.nanoseconds) }

  /// Blocks the thread until it may pass or `isOver` returns `true`. The method calls `isOver` every 20 ms.
  func pass(unless isOver: () -> Bool) {
    let now = (ContinuousClock.now - start).nanoseconds
    let wait = take(at: now) - now
    guard wait > Throttle.tolerance else { return }
    Pacer(duration: .nanoseconds(wait)).wait(forShare: 1, unless: isOver)
  }

  private func take(at now: Int64) -> Int64 {
    var known = last.load(ordering: .relaxed)
    while true {
      let next = throttle.next(after: known, now: now)
      let (isTaken, current) = last.weakCompareExchange(
        expected: known, desired: next, ordering: .relaxed)
      if isTaken { return next }
      known = current
    }
  }
}

/// Spreads events evenly over time: computes when the next event may happen.
struct Throttle: Equatable, Sendable {
  /// The maximum time, in nanoseconds, that an event may be ahead of its planned time without a wait. After a
  /// delay, events may follow each other faster, to make up for at most the same time. The value is large, so
  /// that threads rarely sleep.
  static let tolerance: Int64 = 10_000_000

  /// The time between two events, in nanoseconds.
  let interval: Int64

  /// Returns the planned time of the next event.
  ///
  /// - Parameters:
  ///   - last: The planned time of the previous event, which the previous call returned.
  ///   - now: The present time. Both times are in nanoseconds since the same moment.
  /// - Returns: The planned time of the event. If this time is later than `now` by more than the tolerance,
  ///   the caller has to wait.
  func next(after last: Int64, now: Int64) -> Int64 { max(last, now - Self.tolerance) + interval }
}

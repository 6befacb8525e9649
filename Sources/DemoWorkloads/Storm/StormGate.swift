// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// Limits the pace at which all threads together pass.
final class StormGate: Sendable {
  private let start = ContinuousClock.now
  private let throttle: Throttle
  /// The time at which the last thread passed. It is atomic instead of locked, because contention for a lock
  /// would make the storm too slow.
  private let last = Atomic<Int64>(0)

  /// - Parameter interval: The time between two passes.
  init(interval: Duration) { throttle = Throttle(interval: interval.nanoseconds) }

  /// Blocks the thread until it may pass, or `isOver` returns `true`, which it checks every 20 ms.
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

/// Spreads events over time: decides when the next one may happen.
struct Throttle: Equatable, Sendable {
  /// How far events may be ahead of their time before a thread has to wait, and how much delay is made up
  /// for, in nanoseconds. It is large, so that a thread seldom sleeps.
  static let tolerance: Int64 = 10_000_000

  /// The time between two events, in nanoseconds.
  let interval: Int64

  /// Returns the time of the next event.
  ///
  /// - Parameters:
  ///   - last: The time of the previous event, which the previous call returned.
  ///   - now: The present time. Both are in nanoseconds since the same moment.
  /// - Returns: The time of the event. If it is later than now by more than the tolerance, the caller has to
  ///   wait.
  func next(after last: Int64, now: Int64) -> Int64 { max(last, now - Self.tolerance) + interval }
}

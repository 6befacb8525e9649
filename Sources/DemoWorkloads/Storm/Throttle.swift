// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

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

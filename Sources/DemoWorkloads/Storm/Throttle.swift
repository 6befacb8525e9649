// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Spreads events over time: decides when the next one may happen.
struct Throttle: Equatable, Sendable {
  /// How far events may be ahead of their time before somebody has to wait, and how much lateness
  /// is made up for; in nanoseconds. Coarse, so that a thread sleeps seldom.
  static let tolerance: Int64 = 10_000_000

  /// The time between two events, in nanoseconds.
  let interval: Int64

  /// Lets one more event happen.
  ///
  /// - Parameters:
  ///   - last: The time of the event before it: what was returned for that.
  ///   - now: The time; both are in nanoseconds since the same moment.
  /// - Returns: The time of the event. Who is further ahead of it than the tolerance has to wait.
  func next(after last: Int64, now: Int64) -> Int64 { max(last, now - Self.tolerance) + interval }
}

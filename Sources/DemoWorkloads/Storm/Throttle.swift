// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Spreads events over time, as a value: when the next one may happen.
struct Throttle: Equatable, Sendable {
  /// How far events may be ahead of their time before somebody has to wait, and how much lateness
  /// is made up for. Coarse, so that a thread sleeps seldom.
  static let tolerance = Duration.milliseconds(10)

  private let interval: Duration
  private var due = Duration.zero

  /// - Parameter interval: The time between two events.
  init(interval: Duration) { self.interval = interval }

  /// Lets one more event happen.
  ///
  /// - Parameter now: The time since any moment, always the same one.
  /// - Returns: How long it has to wait; `nil` where it has not.
  mutating func take(at now: Duration) -> Duration? {
    due = max(due, now - Self.tolerance) + interval
    let wait = due - now
    return wait > Self.tolerance ? wait : nil
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// How long to wait before each attempt to get a connection back: soon at first, and then ever rarer,
/// but never more rarely than every five seconds.
struct Reconnection {
  /// The longest wait.
  static let longestDelay = Duration.seconds(5)
  private static let firstDelay = Duration.milliseconds(100)

  private var next = Reconnection.firstDelay

  /// The wait before the next attempt.
  mutating func delay() -> Duration {
    defer { next = min(next * 2, Self.longestDelay) }
    return next
  }

  /// The connection is back.
  mutating func succeed() { next = Self.firstDelay }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Decides when `squeue` is called: at once, then every 10 seconds, and also after a command. Two calls begin at least
/// a second apart, and never run at the same time.
struct SlurmPolling: Sendable, Equatable {
  /// The time between the starts of two calls.
  static let interval = Duration.seconds(10)
  /// The minimum time between the starts of two calls after a command.
  static let shortestInterval = Duration.seconds(1)
  /// The time after which the source counts as silent if a call has not ended.
  static let patience = Duration.seconds(10)

  private var lastStart: MonitorTime?
  /// Whether a command has ended after the start of the last call.
  private var isNewsExpected = false
  private(set) var isCalling = false

  /// Returns whether a call begins now. If it does, the next one begins only after ``end()``.
  mutating func begin(at now: MonitorTime) -> Bool {
    guard let moment = nextStart(at: now), moment <= now else { return false }
    (lastStart, isNewsExpected, isCalling) = (now, false, true)
    return true
  }

  /// Notes that the call has ended.
  mutating func end() { isCalling = false }

  /// Notes the end of a command. The next call shows what it has changed.
  mutating func noteCommand() { isNewsExpected = true }

  /// Returns the time at which the next call begins; `nil` while one runs.
  ///
  /// - Parameter now: The current time.
  /// - Returns: The time. It is not in the future if the call is due.
  func nextStart(at now: MonitorTime) -> MonitorTime? {
    if isCalling { return nil }
    guard let lastStart else { return now }
    return lastStart + (isNewsExpected ? Self.shortestInterval : Self.interval)
  }

  /// Returns for how long a call has run without an answer; `nil` if the source does not count as silent.
  func silence(at now: MonitorTime) -> Duration? {
    guard isCalling, let lastStart, now - lastStart >= Self.patience else { return nil }
    return now - lastStart
  }
}

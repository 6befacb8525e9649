// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The clock of a recording. It can run faster or slower than the local clock, and it can be
/// stopped and set.
struct PlaybackClock: Sendable, Equatable {
  /// The range of speeds, as powers of two: from a quarter to 64 times the normal speed.
  static let speeds = -2...6

  /// The earliest time that the clock shows.
  let start: MonitorTime
  /// The latest time that the clock shows.
  private(set) var end: MonitorTime
  private(set) var speed = 0
  private(set) var isRunning = true
  /// The time that the clock showed at `moment` of the local clock.
  private var shown: MonitorTime
  private var moment: MonitorTime

  /// Creates a clock that runs from `start`.
  init(start: MonitorTime, end: MonitorTime, at now: MonitorTime) {
    (self.start, self.end) = (start, end)
    (shown, moment) = (start, now)
  }

  /// Returns the time that the clock shows at a moment of the local clock.
  func time(at now: MonitorTime) -> MonitorTime {
    guard isRunning else { return shown }
    let passed = max(0, now.nanoseconds - moment.nanoseconds)
    return min(end, shown + .nanoseconds(speed < 0 ? passed >> -speed : passed << speed))
  }

  /// Returns the moment of the local clock at which this clock will show a time; `nil` if this
  /// clock is stopped.
  func moment(of time: MonitorTime) -> MonitorTime? {
    guard isRunning else { return nil }
    let left = max(0, time.nanoseconds - shown.nanoseconds)
    // The remaining time is divided by the speed and rounded down, so one nanosecond is added.
    // Otherwise the clock of the recording could show a time shortly before `time` at the returned
    // moment.
    return moment + .nanoseconds(speed < 0 ? left << -speed : (left >> speed) + 1)
  }

  /// Sets the clock to a time within the recording.
  mutating func set(to time: MonitorTime, at now: MonitorTime) {
    shown = max(start, min(end, time))
    moment = now
  }

  /// Starts or stops the clock.
  mutating func setRunning(_ isRunning: Bool, at now: MonitorTime) {
    set(to: time(at: now), at: now)
    self.isRunning = isRunning
  }

  /// Doubles the speed a number of times. If the number is negative, halves the speed instead.
  ///
  /// - Returns: Whether the speed has changed.
  @discardableResult
  mutating func changeSpeed(by steps: Int, at now: MonitorTime) -> Bool {
    let new = max(Self.speeds.lowerBound, min(Self.speeds.upperBound, speed + steps))
    guard new != speed else { return false }
    set(to: time(at: now), at: now)
    speed = new
    return true
  }

  /// Changes the latest time that the clock shows, which is the end of the recording.
  mutating func setEnd(_ end: MonitorTime, at now: MonitorTime) {
    let time = time(at: now)
    self.end = max(start, end)
    set(to: time, at: now)
  }
}

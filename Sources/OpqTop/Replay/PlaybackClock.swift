// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The clock of a recording: it goes faster or slower than the local one, stands still, and is set.
struct PlaybackClock: Sendable, Equatable {
  /// How fast it may go: so many doublings.
  static let speeds = -2...6

  /// The earliest time that it shows.
  let start: MonitorTime
  /// The latest one.
  private(set) var end: MonitorTime
  private(set) var speed = 0
  private(set) var isRunning = true
  /// What it showed at a moment of the local clock.
  private var shown: MonitorTime
  private var moment: MonitorTime

  /// Creates a clock that runs from the start on.
  init(start: MonitorTime, end: MonitorTime, at now: MonitorTime) {
    (self.start, self.end) = (start, end)
    (shown, moment) = (start, now)
  }

  /// What it shows.
  func time(at now: MonitorTime) -> MonitorTime {
    guard isRunning else { return shown }
    let passed = max(0, now.nanoseconds - moment.nanoseconds)
    return min(end, shown + .nanoseconds(speed < 0 ? passed >> -speed : passed << speed))
  }

  /// When it will show a time on the local clock; `nil` where it stands still.
  func moment(of time: MonitorTime) -> MonitorTime? {
    guard isRunning else { return nil }
    let left = max(0, time.nanoseconds - shown.nanoseconds)
    // Rounded up, so that the time has come then.
    return moment + .nanoseconds(speed < 0 ? left << -speed : (left >> speed) + 1)
  }

  /// Shows another time from now on, within the recording.
  mutating func set(to time: MonitorTime, at now: MonitorTime) {
    shown = max(start, min(end, time))
    moment = now
  }

  /// Runs, or stands still.
  mutating func setRunning(_ isRunning: Bool, at now: MonitorTime) {
    set(to: time(at: now), at: now)
    self.isRunning = isRunning
  }

  /// Goes twice as fast so many times, or half as fast where negative.
  ///
  /// - Returns: Whether that is another speed.
  @discardableResult
  mutating func changeSpeed(by steps: Int, at now: MonitorTime) -> Bool {
    let new = max(Self.speeds.lowerBound, min(Self.speeds.upperBound, speed + steps))
    guard new != speed else { return false }
    set(to: time(at: now), at: now)
    speed = new
    return true
  }

  /// The recording turns out to end at another time.
  mutating func setEnd(_ end: MonitorTime, at now: MonitorTime) {
    let time = time(at: now)
    self.end = max(start, end)
    set(to: time, at: now)
  }
}

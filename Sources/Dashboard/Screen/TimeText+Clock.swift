// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension TimeText {
  /// Returns the text of a duration with about three digits. A duration below a millisecond is in
  /// microseconds: `31us`.
  static func fine(_ duration: Duration, _ glyphs: Glyphs) -> String {
    guard duration < .milliseconds(1) else { return self.duration(duration) }
    let microseconds = max(0, duration.components.attoseconds) / 1_000_000_000_000
    return "\(microseconds)\(glyphs.isUnicode ? "µs" : "us")"
  }

  /// Returns the text of a duration with at most tenths of a second, such as `1.2s` or `1m40s`. Use it if
  /// ``duration(_:)`` is more precise than needed.
  static func coarse(_ duration: Duration) -> String {
    guard duration < .seconds(10) else { return self.duration(duration) }
    let (seconds, attoseconds) = max(.zero, duration).components
    return "\(seconds).\(attoseconds / 100_000_000_000_000_000)s"
  }

  /// Returns the time of day of a moment in UTC, such as `12:04:31`.
  static func timeOfDay(_ moment: MonitorTime, of hello: Hello) -> String {
    guard let nanoseconds = nanosecondsOfDay(moment, of: hello) else { return "--:--:--" }
    let seconds = nanoseconds / 1_000_000_000
    return "\(padded(seconds / 3_600)):\(padded(seconds % 3_600 / 60)):\(padded(seconds % 60))"
  }

  /// Returns the time of day of a moment in UTC with milliseconds, such as `12:04:31.204`.
  static func preciseTimeOfDay(_ moment: MonitorTime, of hello: Hello) -> String {
    guard let nanoseconds = nanosecondsOfDay(moment, of: hello) else { return "--:--:--.---" }
    let milliseconds = nanoseconds / 1_000_000 % 1_000
    return "\(timeOfDay(moment, of: hello)).\("\(milliseconds + 1_000)".dropFirst())"
  }

  /// Returns the nanoseconds of the day in UTC at a moment; `nil` if the time of day is unknown.
  static func nanosecondsOfDay(_ moment: MonitorTime, of hello: Hello) -> Int64? {
    let anchorNanoseconds = hello.anchorSecondsSince1970 * 1e9
    guard anchorNanoseconds.magnitude < 9e18 else { return nil }
    let sinceAnchor = moment.nanoseconds.subtractingReportingOverflow(hello.anchor.nanoseconds)
    let (nanoseconds, overflow) = Int64(anchorNanoseconds)
      .addingReportingOverflow(sinceAnchor.partialValue)
    guard !overflow, !sinceAnchor.overflow else { return nil }
    let day: Int64 = 86_400_000_000_000
    return (nanoseconds % day + day) % day
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Moments and durations in words, at most six cells wide.
package enum TimeText {
  /// A duration to about three digits: `12ms`, `1.15s`, `12.4s`, `1m40s`, `3h10m`, `2d04h`.
  ///
  /// Cut, never rounded up, so that `59.9s` is followed by `1m00s`. A negative one reads `0ms`.
  package static func duration(_ duration: Duration) -> String {
    let (seconds, attoseconds) = max(.zero, duration).components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    switch seconds {
    case ..<1: return "\(milliseconds)ms"
    case ..<10: return "\(seconds).\(padded(milliseconds / 10))s"
    case ..<60: return "\(seconds).\(milliseconds / 100)s"
    case ..<3_600: return "\(seconds / 60)m\(padded(seconds % 60))s"
    case ..<86_400: return "\(seconds / 3_600)h\(padded(seconds % 3_600 / 60))m"
    case ..<8_640_000: return "\(seconds / 86_400)d\(padded(seconds % 86_400 / 3_600))h"
    default: return "\(seconds / 86_400)d"
    }
  }

  /// A duration to about three digits, in microseconds where it is less than a millisecond: `31us`.
  static func fine(_ duration: Duration, _ glyphs: Glyphs) -> String {
    guard duration < .milliseconds(1) else { return self.duration(duration) }
    let microseconds = max(0, duration.components.attoseconds) / 1_000_000_000_000
    return "\(microseconds)\(glyphs.isUnicode ? "µs" : "us")"
  }

  /// A duration to a tenth of a second, where ``duration(_:)`` says more than matters: `1.2s`, `1m40s`.
  static func coarse(_ duration: Duration) -> String {
    guard duration < .seconds(10) else { return self.duration(duration) }
    let (seconds, attoseconds) = max(.zero, duration).components
    return "\(seconds).\(attoseconds / 100_000_000_000_000_000)s"
  }

  /// The time of day of a moment in UTC, as `12:04:31`.
  static func timeOfDay(_ moment: MonitorTime, of hello: Hello) -> String {
    guard let nanoseconds = nanosecondsOfDay(moment, of: hello) else { return "--:--:--" }
    let seconds = nanoseconds / 1_000_000_000
    return "\(padded(seconds / 3_600)):\(padded(seconds % 3_600 / 60)):\(padded(seconds % 60))"
  }

  /// The time of day of a moment in UTC with milliseconds, as `12:04:31.204`.
  static func preciseTimeOfDay(_ moment: MonitorTime, of hello: Hello) -> String {
    guard let nanoseconds = nanosecondsOfDay(moment, of: hello) else { return "--:--:--.---" }
    let milliseconds = nanoseconds / 1_000_000 % 1_000
    return "\(timeOfDay(moment, of: hello)).\("\(milliseconds + 1_000)".dropFirst())"
  }

  private static func nanosecondsOfDay(_ moment: MonitorTime, of hello: Hello) -> Int64? {
    let anchorNanoseconds = hello.anchorSecondsSince1970 * 1e9
    guard anchorNanoseconds.magnitude < 9e18 else { return nil }
    let sinceAnchor = moment.nanoseconds.subtractingReportingOverflow(hello.anchor.nanoseconds)
    let (nanoseconds, overflow) = Int64(anchorNanoseconds)
      .addingReportingOverflow(sinceAnchor.partialValue)
    guard !overflow, !sinceAnchor.overflow else { return nil }
    let day: Int64 = 86_400_000_000_000
    return (nanoseconds % day + day) % day
  }

  private static func padded(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// A point in time on the monitored process's monotonic clock.
///
/// The difference of two times of the same process is a duration. A single time has no meaning by
/// itself. ``Hello`` contains one moment both as a monotonic time and as a time of day. With it, a
/// viewer converts other times into times of day.
public struct MonitorTime: Codable, Sendable, Hashable, Comparable {
  /// The number of nanoseconds since an arbitrary moment.
  public let nanoseconds: Int64

  /// Creates a time from a number of nanoseconds since an arbitrary moment.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Reads a time from a decoder, as a number of nanoseconds.
  public init(from decoder: any Decoder) throws {
    nanoseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes the time to an encoder, as a number of nanoseconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(nanoseconds)
  }

  /// Whether `left` is earlier than `right`.
  public static func < (left: MonitorTime, right: MonitorTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Returns the time from `start` to `end`, which is negative if `end` is earlier. The result is
  /// clamped to 64 bits of nanoseconds, or 292 years.
  public static func - (end: MonitorTime, start: MonitorTime) -> Duration {
    .nanoseconds(end.nanoseconds.subtractingSaturating(start.nanoseconds))
  }

  /// Returns the time `duration` after `start`, clamped to the earliest and the latest time.
  public static func + (start: MonitorTime, duration: Duration) -> MonitorTime {
    MonitorTime(nanoseconds: start.nanoseconds.addingSaturating(duration.saturatedNanoseconds))
  }

  /// Returns the time `duration` before `end`, clamped to the earliest and the latest time.
  public static func - (end: MonitorTime, duration: Duration) -> MonitorTime {
    MonitorTime(nanoseconds: end.nanoseconds.subtractingSaturating(duration.saturatedNanoseconds))
  }
}

extension Duration {
  /// The duration in whole nanoseconds, rounded towards zero and clamped to the range of the type.
  package var saturatedNanoseconds: Int64 {
    // The duration is compared with the limits before `components` is read, because `components`
    // traps if the seconds do not fit into 64 bits.
    if self >= .nanoseconds(Int64.max) { return .max }
    if self <= .nanoseconds(Int64.min) { return .min }
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

extension FixedWidthInteger where Self: SignedInteger {
  /// Returns the sum of two integers, clamped to the range of their type.
  package func addingSaturating(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (self < 0 ? .min : .max) : sum
  }

  /// Returns the difference of two integers, clamped to the range of their type.
  package func subtractingSaturating(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (self < 0 ? .min : .max) : difference
  }
}

extension MonitorTime {
  /// The current time of this process, which is also the time of its own monitor.
  package static var now: MonitorTime { MonitorTime(nanoseconds: csystem_monotonic_nanoseconds()) }

  /// The time of day at which this process's monotonic clock was zero, as seconds since 1970. The
  /// value changes if the system's time of day is set.
  package static var secondsSince1970AtZero: Double {
    Double(csystem_wall_nanoseconds()) / 1e9 - Double(now.nanoseconds) / 1e9
  }

  /// Returns the timeout in milliseconds with which `poll` waits until a moment; -1 if `moment` is
  /// `nil`, which means no limit. The timeout is rounded up, so that `poll` does not return before
  /// the moment.
  package static func pollTimeout(from now: MonitorTime, until moment: MonitorTime?) -> Int32 {
    guard let moment else { return -1 }
    let nanoseconds = max(0, moment.nanoseconds.subtractingSaturating(now.nanoseconds))
    return Int32(clamping: nanoseconds.addingSaturating(999_999) / 1_000_000)
  }
}

// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A point in time on the monitored process's monotonic clock.
///
/// Only differences mean anything, and only within one process. ``Hello`` carries the pair of a
/// monotonic and a wall-clock time that turns one into a time of day.
public struct MonitorTime: Codable, Sendable, Hashable, Comparable {
  /// Nanoseconds since an arbitrary start.
  public let nanoseconds: Int64

  /// Creates a time from nanoseconds since an arbitrary start.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Reads the number of nanoseconds.
  public init(from decoder: any Decoder) throws {
    nanoseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes the number of nanoseconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(nanoseconds)
  }

  /// Whether `left` is earlier than `right`.
  public static func < (left: MonitorTime, right: MonitorTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The time from `start` to `end`; negative where `end` is earlier. What does not fit into nanoseconds
  /// of 64 bits, 292 years, is cut to that.
  public static func - (end: MonitorTime, start: MonitorTime) -> Duration {
    .nanoseconds(end.nanoseconds.subtractingSaturating(start.nanoseconds))
  }

  /// The time that lies `duration` after `start`, or the latest or earliest that there is.
  public static func + (start: MonitorTime, duration: Duration) -> MonitorTime {
    MonitorTime(nanoseconds: start.nanoseconds.addingSaturating(duration.saturatedNanoseconds))
  }

  /// The time that lies `duration` before `end`, or the latest or earliest that there is.
  public static func - (end: MonitorTime, duration: Duration) -> MonitorTime {
    MonitorTime(nanoseconds: end.nanoseconds.subtractingSaturating(duration.saturatedNanoseconds))
  }
}

extension Duration {
  /// Whole nanoseconds, rounded towards zero; the largest or smallest number where they are more.
  package var saturatedNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflows { return seconds < 0 ? .min : .max }
    return whole.addingSaturating(attoseconds / 1_000_000_000)
  }
}

extension Int64 {
  func addingSaturating(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (self < 0 ? .min : .max) : sum
  }

  func subtractingSaturating(_ other: Int64) -> Int64 {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (self < 0 ? .min : .max) : difference
  }
}

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

  /// The time from `start` to `end`; negative where `end` is earlier.
  public static func - (end: MonitorTime, start: MonitorTime) -> Duration {
    .nanoseconds(end.nanoseconds - start.nanoseconds)
  }

  /// The time that lies `duration` after `start`.
  public static func + (start: MonitorTime, duration: Duration) -> MonitorTime {
    let (seconds, attoseconds) = duration.components
    return MonitorTime(
      nanoseconds: start.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }

  /// The time that lies `duration` before `end`.
  public static func - (end: MonitorTime, duration: Duration) -> MonitorTime {
    end + (.zero - duration)
  }
}

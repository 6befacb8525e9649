// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Glibc
import MonitorProtocol
import Tracing

/// Turns the monitor's times into times of day.
///
/// Read anew for each update: the monotonic clock stands still while the machine sleeps, and the time of
/// day is set now and then, so that the greeting's pair of times would go wrong with time.
struct WallClock {
  /// What is to be added to a monotonic time, in nanoseconds.
  private let offset: Int64

  /// - Parameters:
  ///   - monotonic: A moment on the monitor's clock …
  ///   - sinceEpoch: … and the same as nanoseconds since 1970-01-01T00:00:00Z.
  init(monotonic: MonitorTime, sinceEpoch: Int64) { offset = sinceEpoch - monotonic.nanoseconds }

  /// The present relation of the two.
  static var now: WallClock {
    WallClock(monotonic: monotonicNow, sinceEpoch: timeOfDay)
  }

  /// The present time on the monitor's clock.
  static var monotonicNow: MonitorTime { MonitorTime(nanoseconds: csystem_monotonic_nanoseconds()) }

  /// The time of day of a moment.
  func instant(_ time: MonitorTime) -> DefaultTracerClock.Timestamp {
    DefaultTracerClock.Timestamp(
      nanosecondsSinceEpoch: UInt64(max(0, time.nanoseconds.addingReportingOverflow(offset).0)))
  }

  private static var timeOfDay: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

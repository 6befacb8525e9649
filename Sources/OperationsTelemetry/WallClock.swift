// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import MonitorProtocol
import Tracing

/// Converts the monitor's times to times of day.
///
/// The difference between the two clocks is read again for each update. The monotonic clock stops
/// while the machine sleeps, and the time of day is adjusted from time to time. Therefore the two
/// times in the monitor's greeting would become wrong.
struct WallClock {
  /// The difference between the time of day and the monotonic time, in nanoseconds.
  private let offset: Int64

  /// Creates a converter from a moment that is known on both clocks.
  ///
  /// - Parameters:
  ///   - monotonic: A moment on the monitor's clock.
  ///   - sinceEpoch: The same moment in nanoseconds since 1970-01-01T00:00:00Z.
  init(monotonic: MonitorTime, sinceEpoch: Int64) { offset = sinceEpoch - monotonic.nanoseconds }

  /// A converter with the present difference between the two clocks.
  static var now: WallClock {
    WallClock(monotonic: .now, sinceEpoch: csystem_wall_nanoseconds())
  }

  /// Returns the time of day of a moment on the monitor's clock.
  func instant(_ time: MonitorTime) -> DefaultTracerClock.Timestamp {
    DefaultTracerClock.Timestamp(
      nanosecondsSinceEpoch: UInt64(max(0, time.nanoseconds.addingReportingOverflow(offset).0)))
  }
}

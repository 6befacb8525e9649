// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import MonitorProtocol

extension MonitorTime {
  /// The current time of this process, which is that of its own monitor, too.
  static var now: MonitorTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonitorTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The time of day when the clock of this process was at zero, as it is now known.
  static var secondsSince1970AtZero: Double {
    var wall = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    return Double(wall.tv_sec) + Double(wall.tv_nsec) / 1e9 - Double(now.nanoseconds) / 1e9
  }

  /// How long `poll` has to wait for a moment: milliseconds rounded up, so that it does not wake
  /// just before it; -1 for ever.
  static func pollTimeout(from now: MonitorTime, until moment: MonitorTime?) -> Int32 {
    guard let moment else { return -1 }
    let nanoseconds = max(0, moment.nanoseconds - now.nanoseconds)
    return Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
  }
}
